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
    if not new or start == end:
        return change
    old = text[start:end]
    head = common_prefix(old, new)
    tail = common_suffix(old, new, min(len(old), len(new)) - head)
    if not head and not tail:
        return change
    return Splice(start + head, end - tail, new[head : len(new) - tail])


def common_prefix(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:  # halving with slices: the comparing is done in C
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_suffix(one: str, other: str, limit: int) -> int:
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
