"""Hunks: the pieces of a proposed change that are decided one by one.

A hunk is made once, from whole lines, and keeps its id through every rebase; it is never split or merged afterwards.
`[start, end)` is where it stands in the document now: over `old_text` while it is pending, over what landed after.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from assent.editor.line_choice import LineChoice
from assent.text.diff import Block, changed_blocks
from assent.text.lines import split_lines
from assent.text.sliding import slid
from assent.text.visible import readable
from assent.types.ids import new_id

State = Literal["pending", "landed", "accepted", "edited", "rejected", "reverted", "conflict", "superseded"]
STATES: tuple[State, ...] = (
    "pending",
    "landed",
    "accepted",
    "edited",
    "rejected",
    "reverted",
    "conflict",
    "superseded",
)

_MOST_HUNKS = 200  # more than anyone decides one by one; the nearest are then joined before they are shown
_MERGE_LINES = 3


@dataclass(frozen=True, slots=True)
class Target:
    """Text on its way into the document, and what the hunk will be once it is there."""

    text: str
    state: State


@dataclass(slots=True, kw_only=True)
class Hunk:
    start: int
    end: int
    old_text: str
    new_text: str
    hunk_id: str = field(default_factory=lambda: new_id("h"))
    state: State = "pending"
    decided: bool = False  # by a person, or by the text itself having become `new_text`
    placed: str | None = None  # what was put into the document when it is not `new_text`: the person's words
    target: Target | None = None  # while our edit is under way
    lines: LineChoice | None = None  # when only these lines of it were accepted
    why: str = ""  # a conflict in words, when it is not the person's typing

    @property
    def open(self) -> bool:
        """Still wants a decision, or can still be taken back."""
        return not self.decided and self.state in ("pending", "landed", "edited", "conflict")

    @property
    def made(self) -> bool:
        return self.state in ("accepted", "landed", "edited")

    @property
    def landed_text(self) -> str:
        return self.new_text if self.placed is None else self.placed


def make_hunks(old: str, new: str) -> list[Hunk]:
    """The change from `old` to `new` as hunks over `old`."""
    return [
        Hunk(
            start=block.start,
            end=block.end,
            old_text=old[block.start : block.end],
            new_text=new[block.new_start : block.new_end],
        )
        for block in _grouped(slid(changed_blocks(old, new), old, new), old, new)
    ]


def short_diff(hunk: Hunk, *, most: int = 12) -> str:
    """Removed and added lines with their signs; the middle is left out when there are many."""
    lines = ["-" + readable(_bare(line)) for line in split_lines(hunk.old_text)]
    lines += ["+" + readable(_bare(line)) for line in split_lines(hunk.new_text)]
    if not lines:
        return "(line ends only)"
    if len(lines) > most:
        cut = len(lines) - most + 1
        lines[most // 2 : most // 2 + cut] = [f"… {cut} more lines …"]
    return "\n".join(lines)


def counts(hunk: Hunk) -> str:
    return f"-{len(split_lines(hunk.old_text))} +{len(split_lines(hunk.new_text))}"


def _grouped(blocks: Sequence[Block], old: str, new: str) -> list[Block]:
    """Join neighbours that only a brace or a blank line keeps apart, when both are rewrites of some size: read one by
    one they would make no sense. Small changes stay apart, so that each can be decided alone."""
    grouped = _joined(blocks, lambda before, after: _belong_together(before, after, old, new))
    if len(grouped) > _MOST_HUNKS:
        gaps = sorted(after.start - before.end for before, after in pairwise(grouped))
        limit = gaps[len(grouped) - _MOST_HUNKS - 1]
        grouped = _joined(grouped, lambda before, after: after.start - before.end <= limit)
    return grouped


def _joined(blocks: Sequence[Block], together: Callable[[Block, Block], bool]) -> list[Block]:
    joined: list[Block] = []
    for block in blocks:
        if joined and together(joined[-1], block):
            last = joined.pop()
            joined.append(Block(last.start, block.end, last.new_start, block.new_end))
        else:
            joined.append(block)
    return joined


def _belong_together(before: Block, after: Block, old: str, new: str) -> bool:
    between = old[before.end : after.start]
    if any(char.isalnum() for char in between) or len(between.split()) > 2:
        return False
    return all(
        max(old.count("\n", block.start, block.end), new.count("\n", block.new_start, block.new_end)) >= _MERGE_LINES
        for block in (before, after)
    )


def _bare(line: str) -> str:
    return line.rstrip("\r\n")
