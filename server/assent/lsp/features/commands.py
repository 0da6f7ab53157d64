"""`workspace/executeCommand`: every action by name, for editors that have nothing else.

Arguments are positional JSON; a missing or wrong one answers invalidParams and says what was expected.
"""

from typing import Any, TypeVar, cast

from assent.lsp.action_prompts import ACTIONS, prompt_for
from assent.lsp.base import BaseServer
from assent.lsp.features.trust import set_trust
from assent.lsp.registry import server
from assent.lsp.rpc.peer import RemoteError
from assent.text.uris import path_of, same_document
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.wire import requests

T = TypeVar("T")


@server.command("assent.acceptHunk")
async def accept_hunk(ls: BaseServer, arguments: list[Any]) -> Any:
    return await _decide_hunk(ls, arguments, "accept")


@server.command("assent.rejectHunk")
async def reject_hunk(ls: BaseServer, arguments: list[Any]) -> Any:
    return await _decide_hunk(ls, arguments, "reject")


@server.command("assent.revertHunk")
async def revert_hunk(ls: BaseServer, arguments: list[Any]) -> Any:
    return await ls.app.editor.proposals.revert(_text(arguments, 0, "hunkId"))


@server.command("assent.acceptFile")
async def accept_file(ls: BaseServer, arguments: list[Any]) -> Any:
    return await _decide_all(ls, "accept", same_document(_text(arguments, 0, "uri")))


@server.command("assent.rejectFile")
async def reject_file(ls: BaseServer, arguments: list[Any]) -> Any:
    return await _decide_all(ls, "reject", same_document(_text(arguments, 0, "uri")))


@server.command("assent.acceptAll")
async def accept_all(ls: BaseServer, arguments: list[Any]) -> Any:
    return await _decide_all(ls, "accept", None)


@server.command("assent.rejectAll")
async def reject_all(ls: BaseServer, arguments: list[Any]) -> Any:
    return await _decide_all(ls, "reject", None)


@server.command("assent.answerAsk")
async def answer_ask(ls: BaseServer, arguments: list[Any]) -> Any:
    """{askId, decision, message?} or {elicitId, answer}; the session may be named, else it is found."""
    answer = _object(arguments, 0, "{askId, decision}")
    question_id = answer.get("askId") or answer.get("elicitId")
    if not isinstance(question_id, str):
        raise ProtocolError("invalidParams", "say which question: `askId` or `elicitId`")
    reply: Any = answer.get("answer") if "elicitId" in answer else answer
    for session in ls.app.sessions.live.values():
        if isinstance(reply, dict) and session.asks.answer(question_id, cast("Json", reply), by="codeAction"):
            return {}
    raise ProtocolError("unknownAsk", "that question is no longer open", hint="It was answered, or its turn ended.")


@server.command("assent.ask")
async def ask(ls: BaseServer, arguments: list[Any]) -> Any:
    """A code action's data, or {prompt}: act in the last chat document's session, else in a new one.

    With `compose` nothing is sent: the answer is the prompt.
    """
    data = _object(arguments, 0, "{action, uri, range} or {prompt}")
    prompt = data.get("prompt")
    if not isinstance(prompt, str):
        prompt = _prompt_of(ls, data)
    if data.get("compose") is True:
        return {"prompt": prompt}  # a client with a chat of its own shows and sends the words there
    if data.get("action") == "ask":
        return await ls.chats.begin_question(prompt)
    return await ls.chats.post(prompt)


@server.command("assent.send")
async def send(ls: BaseServer, arguments: list[Any]) -> Any:
    return await ls.chats.send(same_document(_text(arguments, 0, "uri of a chat document")))


@server.command("assent.newChat")
async def new_chat(ls: BaseServer, arguments: list[Any]) -> Any:
    return {"uri": await ls.chats.create()}


@server.command("assent.interrupt")
async def interrupt(ls: BaseServer, arguments: list[Any]) -> Any:
    """The session named, or every one that runs."""
    named = _optional(arguments, 0, str, "a string: sessionId")
    live = ls.app.sessions.live
    running = [named] if named is not None else [session.id for session in live.values() if session.running]
    answers = [await ls.interrupt(session_id) for session_id in running]
    return {"interrupted": any(answer.interrupted for answer in answers)}


@server.command("assent.trust")
async def trust_folder(ls: BaseServer, arguments: list[Any]) -> Any:
    """[uri?, trusted?, hash?]: the first workspace folder, and yes, unless said otherwise.

    Without the hash of what was shown the person is asked; a client without a dialog gets the items with the error.
    """
    uri = _optional(arguments, 0, str, "a string: uri") or next(iter(ls.client.folders), None)
    trusted = _optional(arguments, 1, bool, "a boolean: trusted")
    if uri is None:
        raise ProtocolError("invalidParams", "there is no workspace folder to trust", hint="Name a folder's uri.")
    shown = _optional(arguments, 2, str, "a string: hash")
    params = requests.TrustSet(uri=uri, trusted=trusted is not False, remember="always", hash=shown)
    folder = path_of(uri)
    if params.trusted and shown is None and folder is not None and ls.trust.state(folder).items:
        try:
            return {"trusted": await ls.trust.ask(folder)}
        except RemoteError:
            pass  # no dialog: `set_trust` refuses and says what would have been shown
    return await set_trust(ls, params)


async def _decide_hunk(ls: BaseServer, arguments: list[Any], decision: str) -> Json:
    """[proposalId, hunkId], or the hunkId alone, which names its proposal too."""
    proposals = ls.app.editor.proposals
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


async def _decide_all(ls: BaseServer, decision: str, uri: str | None) -> Json:
    decided: list[str] = []
    for proposal in ls.app.editor.proposals.list(uri=uri):
        await ls.app.editor.proposals.resolve(proposal["proposalId"], {"all": decision})
        decided.append(proposal["proposalId"])
    return {"proposals": decided}


def _prompt_of(ls: BaseServer, data: Json) -> str:
    action, uri, span = data.get("action"), data.get("uri"), data.get("range")
    if action not in ACTIONS or not isinstance(uri, str) or not isinstance(span, dict):
        raise ProtocolError("invalidParams", "expected {action, uri, range} or {prompt}")
    problem, wish = data.get("problem"), data.get("wish")
    text = ls.chats.selected(uri, cast("Json", span))
    return prompt_for(
        action,
        path=ls.chats.short_path(path_of(uri) or uri),
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
