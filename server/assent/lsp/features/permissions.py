"""`assent/permission/*`: what the chain would decide."""

import msgspec

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.sessions.stream.front import Call
from assent.types.blocks import Json
from assent.wire import rules
from assent.wire.shapes import Empty


@server.feature("assent/permission/explain", on_cancel="stop")
async def explain(ls: BaseServer, params: rules.PermissionExplain) -> Json:
    return await ls.app.explain(msgspec.to_builtins(params))


@server.feature("assent/permission/answer")
async def answer(ls: BaseServer, params: rules.PermissionReply, call: Call) -> Empty:
    return await ls.app.sessions.answer(params, call)
