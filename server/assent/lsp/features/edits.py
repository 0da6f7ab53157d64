"""`assent/edit/*`: proposals, listed and decided hunk by hunk."""

import msgspec

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.types.blocks import Json
from assent.wire import requests


@server.feature("assent/edit/list")
async def list_edits(ls: BaseServer, params: requests.EditList) -> Json:
    if params.session_id is not None:
        await ls.app.sessions.session(params.session_id)  # opens it: its proposals were saved with it
    return {"proposals": ls.app.editor.proposals.list(params.session_id)}


@server.feature("assent/edit/resolve")
async def resolve(ls: BaseServer, params: requests.EditResolve) -> Json:
    return await ls.app.editor.proposals.resolve(
        params.proposal_id,
        msgspec.to_builtins(params.decisions),
        version=params.version,
        message=params.message or "",
    )
