"""Accepting single lines of a hunk: which old lines go, which new lines come, and the text that makes.

Unselected old lines stay, unselected new ones are dropped. Kept old lines stand before the new lines that were to
replace them. Pure; `choices` reads the wire's ranges, `reports` tells the model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from assent.text.diff import changed_blocks
from assent.text.lines import ends_line, split_lines
from assent.types.blocks import Json
from assent.types.errors import ProtocolError


@dataclass(frozen=True, slots=True)
class LineChoice:
    """The selected lines of a hunk, by their numbers in its old and in its new text."""

    old: frozenset[int]
    new: frozenset[int]

    def to_json(self) -> Json:
        return {"old": sorted(self.old), "new": sorted(self.new)}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> "LineChoice":
        return cls(frozenset(map(int, saved["old"])), frozenset(map(int, saved["new"])))


def read_lines(raw: object, old_text: str, new_text: str) -> LineChoice:
    """`lines: {old: [[from, to)], new: [[from, to)]}` of a decision; raises invalidParams where it does not fit."""
    given: Mapping[str, Any] = cast("Mapping[str, Any]", raw) if isinstance(raw, Mapping) else {}
    return LineChoice(
        _selected(given.get("old", ()), len(split_lines(old_text)), "old"),
        _selected(given.get("new", ()), len(split_lines(new_text)), "new"),
    )


def chosen_text(old_text: str, new_text: str, lines: LineChoice, *, eol: str = "\n") -> str:
    """What stands in the file when only these lines of the change are made."""
    old, new = split_lines(old_text), split_lines(new_text)
    kept: list[str] = []
    i = j = 0
    for before, after in (*_steps(old_text, new_text, old, new), (len(old), len(new))):
        kept += [old[at] for at in range(i, before) if at not in lines.old]
        kept += [new[at] for at in range(j, after) if at in lines.new]
        i, j = before, after
    return "".join(line if ends_line(line) or at == len(kept) - 1 else line + eol for at, line in enumerate(kept))


def left_out(old_text: str, new_text: str, lines: LineChoice) -> tuple[list[str], list[str]]:
    """The old lines that stayed and the new lines that were dropped, without those that are the same in both."""
    stayed = [line for at, line in enumerate(split_lines(old_text)) if at not in lines.old]
    dropped = [line for at, line in enumerate(split_lines(new_text)) if at not in lines.new]
    for line in list(stayed):
        if line in dropped:  # a line that the change did not touch
            stayed.remove(line)
            dropped.remove(line)
    return stayed, dropped


def _steps(old_text: str, new_text: str, old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Where old and new lines meet again: after each changed block, and after each line that is the same."""
    starts_old, starts_new = _starts(old), _starts(new)
    found: list[tuple[int, int]] = []
    i = j = 0
    for block in changed_blocks(old_text, new_text):
        start, new_start = starts_old[block.start], starts_new[block.new_start]
        found += [(i + step, j + step) for step in range(1, start - i + 1)]
        i, j = starts_old[block.end], starts_new[block.new_end]
        assert start <= i and new_start <= j
        found.append((i, j))
    return found + [(i + step, j + step) for step in range(1, len(old) - i + 1)]


def _starts(lines: Sequence[str]) -> dict[int, int]:
    """The number of the line that starts at an offset; the end of the text starts one after the last."""
    found: dict[int, int] = {}
    offset = 0
    for number, line in enumerate(lines):
        found[offset] = number
        offset += len(line)
    found[offset] = len(lines)
    return found


def _selected(raw: object, count: int, side: str) -> frozenset[int]:
    ranges = cast("Sequence[object]", raw) if isinstance(raw, list | tuple) else [raw]
    selected: set[int] = set()
    for each in ranges:
        pair = cast("Sequence[object]", each) if isinstance(each, list | tuple) else ()
        match tuple(pair):
            case (int(start), int(end)) if 0 <= start <= end <= count:
                selected.update(range(start, end))
            case _:
                raise ProtocolError(
                    "invalidParams",
                    f"{each!r} is no range of the hunk's {count} {side} lines",
                    hint="A range is [from, to), counted from 0 inside the hunk.",
                    data={"path": f"$.decisions[...].lines.{side}"},
                )
    return frozenset(selected)
