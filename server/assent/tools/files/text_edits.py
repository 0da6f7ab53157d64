"""LSP positions and edits over plain text: columns in the client's encoding, line ends \\n, \\r\\n and \\r only.

Pure functions over strings and JSON. What cannot be applied exactly is refused, never guessed.
"""

import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

from assent.text.uris import split
from assent.types.blocks import Json
from assent.types.errors import ToolError

_LINE_END = re.compile(r"\r\n|\n|\r")
_WIDTH: dict[str, Callable[[str], int]] = {  # of one character
    "utf-8": lambda c: len(c.encode("utf-8", "surrogatepass")),
    "utf-16": lambda c: 2 if ord(c) > 0xFFFF else 1,
    "utf-32": lambda _c: 1,
}


class Lines:
    """Where each line of a text begins and ends."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0]
        self._ends: list[int] = []
        for at in _LINE_END.finditer(text):
            self._ends.append(at.start())
            self._starts.append(at.end())
        self._ends.append(len(text))

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, line: int) -> str:
        return self.text[self._starts[line] : self._ends[line]]

    def offset(self, position: Mapping[str, Any], encoding: str) -> int:
        """The character an LSP position names; past the end of a line means its end."""
        line, units = int(position["line"]), int(position["character"])
        if line >= len(self):
            return len(self.text)
        content = self[line]
        if content.isascii():
            return self._starts[line] + min(units, len(content))
        width = _WIDTH[encoding]
        for index, c in enumerate(content):
            if units <= 0:
                return self._starts[line] + index
            units -= width(c)
        return self._ends[line]


def column(line: str, index: int, encoding: str) -> int:
    return sum(map(_WIDTH[encoding], line[:index]))


@contextmanager
def understood() -> Generator[None, None, None]:
    """What an editor answers is data from elsewhere: of the wrong shape, it is told and not stumbled over."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ToolError("The editor's answer cannot be understood; use Grep and Read instead") from error


def apply_edits(text: str, edits: list[Json], encoding: str) -> str:
    """The text after LSP TextEdits, which all refer to the text before. Overlapping ones are refused."""
    lines = Lines(text)
    ranges = [edit["range"] for edit in edits]
    spans = [
        (lines.offset(span["start"], encoding), lines.offset(span["end"], encoding), n) for n, span in enumerate(ranges)
    ]
    spans.sort()
    parts: list[str] = []
    position = 0
    for start, end, number in spans:
        if start < position or end < start:
            raise ToolError("The language server gave edits that overlap; nothing was changed")
        parts += (text[position:start], str(edits[number]["newText"]))
        position = end
    parts.append(text[position:])
    return "".join(parts)


def edits_by_path(edit: Json) -> dict[str, list[Json]]:
    """A WorkspaceEdit as edits of files. Creating, renaming and deleting files is refused, not left out silently."""
    found: dict[str, list[Json]] = {}
    for change in cast("list[Json]", edit.get("documentChanges") or []):
        if "kind" in change:
            raise ToolError(f"The language server wants to {change['kind']} a file with this, which is not done here")
        found.setdefault(path_of(change["textDocument"]["uri"]), []).extend(change["edits"])
    if not found:
        for uri, edits in cast("dict[str, list[Json]]", edit.get("changes") or {}).items():
            found.setdefault(path_of(uri), []).extend(edits)
    return found


def path_of(uri: str) -> str:
    parts = split(uri)
    if parts.scheme != "file":
        raise ToolError(f"{uri} is not a file")
    return unquote(parts.path)


def uri_of(path: str) -> str:
    return Path(path).as_uri()
