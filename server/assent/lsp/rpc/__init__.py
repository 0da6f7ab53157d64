"""JSON-RPC over two pipes: frames, messages, and the table of what is in flight. Not aware of LSP or of any method."""
