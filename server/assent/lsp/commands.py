"""`workspace/executeCommand`: every action by name, for editors that have nothing else.

Arguments are positional JSON; a missing or wrong one answers invalidParams and says what was expected.
"""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar, cast

from assent.lsp import sessions, trust
from assent.lsp.peer import RemoteError
from assent.lsp.prompts import ACTIONS, prompt_for
from assent.sessions.stream.front import Call
from assent.text.uris import path_of, same_document
from assent.types.blocks import Json
from assent.types.errors import ProtocolError

if TYPE_CHECKING:
    from assent.lsp.connection import Connection

T = TypeVar("T")
Command = Callable[["Connection", list[Any]], Coroutine[Any, Any, Any]]


async def accept_hunk(connection: "Connection", arguments: list[Any]) -> Any:
    return await _decide_hunk(connection, arguments, "accept")


async def reject_hunk(connection: "Connection", arguments: list[Any]) -> Any:
    return await _decide_hunk(connection, arguments, "reject")


async def revert_hunk(connection: "Connection", arguments: list[Any]) -> Any:
    return await connection.app.editor.proposals.revert(_text(arguments, 0, "hunkId"))


async def accept_file(connection: "Connection", arguments: list[Any]) -> Any:
    return await _decide_all(connection, "accept", same_document(_text(arguments, 0, "uri")))


async def reject_file(connection: "Connection", arguments: list[Any]) -> Any:
    return await _decide_all(connection, "reject", same_document(_text(arguments, 0, "uri")))


async def accept_all(connection: "Connection", arguments: list[Any]) -> Any:
    return await _decide_all(connection, "accept", None)


async def reject_all(connection: "Connection", arguments: list[Any]) -> Any:
    return await _decide_all(connection, "reject", None)


async def answer_ask(connection: "Connection", arguments: list[Any]) -> Any:
    """{askId, decision, message?} or {elicitId, answer}; the session may be named, else it is found."""
    answer = _object(arguments, 0, "{askId, decision}")
    question_id = answer.get("askId") or answer.get("elicitId")
    if not isinstance(question_id, str):
        raise ProtocolError("invalidParams", "say which question: `askId` or `elicitId`")
    reply: Any = answer.get("answer") if "elicitId" in answer else answer
    for session in connection.app.sessions.live.values():
        if isinstance(reply, dict) and session.asks.answer(question_id, cast("Json", reply), by="codeAction"):
            return {}
    raise ProtocolError("unknownAsk", "that question is no longer open", hint="It was answered, or its turn ended.")


async def ask(connection: "Connection", arguments: list[Any]) -> Any:
    """A code action's data, or {prompt}: act in the last chat document's session, else in a new one.

    With `compose` nothing is sent: the answer is the prompt.
    """
    data = _object(arguments, 0, "{action, uri, range} or {prompt}")
    prompt = data.get("prompt")
    if not isinstance(prompt, str):
        prompt = _prompt_of(connection, data)
    if data.get("compose") is True:
        return {"prompt": prompt}  # a client with a chat of its own shows and sends the words there
    if data.get("action") == "ask":
        return await connection.chats.begin_question(prompt)
    return await connection.chats.post(prompt)


async def send(connection: "Connection", arguments: list[Any]) -> Any:
    return await connection.chats.send(same_document(_text(arguments, 0, "uri of a chat document")))


async def new_chat(connection: "Connection", arguments: list[Any]) -> Any:
    return {"uri": await connection.chats.create()}


async def interrupt(connection: "Connection", arguments: list[Any]) -> Any:
    """The session named, or every one that runs."""
    named = _optional(arguments, 0, str, "a string: sessionId")
    live = connection.app.sessions.live
    running = [named] if named is not None else [session.id for session in live.values() if session.running]
    answers = [await sessions.interrupt(connection, session_id) for session_id in running]
    return {"interrupted": any(answer["interrupted"] for answer in answers)}


