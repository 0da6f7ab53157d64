"""The process that holds the connections to MCP servers. Only modules of this folder import the SDK.

It is started by `extensions/mcp/pipe.py` and speaks JSON lines over its stdin and stdout. When its stdin ends, it kills
everything that descends from it and exits.
"""
