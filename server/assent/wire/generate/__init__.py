"""Writes the mirrors of the wire: TypeScript types, Lua annotations, docs/protocol.md. `make protocol` runs it."""
