"""Collapse: old spans of work are shown to the model as short summaries (C4).

A span is summarised in the background and staged. Staged spans change nothing until the window is nearly full; then
the oldest are committed, and on an overflow all that are left. A projection of the view only: people and the
transcript keep every message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assent.context.steps import as_text, steps
from assent.context.tokens import estimate, estimate_all
from assent.context.view import Reduced
from assent.types.blocks import text_block
from assent.types.messages import Attachment, ConversationMessage

KEEP_STEPS = 8  # the newest steps are never collapsed
SPAN_STEPS = 6
SPAN_SHARE = 0.05  # of the window: a span smaller than this waits until it is longer

INSTRUCTIONS = (
    "Below is a finished stretch of a coding session. Write what someone continuing the work must know of it, in at "
    "most 200 words: what was looked at and found (files with paths, symbols, line numbers), what was changed, "
    "decisions and their reasons, errors met and how they were solved. No introduction, no opinion on next steps."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Collapse:
    """One summarised span, named by the messages it stands for."""

    uuids: tuple[str, ...]
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CollapseSpan:
    messages: tuple[ConversationMessage, ...]

    @property
    def uuids(self) -> tuple[str, ...]:
        return tuple(message.uuid for message in self.messages)

    def prompt(self) -> str:
        return f"{INSTRUCTIONS}\n\n<stretch>\n{as_text(self.messages)}\n</stretch>"


def next_span(view: Sequence[ConversationMessage], staged: Sequence[Collapse], window: int) -> CollapseSpan | None:
    """The oldest stretch worth summarising that is not staged yet."""
    taken = {uuid for collapse in staged for uuid in collapse.uuids}
    run: list[ConversationMessage] = []
    length = 0
    last_end = -1
    for step in steps(view)[:-KEEP_STEPS]:
        part = view[step.start : step.end]
        if any(message.uuid in taken for message in part):
            run, length, last_end = [], 0, -1
            continue
        if last_end >= 0 and step.start != last_end:
            run, length = [], 0  # a prompt stands between: spans never swallow the user's words
        run.extend(part)
        length += 1
        last_end = step.end
        if length >= SPAN_STEPS and estimate_all(run) >= window * SPAN_SHARE:
            return CollapseSpan(messages=tuple(run))
    return None


def commit(
    view: Sequence[ConversationMessage], staged: Sequence[Collapse], *, tokens: int = 0, until: int | None = None
) -> tuple[Reduced, int]:
    """Put staged summaries in place, oldest first, until the view has at most `until` tokens; without it, all of them.

    Gives how many were committed.
    """
    current = Reduced(view=tuple(view))
    committed = 0
    for collapse in staged:
        if until is not None and tokens - current.freed <= until:
            break
        projected = _project(current.view, collapse)
        current = replace(
            projected, freed=current.freed + projected.freed, changed=current.changed or projected.changed
        )
        committed += 1
    return current, committed


def still_there(view: Sequence[ConversationMessage], staged: Sequence[Collapse]) -> tuple[Collapse, ...]:
    """Staged spans all of whose messages are in view."""
    present = {message.uuid for message in view}
    return tuple(collapse for collapse in staged if all(uuid in present for uuid in collapse.uuids))


def _project(view: Sequence[ConversationMessage], collapse: Collapse) -> Reduced:
    inside = set(collapse.uuids)
    gone = [message for message in view if message.uuid in inside]
    if len(gone) != len(collapse.uuids):
        return Reduced(view=tuple(view))
    text = f"[Earlier work, summarised. The full record is kept.]\n{collapse.summary}"
    stand_in = Attachment(uuid=gone[0].uuid, kind="collapsed", content=(text_block(text),), timestamp=gone[0].timestamp)
    out: list[ConversationMessage] = []
    placed = False
    for message in view:
        if message.uuid not in inside:
            out.append(message)
        elif not placed:
            placed = True
            out.append(stand_in)
    freed = max(0, estimate_all(gone) - estimate(stand_in))
    return Reduced(view=tuple(out), freed=freed, changed=True)
