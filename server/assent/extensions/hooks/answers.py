"""What a hook's output means (formats: exit codes, JSON, plain text), event by event. Pure.

Whatever a program prints becomes a `HookOutcome`; nothing here raises. Long texts are cut by the caller's `spill`.
"""

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, cast

from assent.extensions.hooks import terminal_sequences
from assent.text import lenient_json
from assent.types.blocks import Json
from assent.types.hooks import HookEvent, HookOutcome, PermissionDecision

LONGEST = 10_000  # characters of one text that reaches the model or the user
SHOWN = 2_000  # characters of what was printed, in events and the log
_PLAIN_IS_CONTEXT: frozenset[HookEvent] = frozenset(
    {"SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostModelSwitch"}
)
_CANNOT_BLOCK: frozenset[HookEvent] = frozenset(
    {
        *("SessionStart", "SessionEnd", "Setup", "Notification", "StopFailure", "SubagentStart", "PostCompact"),
        *("PermissionDenied", "InstructionsLoaded", "CwdChanged", "DirectoryAdded", "FileChanged", "MessageDisplay"),
        *("WorktreeRemove", "PostModelSwitch", "PermissionRequest"),
    }
)
"""Events where exit code 2 blocks nothing: its words are shown."""

_VERDICT_ENDS_THE_TURN: frozenset[HookEvent] = frozenset({"PreToolUse", "PostToolUse", "TeammateIdle"})
"""Events where a model's no ends the turn, unless the hook says `continueOnBlock`."""

_DECODER = json.JSONDecoder()

Spill = Callable[[str], str | None]
"""Keeps a text that is too long and gives the file it is in."""


def from_process(
    event: HookEvent, exit_code: int, stdout: str, stderr: str, *, spill: Spill = lambda _text: None
) -> HookOutcome:
    """What a command said with its exit code and its output."""
    stdout = stdout.removeprefix("\ufeff")  # PowerShell and some editors begin with one
    answer, broken = _object(stdout)
    shown = _shown(stdout, stderr)
    if exit_code == 2 and event not in _CANNOT_BLOCK:
        return replace(_blocked(event, answer, stdout, stderr, spill), exit_code=2, output=shown)
    if exit_code != 0 and (answer is None or event in ("WorktreeCreate", "WorktreeRemove")):
        line = next((line.strip() for line in stderr.splitlines() if line.strip()), "")
        text = f"exit code {exit_code}" + (f": {line[:500]}" if line else "")
        return HookOutcome(status="error", text=text, exit_code=exit_code, output=shown)
    if answer is not None:
        return replace(from_json(event, answer, spill=spill), exit_code=exit_code, output=shown)
    if broken and event not in _PLAIN_IS_CONTEXT:
        return HookOutcome(status="error", text=broken, exit_code=exit_code, output=shown)
    plain = stdout.strip()
    context = _cut(plain, spill) if event in _PLAIN_IS_CONTEXT else ""
    specific: Json = {"worktreePath": plain.splitlines()[-1].strip()} if event == "WorktreeCreate" and plain else {}
    return HookOutcome(context=context, specific=specific, exit_code=exit_code, output=shown)


def from_server(event: HookEvent, text: str, *, spill: Spill = lambda _text: None) -> HookOutcome:
    """What an HTTP server answered with success: a JSON object or nothing."""
    answer, broken = _object(text.removeprefix("\ufeff"))
    if answer is not None:
        return replace(from_json(event, answer, spill=spill), output=_shown(text, ""))
    if not text.strip():
        return HookOutcome()
    wrong = broken or f"answered with something else than a JSON object: {text.strip()[:200]}"
    return HookOutcome(status="error", text=f"the server {wrong}", output=_shown(text, ""))


def _blocked(event: HookEvent, answer: Json | None, stdout: str, stderr: str, spill: Spill) -> HookOutcome:
    """Exit code 2 blocks whatever else was printed; what a JSON answer says besides still counts."""
    said = from_json(event, answer, spill=spill) if answer is not None else HookOutcome()
    if said.status == "prevented":
        return said
    plain = "" if answer is not None else stdout.strip()
    text = _cut(_reason(answer) or stderr.strip() or plain, spill) or "A hook blocked this."
    if said.status == "error" or event in ("Elicitation", "ElicitationResult"):
        return HookOutcome(status="blocked", text=text, system_message=said.system_message)
    return replace(said, status="blocked", text=text, decision=None, updated_input=None)


