"""One proposal: the change of one file by one tool call, its hunks, and the JSON of it for the wire and for storage."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import anyio

from assent.editor.anchoring import context_of
from assent.editor.documents import Document
from assent.editor.hunks import STATES, Hunk, State
from assent.editor.line_choice import LineChoice
from assent.text.positions import Encoding, range_at
from assent.text.uris import path_of
from assent.text.visible import display_lines, visible
from assent.types.blocks import Json
from assent.types.ids import new_id
from assent.types.ports import EditPlan

Review = Literal["before", "after", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditOrigin:
    """Which conversation an edit belongs to; the hover tells the prompt."""

    session_id: str
    turn_id: str = ""
    prompt: str = ""


@dataclass(slots=True, kw_only=True)
class Proposal:
    uri: str
    path: str
    origin: EditOrigin
    review: Review
    tool: str
    tool_use_id: str
    reason: str
    base_hash: str  # sha256 of the text the change was made on
    creates: bool  # there was no file
    hunks: list[Hunk]
    target: str = ""  # where links led when it was planned
    proposal_id: str = field(default_factory=lambda: new_id("p"))
    message: str = ""  # what the person said with a decision
    shown: bool = False  # was published: nothing is told of a proposal that nobody has seen
    told: bool = False  # the tool has taken the outcome to the model; conflicts no longer come back to life
    changed: anyio.Event = field(default_factory=anyio.Event)

    @classmethod
    def of(
        cls, plan: EditPlan, origin: EditOrigin, review: Review, uri: str, base_hash: str, hunks: list[Hunk]
    ) -> "Proposal":
        return cls(
            uri=uri,
            path=plan.path,
            origin=origin,
            review=review,
            tool=plan.tool,
            tool_use_id=plan.tool_use_id,
            reason=plan.reason,
            base_hash=base_hash,
            creates=plan.before is None,
            hunks=hunks,
            target=plan.target,
        )

    def move(self, uri: str) -> None:
        """The user renamed the file: the change belongs to it under its new name, and where that leads now."""
        self.uri, self.path = uri, path_of(uri) or self.path
        self.target = os.path.realpath(self.path) if self.target else ""

    @property
    def open(self) -> bool:
        return any(hunk.open for hunk in self.hunks)

    @property
    def pending(self) -> bool:
        """A decision, or the landing of one, is still to come."""
        return any(hunk.state == "pending" for hunk in self.hunks)

    @property
    def made(self) -> bool:
        """Something of it is in the file."""
        return any(hunk.made for hunk in self.hunks)

    @property
    def size(self) -> int:
        return sum(len(hunk.old_text) + len(hunk.new_text) for hunk in self.hunks)

    def hunk(self, hunk_id: str) -> Hunk | None:
        return next((hunk for hunk in self.hunks if hunk.hunk_id == hunk_id), None)


def on_wire(proposal: Proposal, document: Document, encoding: Encoding) -> Json:
    """protocol.md's object, with what a client may want besides."""
    text, lines = document.text, document.lines
    return {
        "proposalId": proposal.proposal_id,
        "uri": document.client_uri,
        "version": document.version,
        "baseHash": proposal.base_hash,
        "hunks": [
            {
                "hunkId": hunk.hunk_id,
                "range": range_at(text, lines, hunk.start, hunk.end, encoding),
                "oldText": hunk.old_text,
                "newText": hunk.new_text,
                "state": hunk.state,
                "open": hunk.open,
            }
            | _displayed(hunk)
            | ({} if hunk.placed is None else {"placed": hunk.placed})
            | ({"why": hunk.why} if hunk.why else {})
            for hunk in proposal.hunks
        ],
        "tool": proposal.tool,
        "reason": visible(proposal.reason),
        "sessionId": proposal.origin.session_id,
        "turnId": proposal.origin.turn_id,
        "toolUseId": proposal.tool_use_id,
        "review": proposal.review,
        "creates": proposal.creates,
    }


def _displayed(hunk: Hunk) -> Json:
    """Display text, where the text itself must not be shown to someone who decides on it."""
    shown = {"oldDisplay": display_lines(hunk.old_text), "newDisplay": display_lines(hunk.new_text)}
    return {name: text for name, text in shown.items() if text is not None}


def to_json(proposal: Proposal, document: Document) -> Json:
    """For storage: offsets and the lines around each hunk, so that it can be found again in a changed file."""
    text = document.text
    return {
        "proposalId": proposal.proposal_id,
        "uri": proposal.uri,
        "path": proposal.path,
        "sessionId": proposal.origin.session_id,
        "turnId": proposal.origin.turn_id,
        "prompt": proposal.origin.prompt,
        "review": proposal.review,
        "tool": proposal.tool,
        "toolUseId": proposal.tool_use_id,
        "reason": proposal.reason,
        "baseHash": proposal.base_hash,
        "creates": proposal.creates,
        "target": proposal.target,
        "message": proposal.message,
        "shown": proposal.shown,
        "hunks": [
            {
                "hunkId": hunk.hunk_id,
                "start": hunk.start,
                "end": hunk.end,
                "oldText": hunk.old_text,
                "newText": hunk.new_text,
                "state": hunk.state,
                "decided": hunk.decided,
                "placed": hunk.placed,
                "lines": None if hunk.lines is None else hunk.lines.to_json(),
                "why": hunk.why,
                "context": context_of(text, document.lines, hunk.start, hunk.end),
                "here": text[hunk.start : hunk.end],
            }
            for hunk in proposal.hunks
        ],
    }


def from_json(raw: Mapping[str, Any]) -> tuple[Proposal, list[Json]]:
    """The proposal, and per hunk what `anchoring.anchor` needs to find it again. Raises on what is not one of ours."""
    stored = cast("list[Json]", raw["hunks"])
    hunks = [
        Hunk(
            hunk_id=str(item["hunkId"]),
            start=int(item["start"]),
            end=int(item["end"]),
            old_text=str(item["oldText"]),
            new_text=str(item["newText"]),
            state=_state(item["state"]),
            decided=bool(item.get("decided")),
            placed=None if item.get("placed") is None else str(item["placed"]),
            lines=None if item.get("lines") is None else LineChoice.from_json(item["lines"]),
            why=str(item.get("why", "")),
        )
        for item in stored
    ]
    proposal = Proposal(
        proposal_id=str(raw["proposalId"]),
        uri=str(raw["uri"]),
        path=str(raw["path"]),
        origin=EditOrigin(
            session_id=str(raw["sessionId"]),
            turn_id=str(raw.get("turnId", "")),
            prompt=str(raw.get("prompt", "")),
        ),
        review=_review(raw.get("review")),
        tool=str(raw.get("tool", "")),
        tool_use_id=str(raw.get("toolUseId", "")),
        reason=str(raw.get("reason", "")),
        base_hash=str(raw.get("baseHash", "")),
        creates=bool(raw.get("creates")),
        target=str(raw.get("target", "")),
        message=str(raw.get("message", "")),
        hunks=hunks,
        shown=raw.get("shown") is not False,
        told=True,  # the call that proposed it died with its process
    )
    return proposal, stored


def _state(raw: object) -> State:
    for state in STATES:
        if raw == state:
            return state
    raise ValueError(f"no such hunk state: {raw!r}")


def _review(raw: object) -> Review:
    return raw if raw in ("before", "after", "off") else "before"
