"""What the text of an instruction file says beyond its words: `@path` imports, and comments that nobody should read.

Imports count outside of code. Reads no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_CODE = re.compile(
    r"^(?P<fence>```+|~~~+).*?^(?P=fence)[ \t]*$|(?P<ticks>`+)[^`\n]+(?P=ticks)", re.MULTILINE | re.DOTALL
)
_OPEN_FENCE = re.compile(r"^(```|~~~).*\Z", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"^[ \t]*<!--.*?-->[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_IMPORT = re.compile(r"(?<![\w@`/.])@(?P<path>(?:~/|/|\.{1,2}/|[\w.-])[^\s`'\"<>()\[\]{},;]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    path: str  # as written, `~` included
    line: int
    alone: bool  # nothing else stands on its line, so nobody means anything else by it


def imports(text: str) -> Iterator[Import]:
    """Every file that the text names with @, in order."""
    if "@" not in text:
        return
    for number, line in enumerate(_without_code(text).split("\n"), 1):
        if "@" not in line:
            continue
        for match in _IMPORT.finditer(line):
            path = match["path"].rstrip(".,:;!?*_")
            if path.strip("./~"):
                yield Import(path=path, line=number, alone=line.strip(" -*\t") == f"@{path}")


def without_comments(text: str) -> str:
    """Without HTML comments that stand on lines of their own; code keeps its."""
    if "<!--" not in text:
        return text
    pieces: list[str] = []
    at = 0
    for code in _CODE.finditer(text):
        pieces += [_COMMENT.sub("", text[at : code.start()]), code[0]]
        at = code.end()
    return "".join((*pieces, _COMMENT.sub("", text[at:])))


def _without_code(text: str) -> str:
    """Code blanked out, with its lines kept so that line numbers stay true."""
    blank = _CODE.sub(lambda match: "\n" * match[0].count("\n"), text)
    return _OPEN_FENCE.sub("", blank)
