"""The wire as types: every request, answer, event and ask, and the one table of methods (`methods`).

This package is the single source. `make protocol` writes the TypeScript types, the Lua annotations and
docs/protocol.md from it. It knows names and shapes only: no handler, no pygls, no I/O.
"""

from assent.wire.methods import (
    CLIENT_REQUESTS,
    FEATURES,
    METHODS,
    PROTOCOL_VERSION,
    SERVER_NOTIFICATIONS,
    SERVER_REQUESTS,
    Method,
)

__all__ = [
    "CLIENT_REQUESTS",
    "FEATURES",
    "METHODS",
    "PROTOCOL_VERSION",
    "SERVER_NOTIFICATIONS",
    "SERVER_REQUESTS",
    "Method",
]
