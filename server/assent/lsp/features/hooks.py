"""`assent/hook/*`: which hooks there are, and what they did."""

from pathlib import Path

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.types.blocks import Json
from assent.wire import extensions


@server.feature("assent/hook/list")
async def list_hooks(ls: BaseServer, params: extensions.HookList) -> Json:
    folder = await ls.folder(session_id=params.session_id, cwd=params.cwd, otherwise=str(Path.home()))
    hooks = ls.app.sessions.deps.session_hooks
    return {"hooks": hooks.listed(folder, params.session_id or "") if hooks is not None else []}


@server.feature("assent/hook/log")
async def hook_log(ls: BaseServer, params: extensions.HookLog) -> Json:
    session = await ls.app.sessions.session(params.session_id)
    hooks = ls.app.sessions.deps.session_hooks
    return hooks.logged(session.id, session.folder, params.cursor) if hooks is not None else {"runs": []}
