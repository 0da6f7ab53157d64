"""`assent/mcp/*`: the configured MCP servers."""

from pathlib import Path

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.types.blocks import Json
from assent.wire import extensions

HOME = str(Path.home())  # where only the user's own settings count


@server.feature("assent/mcp/list")
async def list_servers(ls: BaseServer, params: extensions.McpList) -> Json:
    return {
        "servers": ls.app.mcp_servers(await ls.folder(session_id=params.session_id, cwd=params.cwd, otherwise=HOME))
    }


@server.feature("assent/mcp/restart")
async def restart(ls: BaseServer, params: extensions.McpRef) -> Json:
    await ls.app.mcp_restart(params.name, await ls.folder(session_id=params.session_id, cwd=params.cwd, otherwise=HOME))
    return {}
