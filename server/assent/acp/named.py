"""What a client names when it opens a session: its folder, further folders, MCP servers.

It is all checked before anything is opened, so that a refusal leaves no session behind.
"""

import os
from collections.abc import Sequence

from acp.schema import AcpMcpServer, HttpMcpServer, McpServerStdio, SseMcpServer

from assent.types.blocks import Json
from assent.types.errors import ProtocolError

Server = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio


def same_folder(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def directories(wanted: list[str] | None) -> tuple[str, ...]:
    """Further folders of the workspace, as the client named them."""
    for folder in wanted or ():
        if not os.path.isabs(folder) or not os.path.isdir(folder):  # noqa: PTH117, PTH112 -- a string of the wire's
            raise ProtocolError(
                "invalidParams", f"additionalDirectories: {folder!r} is not an absolute path of a folder"
            )
    return tuple(dict.fromkeys(os.path.realpath(folder) for folder in wanted or ()))


def servers(wanted: Sequence[Server] | None) -> dict[str, Json]:
    """MCP servers that the client named, as entries of `mcpServers`."""
    return {server.name: _entry(server) for server in wanted or ()}


def _entry(server: Server) -> Json:
    match server:
        case McpServerStdio():
            env = {variable.name: variable.value for variable in server.env}
            return {"command": server.command, "args": server.args, "env": env}
        case HttpMcpServer() | SseMcpServer():
            headers = {header.name: header.value for header in server.headers}
            return {"type": server.type, "url": server.url, "headers": headers}
        case _:
            raise ProtocolError(
                "invalidParams",
                f"mcpServers: {server.name!r} cannot be reached over ACP",
                hint="mcpCapabilities offers http and sse; a server started by its command works too.",
            )