async def trust_folder(connection: "Connection", arguments: list[Any]) -> Any:
    """[uri?, trusted?, hash?]: the first workspace folder, and yes, unless said otherwise.

    Without the hash of what was shown the person is asked; a client without a dialog gets the items with the error.
    """
    uri = _optional(arguments, 0, str, "a string: uri") or next(iter(connection.client.folders), None)
    trusted = _optional(arguments, 1, bool, "a boolean: trusted")
    if uri is None:
        raise ProtocolError("invalidParams", "there is no workspace folder to trust", hint="Name a folder's uri.")
    shown = _optional(arguments, 2, str, "a string: hash")
    params: Json = {"uri": uri, "trusted": trusted is not False, "remember": "always", "hash": shown}
    folder = path_of(uri)
    if params["trusted"] and shown is None and folder is not None and trust.state(connection, folder).items:
        try:
            return {"trusted": await trust.ask(connection, folder)}
        except RemoteError:
            pass  # no dialog: `set_trust` refuses and says what would have been shown
    return await trust.set_trust(connection, params, Call())


COMMANDS: dict[str, Command] = {
    "assent.acceptAll": accept_all,
    "assent.acceptFile": accept_file,
    "assent.acceptHunk": accept_hunk,
    "assent.answerAsk": answer_ask,
    "assent.ask": ask,
    "assent.interrupt": interrupt,
    "assent.newChat": new_chat,
    "assent.rejectAll": reject_all,
    "assent.rejectFile": reject_file,
    "assent.rejectHunk": reject_hunk,
    "assent.revertHunk": revert_hunk,
    "assent.send": send,
    "assent.trust": trust_folder,
}


async def _decide_hunk(connection: "Connection", arguments: list[Any], decision: str) -> Json:
    """[proposalId, hunkId], or the hunkId alone, which names its proposal too."""
    proposals = connection.app.editor.proposals
    if len(arguments) == 1:
        hunk_id = _text(arguments, 0, "hunkId")
        proposal_id = next((each["proposalId"] for each in proposals.list() if _holds(each, hunk_id)), None)
        if proposal_id is None:
            raise ProtocolError("unknownHunk", f"There is no open hunk {hunk_id}", hint="assent/edit/list has them.")
    else:
        proposal_id, hunk_id = _text(arguments, 0, "proposalId"), _text(arguments, 1, "hunkId")
    decisions: list[Json] = [{"hunkId": hunk_id, "decision": decision}]
    return await proposals.resolve(proposal_id, decisions)


def _holds(proposal: Json, hunk_id: str) -> bool:
    return any(hunk["hunkId"] == hunk_id for hunk in proposal["hunks"])


async def _decide_all(connection: "Connection", decision: str, uri: str | None) -> Json:
    decided: list[str] = []
    for proposal in connection.app.editor.proposals.list(uri=uri):
        await connection.app.editor.proposals.resolve(proposal["proposalId"], {"all": decision})
        decided.append(proposal["proposalId"])
    return {"proposals": decided}


def _prompt_of(connection: "Connection", data: Json) -> str:
    action, uri, span = data.get("action"), data.get("uri"), data.get("range")
    if action not in ACTIONS or not isinstance(uri, str) or not isinstance(span, dict):
        raise ProtocolError("invalidParams", "expected {action, uri, range} or {prompt}")
    problem, wish = data.get("problem"), data.get("wish")
    text = connection.chats.selected(uri, cast("Json", span))
    return prompt_for(
        action,
        path=connection.chats.short_path(path_of(uri) or uri),
        span=cast("Json", span),
        text=text,
        problem=cast("Json", problem) if isinstance(problem, dict) else None,
        wish=wish if isinstance(wish, str) else "",
    )


def _text(arguments: list[Any], index: int, what: str) -> str:
    value = arguments[index] if len(arguments) > index else None
    if not isinstance(value, str):
        raise ProtocolError("invalidParams", f"argument {index + 1} must be a string: {what}")
    return value


def _optional(arguments: list[Any], index: int, kind: type[T], what: str) -> T | None:
    """An argument that may be left out or null, but not be something else."""
    value = arguments[index] if len(arguments) > index else None
    if value is not None and not isinstance(value, kind):
        raise ProtocolError("invalidParams", f"argument {index + 1} must be {what}")
    return value


def _object(arguments: list[Any], index: int, what: str) -> Json:
    value = arguments[index] if len(arguments) > index else None
    if not isinstance(value, dict):
        raise ProtocolError("invalidParams", f"argument {index + 1} must be an object: {what}")
    return cast("Json", value)
