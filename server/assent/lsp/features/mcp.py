"""`assent/mcp/*`: the configured MCP servers."""

from pathlib import Path

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.types.blocks import Json
from assent.wire import extensions


@server.feature("assent/mcp/list")
async def list_servers(ls: BaseServer, params: extensions.McpList) -> Json:
    folder = await ls.folder(session_id=params.session_id, cwd=params.cwd, otherwise=str(Path.home()))
    withheld = ls.app.mcp.withheld(folder)
    return {"servers": ls.app.mcp.list(folder), **({"withheld": withheld} if withheld else {})}


@server.feature("assent/mcp/restart")
async def restart(ls: BaseServer, params: extensions.McpRef) -> Json:
    return {"server": await ls.app.mcp.restart(params.name, await _folder(ls, params))}


@server.feature("assent/mcp/enable")
async def enable(ls: BaseServer, params: extensions.McpRef) -> Json:
    return {"server": ls.app.mcp.enable(params.name, await _folder(ls, params))}


@server.feature("assent/mcp/disable")
async def disable(ls: BaseServer, params: extensions.McpRef) -> Json:
    return {"server": ls.app.mcp.disable(params.name, await _folder(ls, params))}


@server.feature("assent/mcp/approve")
async def approve(ls: BaseServer, params: extensions.McpRef) -> Json:
    return {"server": ls.app.mcp.approve(params.name, await _folder(ls, params), params.hash)}


@server.feature("assent/mcp/signIn")
async def sign_in(ls: BaseServer, params: extensions.McpRef) -> Json:
    return {"server": await ls.app.mcp.sign_in(params.name, await _folder(ls, params), params.redirect)}


@server.feature("assent/mcp/signOut")
async def sign_out(ls: BaseServer, params: extensions.McpRef) -> Json:
    return {"server": await ls.app.mcp.sign_out(params.name, await _folder(ls, params))}


@server.feature("assent/mcp/show")
async def show(ls: BaseServer, params: extensions.McpRef) -> Json:
    return await ls.app.mcp.show(params.name, await _folder(ls, params))


async def _folder(ls: BaseServer, params: extensions.McpRef) -> str:
    return await ls.folder(session_id=params.session_id, cwd=params.cwd, otherwise=str(Path.home()))
