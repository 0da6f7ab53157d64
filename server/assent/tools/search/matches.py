"""What a search found, put in order and into words: newest files first, at most so many entries.

Fed by ripgrep's output or by the plain search; runs in a worker thread. Knows no processes.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from assent.text.words import counted
from assent.tools.search.newest import Dated
from assent.tools.search.patterns import compiled
from assent.tools.search.ripgrep import HERE, joined, plain, shown_path
from assent.tools.tool import ToolOutput
from assent.types.blocks import Json

MOST = 250  # entries shown unless head_limit says otherwise
CHARACTERS = 28_000
COLUMNS = 500

Mode = Literal["content", "files_with_matches", "count"]
Found = dict[str, list[str]]
"""By name: nothing, a count, or lines as `12:text` (a match) and `13-text` (its surroundings), `--` between groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """What was searched for and how it is to be shown."""

    pattern: str
    mode: Mode
    base: str
    folder: str  # what names are relative to: the base, or the folder that holds it
    cwd: str
    glob: str | None = None
    numbers: bool = True
    context: bool = False
    limit: int | None = None  # None: a sensible one; 0: only by characters
    may_read: Callable[[str], bool] | None = None
    # By name, what the editor's unsaved texts give in place of the files; None: nothing matches there.
    unsaved: Mapping[str, list[str] | None] = field(default_factory=dict[str, "list[str] | None"])

    def told_from(self, chunks: Iterator[bytes]) -> ToolOutput:
        """ripgrep's output, with zero bytes after names. Each file's age is looked at while the search goes on."""
        with Dated[str](self.folder) as dated:
            found: Found = {}
            for names in parsed(chunks, self.mode, found):
                dated.add(names if self._shows_all else [name for name in names if self._on_disk(name)])
            return self._told(found, dated)

    def told(self, found: Found) -> ToolOutput:
        with Dated[str](self.folder) as dated:
            dated.add([name for name in found if self._on_disk(name)])
            return self._told(found, dated)

    def _told(self, found: Found, dated: Dated[str]) -> ToolOutput:
        for name, entries in self.unsaved.items():
            if entries is not None and self._includes(name):
                found[name] = entries
                dated.add_unsaved([name])
        if not dated.names:
            return ToolOutput(
                content=f"Nothing matches {self.pattern!r} in {self.base}",
                summary="no matches",
                response=lambda: self._response([], {}, []),
            )
        limit = MOST if self.limit is None else self.limit or CHARACTERS
        shown: list[str] = []
        size = 0
        cut = False
        for entry in self._entries(dated.newest(limit + 1), found):
            if len(shown) >= limit or size > CHARACTERS:
                cut = True
                break
            shown.append(entry)
            size += len(entry) + 1
        total = self._total(dated.names, found)
        note = [f"[Cut here: {total} in all. Narrow the search, or raise head_limit]"] if cut else []
        return ToolOutput(
            content="\n".join([*shown, *note]),
            summary=total,
            response=lambda: self._response(list(dated.names), found, shown),
        )

    def _response(self, names: list[str], found: Found, shown: list[str]) -> Json:
        said: Json = {"mode": self.mode, "numFiles": len(names), "filenames": []}
        match self.mode:
            case "files_with_matches":
                return {**said, "numFiles": len(shown), "filenames": shown, "totalFiles": len(names)}
            case "count":
                return {**said, "content": "\n".join(shown), "numMatches": self._counted(names, found)}
            case "content":
                text = {"content": "\n".join(shown), "numLines": sum(entry != "--" for entry in shown)}
                return {**said, **text, "totalLines": self._counted(names, found)}

    @property
    def _shows_all(self) -> bool:
        return self.glob is None and self.may_read is None and not self.unsaved

    def _on_disk(self, name: str) -> bool:
        return name not in self.unsaved and self._includes(name)

    def _includes(self, name: str) -> bool:
        if self.glob:
            if self.glob.startswith("!"):
                if compiled(self.glob[1:]).fullmatch(name):
                    return False
            elif not compiled(self.glob).fullmatch(name):
                return False
        return self.may_read is None or self.may_read(joined(self.folder, name))

    def _entries(self, names: list[str], found: Found) -> Iterator[str]:
        for number, name in enumerate(names):
            path = shown_path(joined(self.folder, name), self.cwd)
            match self.mode:
                case "files_with_matches":
                    yield path
                case "count":
                    yield f"{path}:{found[name][0]}"
                case "content":
                    if self.context and number:
                        yield "--"
                    for line in found[name]:
                        yield line if line == "--" else _line(path, line, numbers=self.numbers)

    def _total(self, names: list[str], found: Found) -> str:
        match self.mode:
            case "files_with_matches":
                return counted(len(names), "file")
            case "count":
                return f"{counted(self._counted(names, found), 'match')} in {counted(len(names), 'file')}"
            case "content":
                return f"{counted(self._counted(names, found), 'line')} in {counted(len(names), 'file')}"

    def _counted(self, names: list[str], found: Found) -> int:
        """Matches, or lines of a search that shows lines."""
        if self.mode == "count":
            return sum(int(found[name][0]) for name in names)
        return sum(line != "--" for name in names for line in found[name])


def found_in(chunks: Iterator[bytes], mode: Mode) -> Found:
    """All of ripgrep's output, in no order."""
    found: Found = {}
    for names in parsed(chunks, mode, found):
        for name in names:
            found.setdefault(name, [])
    return found


def parsed(chunks: Iterator[bytes], mode: Mode, found: Found) -> Iterator[list[str]]:
    """Fills `found` as the output comes, and gives the names that are new in it."""
    if mode == "files_with_matches":
        rest = b""
        for chunk in chunks:
            *whole, rest = (rest + chunk).split(b"\0")
            yield [os.fsdecode(name).removeprefix(HERE) for name in whole]
        return
    last, apart = "", False
    entries: list[str] = []
    for lines in _lines(chunks):
        new: list[str] = []
        for line in lines:
            name, zero, rest = line.partition("\0")
            if not zero:  # `--` between groups of lines
                apart = True
                continue
            if name != last:
                last, apart, short = name, False, name.removeprefix(HERE)
                if short not in found:
                    found[short] = []
                    new.append(short)
                entries = found[short]
            elif apart:
                entries.append("--")
                apart = False
            entries.append(rest)
        yield new


def _lines(chunks: Iterator[bytes]) -> Iterator[list[str]]:
    """Whole lines, as they come; a last one that was cut off is dropped."""
    rest = b""
    for chunk in chunks:
        whole, end, rest = (rest + chunk).rpartition(b"\n")
        if end:
            yield os.fsdecode(whole).split("\n")


def _line(name: str, line: str, *, numbers: bool) -> str:
    digits = len(line) - len(line.lstrip("0123456789"))
    mark = line[digits : digits + 1]
    text = plain(line.rstrip("\r") if numbers else line[digits + 1 :].rstrip("\r"))
    return f"{name}{mark}{text if len(text) <= COLUMNS else text[:COLUMNS] + ' […]'}"
