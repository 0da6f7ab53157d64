"""Questions to people whose editor has no interface of ours: window/showMessageRequest, one button per answer.

A client without that method keeps the question pending: it is told so once, and code actions offer the answers
(`code_actions`). A dialog that was closed without a choice is a no: nothing is ever allowed by default.
"""

import asyncio
import logging
from typing import Any, cast

from assent.lsp.rpc.peer import Peer, RemoteError
from assent.types.blocks import Json
from assent.types.ids import new_id

log = logging.getLogger("assent.lsp")

ALLOW = "Allow once"
DENY = "Deny"
_INFO, _WARNING = 3, 2
_SHOWN = 2000  # characters of a command or diff that a message dialog can bear


async def permission(peer: Peer, params: Json) -> Json:
    """The answer of a person, as `assent/permission/ask` would give it. Raises RemoteError when nobody can be asked."""
    rules = _session_rules(params)
    buttons = [DENY, ALLOW, *rules]  # editors pre-select the first one: it must not be a yes
    chosen = await _choose(peer, _question(params), buttons, pending=str(params.get("title", "")))
    if chosen == ALLOW:
        return {"decision": "allow", "scope": "once"}
    if chosen in rules:
        return {"decision": "allow", "scope": "session", "rule": rules[chosen]}
    return {"decision": "deny", "message": "" if chosen == DENY else "The dialog was closed without a choice."}


async def elicitation(peer: Peer, params: Json) -> Json:
    message = str(params.get("message", ""))
    if url := params.get("url"):
        return await _visit(peer, f"{message}\n{_display(params, 'url')}", str(url), pending=message)
    if params.get("questions"):
        return await _questions(peer, params)
    # A form cannot be filled in with buttons.
    peer.notify("window/showMessage", {"type": _WARNING, "message": f"Assent: {message} (declined: it needs a form)"})
    return {"action": "decline"}


async def choose(peer: Peer, text: str, buttons: list[str], *, speaks_assent: bool = False) -> str | None:
    """The button a person pressed, or None. Raises RemoteError when the client has no such dialog.

    A plugin of ours is told when the question is moot: editors do not tell their plugins of $/cancelRequest.
    """
    params: Json = {"type": _INFO, "message": text, "actions": [{"title": button} for button in buttons]}
    request_id = new_id("r")
    if speaks_assent:
        params["requestId"] = request_id
    try:
        chosen = await peer.request("window/showMessageRequest", params, id=request_id)
    except asyncio.CancelledError:
        if speaks_assent:
            peer.notify("assent/withdrawn", {"requestId": request_id})
        raise
    title = cast("Json", chosen).get("title") if isinstance(chosen, dict) else None
    return title if title in buttons else None


async def _choose(peer: Peer, text: str, buttons: list[str], *, pending: str) -> str | None:
    try:
        return await choose(peer, text, buttons)
    except RemoteError as error:
        waiting = f"Assent is waiting for your answer: {pending}. The code actions of any document offer it."
        peer.notify("window/showMessage", {"type": _WARNING, "message": waiting})
        log.info("window/showMessageRequest: %s", error)
        raise


async def _questions(peer: Peer, params: Json) -> Json:
    answers: dict[str, list[str]] = {}
    for question in cast("list[Json]", params["questions"]):
        labels = {_display(option, "label"): str(option.get("label", "")) for option in question.get("options", [])}
        text = f"Assent asks: {question.get('question') or params.get('message', '')}"
        chosen = await _choose(peer, text, [*labels, "Decline"], pending=str(question.get("question", "")))
        if chosen is None or chosen not in labels:
            return {"action": "cancel" if chosen is None else "decline"}
        answers[str(question["id"])] = [labels[chosen]]
    return {"action": "accept", "content": {"answers": answers}}


async def _visit(peer: Peer, question: str, url: str, *, pending: str) -> Json:
    chosen = await _choose(peer, f"Assent: {question}", ["Open", "Decline"], pending=pending)
    if chosen != "Open":
        return {"action": "decline" if chosen else "cancel"}
    try:
        await peer.request("window/showDocument", {"uri": url, "external": True})
    except RemoteError:
        return {"action": "cancel"}
    return {"action": "accept"}


def _question(params: Json) -> str:
    lines = [f"Assent: {params.get('title', 'a tool wants to act')}"]
    if reason := params.get("reason"):
        lines.append(str(reason))
    command: Any = params.get("command")
    if isinstance(command, dict):
        lines.append(_cut(_display(cast("Json", command), "text")))
    proposal: Any = params.get("proposal")
    if isinstance(proposal, dict):
        lines.append(_cut(diff_of(cast("Json", proposal))))
    return "\n".join(line for line in lines if line)


def diff_of(proposal: Json) -> str:
    parts = [f"{proposal.get('uri', '')}"]
    for hunk in cast("list[Json]", proposal.get("hunks", [])):
        parts.append(f"@@ line {hunk['range']['start']['line'] + 1} @@")
        parts += ["-" + line for line in _lines(hunk.get("oldDisplay") or hunk.get("oldText"))]
        parts += ["+" + line for line in _lines(hunk.get("newDisplay") or hunk.get("newText"))]
    return "\n".join(parts)


def _session_rules(params: Json) -> dict[str, str]:
    """Buttons that save a rule for this session, where the chain suggested one."""
    suggestions = cast("list[Json]", params.get("suggestions") or [])
    found = [suggestion for suggestion in suggestions if suggestion.get("scope") == "session"]
    return {f"Allow for this session: {_display(rule, 'rule')}": str(rule["rule"]) for rule in found[:1]}


def _display(value: Json, exact: str) -> str:
    """What people read of a text that has to stay exact."""
    return str(value.get("display") or value.get(exact, ""))


def _lines(text: object) -> list[str]:
    """The lines of a file's text, without their ends."""
    return str(text or "").replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + f"\n… ({len(text) - _SHOWN} more characters)"
