"""One engine process per user and workspace, and how others find it and talk to it.

    client side, standard library only:  place → peers → handshake → connection (→ bridge)
    host side:                           server, which runs one `lsp.server_loop.ServerLoop` per client

A local program connects with `assent.host.connection.connect(workspace)`; ARCHITECTURE.md has the page for it.
"""
