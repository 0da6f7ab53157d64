"""One replacement in a text, by offsets, and the arithmetic of such replacements. Offsets count code points."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Splice(NamedTuple):
    """Replace `[start, end)` of the text it is applied to with `text`."""

    start: int
    end: int
    text: str

    @property
    def delta(self) -> int:
        return len(self.text) - (self.end - self.start)


def splice(text: str, change: Splice) -> str:
    return text[: change.start] + change.text + text[change.end :]


def apply_each(text: str, changes: Iterable[Splice]) -> str:
    """One after the other: each is in the coordinates its predecessors left behind."""
    for change in changes:
        text = splice(text, change)
    return text


def apply_together(text: str, changes: Sequence[Splice]) -> str:
    """All in the coordinates of `text`, ascending and apart, as the edits of one workspace edit are."""
    pieces: list[str] = []
    at = 0
    for change in changes:
        pieces.append(text[at : change.start])
        pieces.append(change.text)
        at = change.end
    pieces.append(text[at:])
    return "".join(pieces)


def in_sequence(changes: Sequence[Splice]) -> list[Splice]:
    """The same changes as `apply_together` takes, in the order and coordinates `apply_each` wants."""
    return list(reversed(changes))


def inverted(text: str, changes: Sequence[Splice]) -> list[Splice]:
    """What undoes `apply_together(text, changes)`, again as changes that apply together."""
    undo: list[Splice] = []
    drift = 0
    for change in changes:
        start = change.start + drift
        undo.append(Splice(start, start + len(change.text), text[change.start : change.end]))
        drift += change.delta
    return undo


def trimmed(text: str, change: Splice) -> Splice:
    """The change without the characters it replaces by themselves: clients may report more than was touched."""
    start, end, new = change
    length = min(end - start, len(new))
    head = 0
    while head < length and text[start + head] == new[head]:
        head += 1
    length -= head
    tail = 0
    while tail < length and text[end - 1 - tail] == new[len(new) - 1 - tail]:
        tail += 1
    if not head and not tail:
        return change
    return Splice(start + head, end - tail, new[head : len(new) - tail])
