"""`assent/permission/*`: what the chain would decide."""

import msgspec

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.types.blocks import Json
from assent.wire import rules


@server.feature("assent/permission/explain", on_cancel="stop")
async def explain(ls: BaseServer, params: rules.PermissionExplain) -> Json:
    return await ls.app.explain(msgspec.to_builtins(params))
