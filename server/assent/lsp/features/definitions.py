"""Lists of what files define (skills, memory, plugins), and the permission rules: `sessions/listings.py` answers."""

import msgspec

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.types.blocks import Json
from assent.wire import extensions, rules


@server.feature("assent/skill/list", on_cancel="stop")
async def list_skills(ls: BaseServer, params: extensions.FolderRef) -> Json:
    return await ls.app.sessions.request("assent/skill/list", msgspec.to_builtins(params))


@server.feature("assent/memory/list", on_cancel="stop")
async def list_memory(ls: BaseServer, params: extensions.FolderRef) -> Json:
    return await ls.app.sessions.request("assent/memory/list", msgspec.to_builtins(params))


@server.feature("assent/plugin/list", on_cancel="stop")
async def list_plugins(ls: BaseServer, params: extensions.FolderRef) -> Json:
    return await ls.app.sessions.request("assent/plugin/list", msgspec.to_builtins(params))


@server.feature("assent/permission/rules", on_cancel="stop")
async def list_rules(ls: BaseServer, params: rules.PermissionRules) -> Json:
    return await ls.app.sessions.request("assent/permission/rules", msgspec.to_builtins(params))


@server.feature("assent/permission/editRules")
async def edit_rules(ls: BaseServer, params: rules.PermissionEditRules) -> Json:
    return await ls.app.sessions.request("assent/permission/editRules", msgspec.to_builtins(params))
