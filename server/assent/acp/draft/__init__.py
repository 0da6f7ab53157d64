"""The draft of protocol 2, behind `assent acp --draft`, where the protocol's library has it (`acp.experimental.v2`).

One agent serves both: what it does for protocol 1 is put into the words of the draft on its way out, and requests of
the draft are put to it as those of protocol 1. The library checks requests and answers against the draft's schema.
"""
