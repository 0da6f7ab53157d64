"""Session and tool requests: thin, since `sessions/` answers them in the wire's own words."""

from typing import TYPE_CHECKING

from assent.lsp import trust
from assent.lsp.prompts import fenced
from assent.sessions.stream.front import Call
from assent.text.uris import path_of, same_document
from assent.types.blocks import Json, text_block
from assent.types.ids import new_id

if TYPE_CHECKING:
    from assent.lsp.connection import Connection


async def new(connection: "Connection", params: Json, call: Call) -> Json:
    """A new session in a workspace folder; a folder that holds something to trust is asked about, without waiting."""
    if "cwd" not in params and (roots := connection.client.roots()):
        params = {**params, "cwd": roots[0]}
    answer = await connection.app.sessions.request("assent/session/new", params, call)
    trust.ask_later(connection, str(answer["sessionId"]))
    return answer


async def send(connection: "Connection", params: Json, call: Call) -> Json:
    """A mention of a document that is no file, such as one never saved, comes along as the editor has it."""
    trust.ask_later(connection, params["sessionId"])  # its files may have changed since the session began
    mentions: list[Json] = params.get("mentions") or []
    loose = [mention for mention in mentions if _unsaved(connection, mention["uri"])]
    if loose:
        prompt = params["prompt"]
        blocks = [text_block(prompt)] if isinstance(prompt, str) else list(prompt)
        blocks += [text_block(_quoted(connection, mention)) for mention in loose]
        kept = [mention for mention in mentions if mention not in loose]
        params = {**params, "prompt": blocks, "mentions": kept}
    return await connection.app.sessions.request("assent/session/send", params, call)


async def run_tool(connection: "Connection", params: Json, call: Call) -> Json:
    """A tool without a model. Its progress goes to the token the client gave."""
    token = params.get("workDoneToken")
    if token is None:
        return await connection.app.sessions.request("assent/tool/run", params, call)
    progress = connection.progress.of_request(token, title=str(params["name"]), cancel=call.cancelled.set)
    call.progress = progress.report
    try:
        return await connection.app.sessions.request("assent/tool/run", params, call)
    finally:
        connection.progress.end_request(token)


HANDLERS = {
    "assent/session/new": new,
    "assent/session/send": send,
    "assent/tool/run": run_tool,
}


async def send_from_surface(connection: "Connection", session_id: str, prompt: str) -> Json:
    """A prompt that came from a command, not from a client's own request."""
    call = Call(front=connection.front)
    params: Json = {"sessionId": session_id, "prompt": prompt, "clientMessageId": new_id("c")}
    return await connection.app.sessions.request("assent/session/send", params, call)


async def interrupt(connection: "Connection", session_id: str) -> Json:
    return await connection.app.sessions.request("assent/session/interrupt", {"sessionId": session_id}, Call())


def _unsaved(connection: "Connection", uri: str) -> bool:
    return path_of(uri) is None and connection.app.editor.documents.get(same_document(uri)) is not None


def _quoted(connection: "Connection", mention: Json) -> str:
    uri, span = str(mention["uri"]), mention.get("range")
    document = connection.app.editor.documents.get(same_document(uri))
    whole = document.text if document is not None else ""
    return f"The user mentioned {uri}:\n{fenced(connection.chats.selected(uri, span) if span else whole)}"
