"""Code actions: what the agent can do at a place, hunks that wait there, and questions that wait anywhere.

What an action does is a command (`commands`); a client that resolves actions gets the command on resolve.
"""

from typing import TYPE_CHECKING, Any, cast

from assent.editor.surfaces import hunk_actions
from assent.lsp.action_prompts import ACTIONS
from assent.lsp.base import BaseServer
from assent.lsp.chat.chat_documents import is_chat
from assent.lsp.marks import SOURCE
from assent.lsp.registry import server
from assent.text.uris import same_document
from assent.types.blocks import Json
from assent.wire.asks import PendingElicit

if TYPE_CHECKING:
    from lsprotocol import types

_LLM_GENERATED = 1
_MOST_FIXES = 5


@server.feature("textDocument/codeAction", on_cancel="stop")
async def code_action(ls: BaseServer, params: "types.CodeActionParams") -> list[Json]:
    uri = same_document(params.text_document.uri)
    span = _plain_range(params.range)
    actions = pending_answers(ls)
    if is_chat(uri):
        actions += ls.chats.actions(uri)
    else:
        if not ls.client.flags.review:
            actions += hunk_actions(ls.app.editor.proposals.list(), uri, span)
        actions += _fixes(ls, uri, params.context.diagnostics)
        actions += [_generated(ls, uri, span, name) for name in ACTIONS if name != "fix"]
    only = params.context.only
    return actions if only is None else [action for action in actions if _wanted(action, [str(kind) for kind in only])]


@server.feature("codeAction/resolve", on_cancel="stop")
async def resolve(ls: BaseServer, action: "types.CodeAction") -> Json:
    """The action again, now with its command; one that had it already keeps it (Neovim resolves those too)."""
    data: Any = action.data
    answer: Json = {"title": action.title, "data": data}
    if (command := action.command) is not None:
        arguments = list(command.arguments or ())
        answer["command"] = {"title": command.title, "command": command.command, "arguments": arguments}
    if action.kind is not None:
        answer["kind"] = str(getattr(action.kind, "value", action.kind))
    if isinstance(data, dict) and "action" in data:
        answer["command"] = _command(action.title, cast("Json", data))
        answer["tags"] = [_LLM_GENERATED]
    return answer


def pending_answers(ls: BaseServer) -> list[Json]:
    """Open questions of every session, each answer an action: for clients that cannot show a dialog."""
    actions: list[Json] = []
    for session in ls.app.sessions.live.values():
        for ask in session.asks.permissions():
            title = ask.title or ask.tool
            for words, decision in ((f"Deny {title}", "deny"), (f"Allow once {title}", "allow")):
                arguments: Json = {"sessionId": session.id, "askId": ask.ask_id, "decision": decision}
                actions.append(_answer(f"Assent: {words}", arguments))
        for elicit in session.asks.elicitations():
            actions += _elicit_answers(session.id, elicit)
    return actions


def _elicit_answers(session_id: str, elicit: PendingElicit) -> list[Json]:
    """A single question can be answered with one action per option; anything longer only declined."""
    base: Json = {"sessionId": session_id, "elicitId": elicit.elicit_id}
    questions = elicit.questions or []
    actions: list[Json] = []
    if len(questions) == 1:
        question = questions[0]
        for option in question.options:
            answers = {question.id: [option.label]}
            arguments = {**base, "answer": {"action": "accept", "content": {"answers": answers}}}
            actions.append(_answer(f"Assent: {question.header or 'Answer'}: {option.label}", arguments))
    decline = {**base, "answer": {"action": "decline"}}
    actions.append(_answer(f"Assent: Decline: {elicit.message[:80]}", decline))
    return actions


def _answer(title: str, arguments: Json) -> Json:
    command = {"title": title, "command": "assent.answerAsk", "arguments": [arguments]}
    return {"title": title, "kind": "quickfix", "command": command}


def _fixes(ls: BaseServer, uri: str, diagnostics: Any) -> list[Json]:
    actions: list[Json] = []
    for diagnostic in [found for found in diagnostics if found.source != SOURCE][:_MOST_FIXES]:
        problem: Json = {
            "range": _plain_range(diagnostic.range),
            "message": diagnostic.message,
            "source": diagnostic.source or "",
        }
        first_line = (diagnostic.message.splitlines() or [""])[0][:80]
        action = _generated(ls, uri, problem["range"], "fix", problem=problem, about=first_line)
        action["diagnostics"] = [_plain_diagnostic(diagnostic)]
        actions.append(action)
    return actions


def _generated(
    ls: BaseServer, uri: str, span: Json, name: str, *, problem: Json | None = None, about: str = ""
) -> Json:
    kind, title = ACTIONS[name].kind, ACTIONS[name].title
    data: Json = {"action": name, "uri": uri, "range": span}
    if problem is not None:
        data["problem"] = problem
    action: Json = {"title": f"Assent: {title}{about}", "kind": kind}
    if ls.client.can("textDocument.codeAction.tagSupport"):
        action["tags"] = [_LLM_GENERATED]
    properties: Any = ls.client.can("textDocument.codeAction.resolveSupport.properties")
    if isinstance(properties, list) and "command" in properties:
        action["data"] = data
    else:
        action["command"] = _command(action["title"], data)
    return action


def _command(title: str, data: Json) -> Json:
    return {"title": title, "command": "assent.ask", "arguments": [data]}


def _wanted(action: Json, only: list[str]) -> bool:
    kind = str(action.get("kind", ""))
    return any(wish in ("", kind) or kind.startswith(f"{wish}.") for wish in only)


def _plain_range(span: "types.Range") -> Json:
    return {
        "start": {"line": span.start.line, "character": span.start.character},
        "end": {"line": span.end.line, "character": span.end.character},
    }


def _plain_diagnostic(diagnostic: "types.Diagnostic") -> Json:
    plain: Json = {"range": _plain_range(diagnostic.range), "message": diagnostic.message}
    if diagnostic.severity is not None:
        plain["severity"] = int(diagnostic.severity)
    for name in ("source", "code", "data"):
        if (value := getattr(diagnostic, name)) is not None:
            plain[name] = value
    return plain
