"""What a search found, put in order and into words: newest files first, at most so many entries.

Fed by ripgrep's output or by the plain search; runs in a worker thread. Knows no processes.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from assent.tools.glob_pattern import compiled
from assent.tools.ripgrep import newest_first, plain, shown_path
from assent.tools.tool import ToolOutput
from assent.tools.words import counted

MOST = 250  # entries shown unless head_limit says otherwise
CHARACTERS = 28_000
COLUMNS = 500

Mode = Literal["content", "files_with_matches", "count"]
Found = dict[str, list[str]]
"""By path: nothing, a count, or lines as `12:text` (a match) and `13-text` (its surroundings), `--` between groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What was searched for and how it is to be shown."""

    pattern: str
    mode: Mode
    base: str
    cwd: str
    glob: str | None = None
    numbers: bool = True
    context: bool = False
    limit: int | None = None  # None: a sensible one; 0: only by characters
    may_read: Callable[[str], bool] | None = None

    def told_from(self, chunks: Iterator[bytes]) -> ToolOutput:
        """ripgrep's output, with zero bytes after paths."""
        return self.told(parsed(chunks, self.mode))

    def told(self, found: Found) -> ToolOutput:
        paths = [path for path in found if self._includes(path)]
        if not paths:
            return ToolOutput(content=f"Nothing matches {self.pattern!r} in {self.base}", summary="no matches")
        paths = newest_first(paths)
        limit = MOST if self.limit is None else self.limit or CHARACTERS
        shown: list[str] = []
        size = 0
        cut = False
        for entry in self._entries(paths, found):
            if len(shown) >= limit or size > CHARACTERS:
                cut = True
                break
            shown.append(entry)
            size += len(entry) + 1
        total = self._total(paths, found)
        if cut:
            shown.append(f"[Cut here: {total} in all. Narrow the search, or raise head_limit]")
        return ToolOutput(content="\n".join(shown), summary=total)

    def _includes(self, path: str) -> bool:
        if self.glob:
            relative = path[len(self.base) :].lstrip("/") or os.path.basename(path)  # noqa: PTH119 -- many, quickly
            if self.glob.startswith("!"):
                if compiled(self.glob[1:]).fullmatch(relative):
                    return False
            elif not compiled(self.glob).fullmatch(relative):
                return False
        return self.may_read is None or self.may_read(path)

    def _entries(self, paths: list[str], found: Found) -> Iterator[str]:
        for number, path in enumerate(paths):
            name = shown_path(path, self.cwd)
            match self.mode:
                case "files_with_matches":
                    yield name
                case "count":
                    yield f"{name}:{found[path][0]}"
                case "content":
                    if self.context and number:
                        yield "--"
                    for line in found[path]:
                        yield line if line == "--" else _line(name, line, numbers=self.numbers)

    def _total(self, paths: list[str], found: Found) -> str:
        match self.mode:
            case "files_with_matches":
                return counted(len(paths), "file")
            case "count":
                matches = sum(int(found[path][0]) for path in paths)
                return f"{counted(matches, 'match')} in {counted(len(paths), 'file')}"
            case "content":
                lines = sum(line != "--" for path in paths for line in found[path])
                return f"{counted(lines, 'line')} in {counted(len(paths), 'file')}"


def parsed(chunks: Iterator[bytes], mode: Mode) -> Found:
    if mode == "files_with_matches":
        return {os.fsdecode(path): [] for path in b"".join(chunks).split(b"\0")[:-1]}
    found: Found = {}
    last = ""
    apart = False
    for line in _lines(chunks):
        path, zero, rest = line.partition("\0")
        if not zero:  # `--` between groups of lines
            apart = True
            continue
        lines = found.setdefault(path, [])
        if apart and path == last:
            lines.append("--")
        lines.append(rest)
        last, apart = path, False
    return found


def _lines(chunks: Iterator[bytes]) -> Iterator[str]:
    """Whole lines, as they come; a last one that was cut off is dropped."""
    rest = b""
    for chunk in chunks:
        whole, end, rest = (rest + chunk).rpartition(b"\n")
        if end:
            yield from os.fsdecode(whole).split("\n")


def _line(name: str, line: str, *, numbers: bool) -> str:
    digits = len(line) - len(line.lstrip("0123456789"))
    mark = line[digits : digits + 1]
    text = plain(line.rstrip("\r") if numbers else line[digits + 1 :].rstrip("\r"))
    return f"{name}{mark}{text if len(text) <= COLUMNS else text[:COLUMNS] + ' […]'}"
