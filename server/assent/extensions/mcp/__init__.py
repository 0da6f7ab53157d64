"""MCP servers that the user configured. Only `worker/`, a process of its own, loads the SDK."""
