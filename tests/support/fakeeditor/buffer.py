"""A text buffer as an editor keeps it: characters with an identity, so that a test can say which one was lost."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class Char:
    """One code point; `by_user` when a person typed it. Equal only to itself."""

    text: str
    by_user: bool


class Buffer:
    def __init__(self, text: str) -> None:
        self.chars = [Char(char, False) for char in text]
        self._done: list[list[Char]] = []
        self._undone: list[list[Char]] = []

    @property
    def text(self) -> str:
        return "".join(char.text for char in self.chars)

    def replace(self, start: int, end: int, text: str, *, by_user: bool) -> None:
        """One undo step."""
        self.replace_many([(start, end, text)], by_user=by_user)

    def replace_many(self, edits: list[tuple[int, int, str]], *, by_user: bool) -> None:
        """All in today's offsets, one undo step, as an editor makes a workspace edit."""
        self._done.append(list(self.chars))
        self._undone.clear()
        for start, end, text in sorted(edits, reverse=True):
            self.chars[start:end] = [Char(char, by_user) for char in text]

    def undo(self) -> bool:
        if not self._done:
            return False
        self._undone.append(self.chars)
        self.chars = self._done.pop()
        return True

    def redo(self) -> bool:
        if not self._undone:
            return False
        self._done.append(self.chars)
        self.chars = self._undone.pop()
        return True


def offset_of(text: str, position: dict[str, Any], encoding: str) -> int:
    """The obvious way: walk the text, count lines, then count units."""
    line, at = 0, 0
    while line < position["line"]:
        if at >= len(text):
            return len(text)
        if text[at] == "\r" and text[at + 1 : at + 2] == "\n":
            at += 2
            line += 1
        elif text[at] in "\r\n":
            at += 1
            line += 1
        else:
            at += 1
    units = 0
    while at < len(text) and text[at] not in "\r\n" and units < position["character"]:
        units += width(text[at], encoding)
        at += 1
    return at


def position_of(text: str, offset: int, encoding: str) -> dict[str, int]:
    line, units, at = 0, 0, 0
    while at < offset:
        if text[at] == "\r" and text[at + 1 : at + 2] == "\n":
            if at + 1 == offset:
                raise ValueError("no position lies between \\r and \\n")
            at += 2
            line, units = line + 1, 0
        elif text[at] in "\r\n":
            at += 1
            line, units = line + 1, 0
        else:
            units += width(text[at], encoding)
            at += 1
    return {"line": line, "character": units}


def width(char: str, encoding: str) -> int:
    if encoding == "utf-32":
        return 1
    if encoding == "utf-16":
        return 2 if ord(char) > 0xFFFF else 1
    return len(char.encode("utf-8", "surrogatepass"))
