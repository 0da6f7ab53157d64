"""Lines of a text as LSP counts them: they end at \\n, \\r\\n and \\r, and at nothing else (never U+2028, FF, NEL).

`LineIndex` follows a text change by change. Typing shifts every line start after the cursor; instead of touching
them all, the index remembers one shift from one line on, so a keystroke near the last one costs nothing.
"""

import re
from bisect import bisect_right
from itertools import accumulate

from assent.text.splices import Splice

_EOL = re.compile(r"\r\n|\r|\n")


def split_lines(text: str) -> list[str]:
    """The lines with their ends; joined they give the text back. The last one is absent when it would be empty."""
    if "\r" not in text:
        lines = [line + "\n" for line in text.split("\n")]
        lines[-1] = lines[-1][:-1]
        return lines if lines[-1] else lines[:-1]
    lines: list[str] = []
    at = 0
    for end in _EOL.finditer(text):
        lines.append(text[at : end.end()])
        at = end.end()
    if at < len(text):
        lines.append(text[at:])
    return lines


def uniform_eol(text: str) -> str | None:
    """The one line end the text uses, or None when it has several or none."""
    found = set(_EOL.findall(text)) if "\r" in text else ({"\n"} if "\n" in text else set[str]())
    return found.pop() if len(found) == 1 else None


def with_eol(text: str, eol: str) -> str:
    return _EOL.sub(lambda _: eol, text) if "\r" in text or eol != "\n" else text


def same_but_for_eol(one: str, other: str) -> bool:
    """Editors rewrite line ends to the buffer's own; what differs only so is the same text to everyone."""
    if one == other:
        return True
    if "\r" not in one and "\r" not in other:
        return False
    return with_eol(one, "\n") == with_eol(other, "\n")


def ends_line(text: str) -> bool:
    return text.endswith(("\n", "\r"))


def at_line_start(text: str, offset: int) -> bool:
    if offset == 0:
        return True
    before = text[offset - 1]
    return before == "\n" or (before == "\r" and text[offset : offset + 1] != "\n")


class LineIndex:
    """Where each line of one text starts."""

    __slots__ = ("_from", "_shift", "_starts")

    def __init__(self, text: str) -> None:
        self._starts = [0]
        if "\r" in text:
            self._starts.extend(end.end() for end in _EOL.finditer(text))
        else:
            self._starts.extend(accumulate(len(line) + 1 for line in text.split("\n")))
            self._starts.pop()
        self._from = len(self._starts)  # starts from this line on are kept without `_shift`
        self._shift = 0

    def __len__(self) -> int:
        return len(self._starts)

    def start(self, line: int) -> int:
        start = self._starts[line]
        return start + self._shift if line >= self._from else start

    def line_of(self, offset: int) -> int:
        gap = self._from
        if gap < len(self._starts) and offset >= self._starts[gap] + self._shift:
            return bisect_right(self._starts, offset - self._shift, lo=gap) - 1
        return bisect_right(self._starts, offset, hi=gap) - 1

    def content_end(self, text: str, line: int) -> int:
        """Where the line ends, its line end left out."""
        if line + 1 >= len(self._starts):
            return len(text)
        end = self.start(line + 1) - 1
        if text[end] == "\n" and end > self.start(line) and text[end - 1] == "\r":
            end -= 1
        return end

    def follow(self, before: str, change: Splice, after: str) -> None:
        """The text `before` became `after` by `change`."""
        first = self.line_of(change.start)
        # A \n typed right after a lone \r makes one line end of the two, so the line before is looked at again.
        if first and change.start == self.start(first) and before[change.start - 1] == "\r":
            first -= 1
        last = self.line_of(change.end)
        begin = self.start(first)
        is_last = last + 1 >= len(self._starts)
        end = len(after) if is_last else self.start(last + 1) + change.delta
        fresh = [begin]
        fresh.extend(found.end() for found in _EOL.finditer(after, begin, end))
        if not is_last:
            fresh.pop()  # the start of the first untouched line, which the index still holds
        self._move_gap(last + 1)
        self._starts[first : last + 1] = fresh
        self._from = first + len(fresh)
        self._shift += change.delta

    def _move_gap(self, line: int) -> None:
        low, high = sorted((self._from, line))
        shift = self._shift if line > self._from else -self._shift
        if shift and low < high:
            self._starts[low:high] = [start + shift for start in self._starts[low:high]]
        self._from = line


def is_empty(text: str) -> bool:
    """Editors report the buffer of an empty file, or of one that is not there, as one line end: nobody typed that."""
    return text in ("", "\n", "\r\n", "\r")
