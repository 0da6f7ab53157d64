"""What the text of an instruction file says beyond its words: `@path` imports, and comments that nobody should read.

Imports count outside of code. Reads no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"(`{3,}|~{3,})")
_TICKS = re.compile(r"`+")
_COMMENT_BEGINS = re.compile(r"^[ \t]*+<!--", re.MULTILINE)
_COMMENT_ENDS = re.compile(r"-->[ \t]*+(?:\n|\Z)")
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
        bare = line.strip(" -*\t")
        for match in _IMPORT.finditer(line):
            path = match["path"].rstrip(".,:;!?*_")
            if path.strip("./~"):
                yield Import(path=path, line=number, alone=bare == f"@{path}")


def without_comments(text: str) -> str:
    """Without HTML comments that stand on lines of their own; code keeps its."""
    if "<!--" not in text:
        return text
    pieces: list[str] = []
    at = 0
    for start, end in _code(text)[0]:
        pieces += [_uncommented(text[at:start]), text[start:end]]
        at = end
    return "".join((*pieces, _uncommented(text[at:])))


def _uncommented(text: str) -> str:
    """Each text is gone through once: what a project's file holds must not decide how long that takes."""
    kept: list[str] = []
    ends = [found.end() for found in _COMMENT_ENDS.finditer(text)]
    at = number = 0
    for begin in _COMMENT_BEGINS.finditer(text):
        if begin.start() < at:
            continue
        while number < len(ends) and ends[number] < begin.end() + len("-->"):
            number += 1
        if number == len(ends):
            break
        kept.append(text[at : begin.start()])
        at = ends[number]
    return "".join((*kept, text[at:]))


def _without_code(text: str) -> str:
    """Code blanked out, with its lines kept so that line numbers stay true; what no fence closes is code to the end."""
    code, opened = _code(text)
    kept: list[str] = []
    at = 0
    for start, end in code:
        kept += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end
    return "".join((*kept, text[at : max(opened, at)]))


def _code(text: str) -> tuple[list[tuple[int, int]], int]:
    """Where fenced blocks and pieces between backticks stand, and where a fence opens that nothing closes."""
    lines = text.split("\n")
    marks = [_FENCE.match(line) for line in lines]
    closing = [
        mark is not None and not line[mark.end() :].strip(" \t") for mark, line in zip(marks, lines, strict=True)
    ]
    longest = {"`": 0, "~": 0}
    after: list[dict[str, int]] = [{}] * len(lines)  # the longest closing fence of each kind below a line
    for number in range(len(lines) - 1, -1, -1):
        after[number] = longest
        if closing[number] and (mark := marks[number]) is not None and len(mark[1]) > longest[mark[1][0]]:
            longest = {**longest, mark[1][0]: len(mark[1])}
    found: list[tuple[int, int]] = []
    begin, fence, opened, position = 0, "", len(text), 0
    for number, (line, mark) in enumerate(zip(lines, marks, strict=True)):
        if fence:
            if closing[number] and mark is not None and mark[1].startswith(fence):
                found.append((begin, position + len(line)))
                fence = ""
        elif mark is not None and after[number][mark[1][0]] >= len(mark[1]):
            begin, fence = position, mark[1]
        else:
            if mark is not None:
                opened = min(opened, position)
            found += ((position + start, position + end) for start, end in _ticked(line))
        position += len(line) + 1
    return found, opened


def _ticked(line: str) -> list[tuple[int, int]]:
    """`code` and ``code``: as many backticks after it as before, of a longer row the nearer ones."""
    found: list[tuple[int, int]] = []
    begin = end = 0  # the row of backticks that may open a piece
    for row in _TICKS.finditer(line):
        size = min(end - begin, row.end() - row.start())
        if size and row.start() > end:
            found.append((end - size, row.start() + size))
            begin, end = row.start() + size, row.end()
        else:
            begin, end = row.span()
    return found
