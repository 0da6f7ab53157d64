"""Proposals by request: list them, decide their hunks."""

from typing import TYPE_CHECKING

from assent.sessions.stream.front import Call
from assent.types.blocks import Json

if TYPE_CHECKING:
    from assent.lsp.connection import Connection


async def list_edits(connection: "Connection", params: Json, call: Call) -> Json:
    session_id = params.get("sessionId")
    if session_id is not None:
        await connection.app.sessions.get(params)  # opened if need be: its proposals were saved with it
    return {"proposals": connection.app.editor.proposals.list(session_id)}


async def resolve(connection: "Connection", params: Json, call: Call) -> Json:
    return await connection.app.editor.proposals.resolve(
        params["proposalId"],
        params["decisions"],
        version=params.get("version"),
        message=params.get("message", ""),
    )


HANDLERS = {
    "assent/edit/list": list_edits,
    "assent/edit/resolve": resolve,
}
