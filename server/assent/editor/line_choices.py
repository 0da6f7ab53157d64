"""Decisions as they come from the wire, checked and bound to the hunks they name; and back again for events."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from assent.editor.decisions import Choice, Verb
from assent.editor.hunks import Hunk
from assent.editor.line_choice import LineChoice, read_lines
from assent.editor.proposal import Proposal
from assent.types.blocks import Json
from assent.types.errors import ProtocolError


def choices_of(
    proposal: Proposal, decisions: Sequence[Json | str] | Mapping[str, Any], unnamed: Literal["pending", "reject"]
) -> list[Choice]:
    """What was decided, at most once per hunk: of two decisions on one hunk the later counts."""
    if isinstance(decisions, Mapping):
        verb = _verb(decisions.get("all"), allowed=("accept", "reject"))
        return [Choice(hunk=hunk, verb=verb) for hunk in proposal.hunks if hunk.open]
    choices: dict[str, Choice] = {}
    for raw in decisions:
        item = {"hunkId": raw, "decision": "accept"} if isinstance(raw, str) else _object(raw)
        hunk = proposal.hunk(str(item.get("hunkId")))
        if hunk is None:
            raise ProtocolError(
                "unknownHunk",
                f"Proposal {proposal.proposal_id} has no hunk {item.get('hunkId')}",
                hint="Its hunks are in data.hunkIds",
                data={"hunkIds": [known.hunk_id for known in proposal.hunks]},
            )
        verb = _verb(item.get("decision"), allowed=("accept", "reject", "edit", "reopen"))
        new_text = item.get("newText")
        if verb == "edit" and not isinstance(new_text, str):
            raise ProtocolError("invalidParams", "An edit decision needs newText", hint="newText is a string")
        choices[hunk.hunk_id] = Choice(
            hunk=hunk,
            verb=verb,
            new_text=new_text if isinstance(new_text, str) else "",
            lines=_lines(item.get("lines"), hunk, verb),
            landed_first=proposal.review == "after",
        )
    if unnamed == "reject":
        for hunk in proposal.hunks:
            if hunk.open:
                choices.setdefault(hunk.hunk_id, Choice(hunk=hunk, verb="reject"))
    return list(choices.values())


def _lines(raw: object, hunk: Hunk, verb: Verb) -> LineChoice | None:
    if raw is None:
        return None
    if verb != "accept":
        raise ProtocolError("invalidParams", "Only an accept takes lines", hint="Leave the lines out, or accept them.")
    return read_lines(raw, hunk.old_text, hunk.new_text)


def _object(raw: object) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise ProtocolError("invalidParams", f"Not a decision: {raw!r}", hint="{hunkId, decision, newText?, lines?}")
    return cast("Mapping[str, Any]", raw)


def _verb(raw: object, *, allowed: tuple[Verb, ...]) -> Verb:
    for verb in allowed:
        if raw == verb:
            return verb
    raise ProtocolError("invalidParams", f"Not a decision: {raw!r}", hint=f"One of {', '.join(allowed)}")


def told_of(choice: Choice) -> Json:
    hunk = choice.hunk
    in_part = choice.lines is not None and hunk.state == "edited"
    told: Json = {"hunkId": hunk.hunk_id, "decision": "edit" if in_part else choice.verb}
    return told | ({"newText": hunk.landed_text} if told["decision"] == "edit" else {})
