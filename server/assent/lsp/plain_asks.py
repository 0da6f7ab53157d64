"""Questions to people whose editor has no interface of ours: window/showMessageRequest, one button per answer.

A client without that method keeps the question pending: it is told so once, and code actions offer the answers
(`code_actions`). A dialog that was closed without a choice is a no: nothing is ever allowed by default.
"""

import asyncio
import logging
from typing import cast

from assent.lsp.rpc.peer import Peer, RemoteError
from assent.types.blocks import Json
from assent.types.ids import new_id
from assent.wire.asks import Elicit, PermissionAsk
from assent.wire.shapes import Proposal, Question

log = logging.getLogger("assent.lsp")

ALLOW = "Allow once"
DENY = "Deny"
_INFO, _WARNING = 3, 2
_SHOWN = 2000  # characters of a command or diff that a message dialog can bear


async def permission(peer: Peer, ask: PermissionAsk) -> Json:
    """The answer of a person, as `assent/permission/ask` would give it. Raises RemoteError when nobody can be asked."""
    rules = _session_rules(ask)
    buttons = [DENY, ALLOW, *rules]  # editors pre-select the first one: it must not be a yes
    chosen = await _choose(peer, _question(ask), buttons, pending=ask.title)
    if chosen == ALLOW:
        return {"decision": "allow", "scope": "once"}
    if chosen in rules:
        return {"decision": "allow", "scope": "session", "rules": rules[chosen]}
    return {"decision": "deny", "message": "" if chosen == DENY else "The dialog was closed without a choice."}


async def elicitation(peer: Peer, elicit: Elicit) -> Json:
    message = elicit.message
    if url := elicit.url:
        return await _visit(peer, f"{message}\n{elicit.display or url}", url, pending=message)
    if elicit.questions:
        return await _questions(peer, elicit.questions)
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


async def _questions(peer: Peer, questions: list[Question]) -> Json:
    answers: dict[str, list[str]] = {}
    for question in questions:
        labels = {option.display or option.label: option.label for option in question.options}
        text = f"Assent asks: {question.question}"
        chosen = await _choose(peer, text, [*labels, "Decline"], pending=question.question)
        if chosen is None or chosen not in labels:
            return {"action": "cancel" if chosen is None else "decline"}
        answers[question.id] = [labels[chosen]]
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


def _question(ask: PermissionAsk) -> str:
    lines = [f"Assent: {ask.title}", ask.reason]
    if ask.command is not None:
        lines.append(_cut(ask.command.display or ask.command.text))
    if ask.proposal is not None:
        lines.append(_cut(diff_of(ask.proposal)))
    return "\n".join(line for line in lines if line)


def diff_of(proposal: Proposal) -> str:
    parts = [proposal.uri]
    for hunk in proposal.hunks:
        parts.append(f"@@ line {hunk.range.start.line + 1} @@")
        parts += ["-" + line for line in _lines(hunk.old_display or hunk.old_text)]
        parts += ["+" + line for line in _lines(hunk.new_display or hunk.new_text)]
    return "\n".join(parts)


def _session_rules(ask: PermissionAsk) -> dict[str, list[str]]:
    """Buttons that save rules for this session, where the chain suggested some."""
    found = [suggestion for suggestion in ask.suggestions if suggestion.scope == "session"]
    return {f"Allow for this session: {each.display or each.rule}": each.rules or [each.rule] for each in found[:1]}


def _lines(text: str) -> list[str]:
    """The lines of a file's text, without their ends."""
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + f"\n… ({len(text) - _SHOWN} more characters)"
