"""Where a block of lines that was only added or only removed is said to stand.

`a { }` after `a { }` can be told as `a { }` or as `} a {`: both make the same text. The place that reads best is where
the lines around its ends are indented least, the first of those; editors that draw a diff themselves choose the same.
"""

from bisect import bisect_left
from collections.abc import Sequence

from assent.text.diff import Block
from assent.text.lines import split_lines

_FARTHEST = 100  # lines


def slid(blocks: Sequence[Block], old: str, new: str) -> list[Block]:
    """The same changes, each in the place that reads best. None of them comes to touch its neighbour."""
    moved: list[Block] = []
    texts = {False: _Lines(old), True: _Lines(new)}
    for index, block in enumerate(blocks):
        added, removed = block.new_end > block.new_start, block.end > block.start
        if added == removed:
            moved.append(block)
            continue
        before = moved[-1] if moved else None
        after = blocks[index + 1] if index + 1 < len(blocks) else None
        first = 0 if before is None else (before.new_end if added else before.end)
        end = len(new if added else old) if after is None else (after.new_start if added else after.start)
        start, stop = (block.new_start, block.new_end) if added else (block.start, block.end)
        by = texts[added].best(start, stop, first + (before is not None), end - (after is not None))
        moved.append(Block(*(offset + by for offset in block)))
    return moved


class _Lines:
    def __init__(self, text: str) -> None:
        self.lines = split_lines(text)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def best(self, start: int, stop: int, first: int, end: int) -> int:
        """By how many characters the lines `[start, stop)` are best moved inside `[first, end)`."""
        s, e = bisect_left(self.starts, start), bisect_left(self.starts, stop)
        if self.starts[s] != start or self.starts[e] != stop:
            return 0
        up = 0
        while up < _FARTHEST and s - up > 0 and self.starts[s - up - 1] >= first and self._same(s - up - 1, e - up - 1):
            up += 1
        down = 0
        while down < _FARTHEST and e + down < len(self.lines) and self.starts[e + down + 1] <= end:
            if not self._same(s + down, e + down):
                break
            down += 1
        chosen = max(range(-up, down + 1), key=lambda by: (-self._indent(s + by, e + by), -by))
        return self.starts[s + chosen] - start

    def _same(self, one: int, other: int) -> bool:
        return self.lines[one] == self.lines[other]

    def _indent(self, s: int, e: int) -> int:
        """Of the lines around both ends, and around the place in the text without them."""
        above, first, last, below = self._at(s - 1), self._at(s), self._at(e - 1), self._at(e)
        return (above + first) + (last + below) + (above + below)

    def _at(self, line: int) -> int:
        if not 0 <= line < len(self.lines):
            return 0
        text = self.lines[line]
        return len(text) - len(text.lstrip(" \t"))