def from_json(event: HookEvent, answer: Json, *, spill: Spill = lambda _text: None) -> HookOutcome:
    """What a JSON answer says; the same for commands and HTTP."""
    specific: Any = answer.get("hookSpecificOutput")
    own: Json = dict(cast("Json", specific)) if isinstance(specific, dict) else {}
    if own and own.get("hookEventName", event) != event:
        text = f"hookSpecificOutput is for {own.get('hookEventName')!r}, but the event is {event}; it is ignored"
        return HookOutcome(status="error", text=text)
    message = _cut(_text(answer.get("systemMessage")), spill)
    sequence = terminal_sequences.allowed(answer.get("terminalSequence"))
    context = _cut(_text(own.get("additionalContext")), spill)
    if answer.get("continue") is False:
        text = _cut(_text(answer.get("stopReason")), spill) or "A hook stopped the turn."
        return HookOutcome(
            status="prevented",
            text=text,
            context=context,
            system_message=message,
            specific=own,
            terminal_sequence=sequence,
        )
    made = HookOutcome(context=context, system_message=message, specific=own, terminal_sequence=sequence)
    if event == "PermissionRequest":
        return _permission_request(made, own, spill)
    if event in ("PreToolUse", "PreModelSwitch"):
        decided = _decided(answer, own)
        if decided is not None:
            if decided == "defer":  # the call waits as it is
                return replace(made, decision=decided, context="")
            updated: Any = own.get("updatedInput")
            given = cast("Json", updated) if isinstance(updated, dict) else None
            text = _cut(_text(own.get("permissionDecisionReason")) or _reason(answer), spill)
            return replace(made, decision=decided, updated_input=given, text=text)
        updated = own.get("updatedInput")
        return replace(made, updated_input=cast("Json", updated)) if isinstance(updated, dict) else made
    if answer.get("decision") == "block" and event not in _CANNOT_BLOCK:
        return replace(made, status="blocked", text=_cut(_reason(answer), spill) or "A hook blocked this.")
    return made


def from_verdict(event: HookEvent, text: str, *, ends_turn: bool) -> HookOutcome:
    """The answer of a prompt or an agent: `{ok, reason, impossible?}`."""
    answer = _verdict(text)
    if answer is None:
        shown = text.strip()[:200]
        return HookOutcome(status="error", text=f"the model did not answer with ok and reason: {shown}")
    reason = _text(answer.get("reason"))
    impossible = event in ("Stop", "SubagentStop") and answer.get("impossible") is True
    if answer["ok"] or impossible or event == "PermissionDenied":  # which was denied already
        return HookOutcome(text=reason[:LONGEST], output=text[:SHOWN])
    reason = reason[:LONGEST] or "A hook refused this."
    if event == "PermissionRequest":
        return HookOutcome(decision="deny", text=reason, output=text[:SHOWN])
    ends_turn = ends_turn and event in _VERDICT_ENDS_THE_TURN
    status: Literal["prevented", "blocked"] = "prevented" if ends_turn else "blocked"
    decision: PermissionDecision | None = "deny" if event == "PreToolUse" else None
    return HookOutcome(status=status, decision=decision, text=reason, output=text[:SHOWN])


def failed(text: str, *, blocks: bool, timeout: bool = False, exit_code: int | None = None) -> HookOutcome:
    """It could not start, ran out of time or ended in an unexpected way."""
    if blocks:
        return HookOutcome(status="blocked", text=f"A hook that must not fail did: {text}", exit_code=exit_code)
    return HookOutcome(status="timeout" if timeout else "error", text=text, exit_code=exit_code)


def _permission_request(made: HookOutcome, own: Json, spill: Spill) -> HookOutcome:
    decision: Any = own.get("decision")
    if not isinstance(decision, dict):
        return made
    said = cast("Json", decision)
    behaviour = said.get("behavior")
    if behaviour not in ("allow", "deny"):
        return made
    updated: Any = said.get("updatedInput")
    return replace(
        made,
        decision=behaviour,
        text=_cut(_text(said.get("message")), spill),
        updated_input=cast("Json", updated) if isinstance(updated, dict) else None,
        interrupt=said.get("interrupt") is True,
    )


def _decided(answer: Json, own: Json) -> PermissionDecision | None:
    decision = own.get("permissionDecision")
    if decision in ("allow", "deny", "ask", "defer"):
        return decision
    match answer.get("decision"):  # as it was written before `permissionDecision`
        case "approve":
            return "allow"
        case "block":
            return "deny"
        case _:
            return None


def _verdict(text: str) -> Json | None:
    """The last object with `ok` in a model's answer: models put words and code fences around it."""
    found: Json | None = None
    at = text.find("{")
    while at >= 0:
        end = at + 1
        with contextlib.suppress(ValueError, RecursionError):
            value, end = _DECODER.raw_decode(text, at)
            if isinstance(value.get("ok"), bool):
                found = value
        at = text.find("{", end)
    return found


def _object(text: str) -> tuple[Json | None, str]:
    """A JSON object, or why text that looks like one is none."""
    text = text.strip()
    if not text.startswith("{"):
        return None, ""
    try:
        value: Any = lenient_json.loads(text.encode())
    except (ValueError, RecursionError) as error:
        return None, f"printed JSON that does not parse: {error}"
    return (cast("Json", value), "") if isinstance(value, dict) else (None, "")


def _reason(answer: Json | None) -> str:
    if answer is None:
        return ""
    own: Any = answer.get("hookSpecificOutput")
    inner = cast("Json", own) if isinstance(own, dict) else {}
    return (
        _text(answer.get("reason")) or _text(inner.get("permissionDecisionReason")) or _text(answer.get("stopReason"))
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _cut(text: str, spill: Spill) -> str:
    if len(text) <= LONGEST:
        return text
    place = spill(text)
    rest = f"the whole text is in {place}" if place else "the rest was not kept"
    return f"{text[:LONGEST]}\n[cut after {LONGEST} of {len(text)} characters; {rest}]"


def _shown(stdout: str, stderr: str) -> str:
    parts = [part.strip() for part in (stdout, stderr) if part.strip()]
    text = "\n".join(parts)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
