"""The search tools without ripgrep: slower, and with the same answers.

Follows no links, skips what ignore rules leave out, and treats a file with a zero byte near its beginning as binary.
Runs in a worker thread; knows nothing of tools.
"""

import codecs
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from assent.tools.files import disk
from assent.tools.search.file_types import FILE_TYPES
from assent.tools.search.ignore_rules import Folder, folder_rules, rules_above
from assent.tools.search.patterns import compiled
from assent.tools.search.ripgrep import NEVER_SEARCHED, OUTPUT
from assent.types.errors import ToolError

_BINARY_LOOK = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What to look for, in the terms of Grep's input."""

    pattern: str
    mode: str = "files_with_matches"
    type: str | None = None
    ignore_case: bool = False
    multiline: bool = False
    before: int = 0
    after: int = 0


def files_below(start: str) -> list[str]:
    """Every file that is not ignored, absolute."""
    if not os.path.isdir(start):  # noqa: PTH112 -- strings throughout: a tree can hold many files
        return [start] if os.path.isfile(start) else []  # noqa: PTH113 -- as above
    return list(_walk(start.rstrip("/") or "/", rules_above(start)))


def matches_below(query: Query, base: str) -> tuple[dict[str, list[str]], bool]:
    """By path, what Grep needs: nothing, a count, or lines; and whether the search was complete."""
    explicit = not os.path.isdir(base)  # noqa: PTH112 -- as above
    return matches_in(query, files_below(base), explicit=explicit)


def matches_in(query: Query, paths: Iterable[str], *, explicit: bool) -> tuple[dict[str, list[str]], bool]:
    """The same for these files; one that was named is searched even if it is binary."""
    search = _searcher(query)
    wanted = _type_filter(query.type)
    found: dict[str, list[str]] = {}
    size = 0
    for path in paths:
        if not wanted(path):
            continue
        text = _text_of(path, query, binary_too=explicit)
        entries = search(text) if text is not None else None
        if entries is not None:
            found[path] = entries
            size += len(path) + sum(map(len, entries))
            if size > OUTPUT:
                return found, False
    return found, True


def _walk(folder: str, above: Folder | None) -> Iterator[str]:
    pending = [(folder, above)]
    while pending:
        path, parent = pending.pop()
        rules = folder_rules(path, parent)
        try:
            entries = list(os.scandir(path))
        except OSError:
            continue
        for entry in entries:
            if entry.name in NEVER_SEARCHED or entry.is_symlink():
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            full = f"{path.rstrip('/')}/{entry.name}"
            if rules.ignores(full, is_folder=is_folder):
                continue
            if is_folder:
                pending.append((full, rules))
            elif entry.is_file(follow_symlinks=False):
                yield full


def _type_filter(name: str | None) -> Callable[[str], bool]:
    if name is None:
        return lambda _path: True
    if name not in FILE_TYPES:
        raise ToolError(f"unrecognized file type: {name}. Without ripgrep these are known: {', '.join(FILE_TYPES)}")
    globs = [compiled(glob) for glob in FILE_TYPES[name]]
    return lambda path: any(glob.fullmatch(path.rpartition("/")[2]) for glob in globs)


def _text_of(path: str, query: Query, *, binary_too: bool) -> str | None:
    """The text ripgrep would search, or None: unreadable, too large, binary."""
    try:
        data = disk.read_bytes(path).data
    except ToolError:
        return None
    for bom, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(bom):
            return data[2:].decode(encoding, "replace")
    data = data.removeprefix(codecs.BOM_UTF8)
    if not binary_too and (zero := data.find(0)) >= 0:
        if zero < _BINARY_LOOK or query.mode == "count":
            return None
        data = data[: data.rfind(b"\n", 0, zero) + 1]
    return data.decode("utf-8", "surrogateescape")


def _searcher(query: Query) -> Callable[[str], list[str] | None]:
    flags = re.IGNORECASE if query.ignore_case else 0
    if query.multiline:
        flags |= re.MULTILINE | re.DOTALL
    try:
        pattern = re.compile(query.pattern, flags)
    except re.error as error:
        raise ToolError(f"regex parse error: {error}") from None
    hits = _spanned_lines if query.multiline else _single_lines

    def search(text: str) -> list[str] | None:
        if query.mode == "files_with_matches":
            return [] if next(iter(hits(pattern, text)), None) is not None else None
        if query.mode == "count":
            count = sum(1 for _ in (pattern.finditer(text) if query.multiline else hits(pattern, text)))
            return [str(count)] if count else None
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        matching = {number for number in hits(pattern, text) if number < len(lines)}
        return _with_context(lines, matching, query) if matching else None

    return search


def _single_lines(pattern: re.Pattern[str], text: str) -> Iterator[int]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return (number for number, line in enumerate(lines) if pattern.search(line))


def _spanned_lines(pattern: re.Pattern[str], text: str) -> Iterator[int]:
    """Every line that a match touches."""
    line = position = 0
    for at in pattern.finditer(text):
        line += text.count("\n", position, at.start())
        position = at.start()
        last = line + text.count("\n", at.start(), max(at.end() - 1, at.start()))
        yield from range(line, last + 1)


def _with_context(lines: list[str], matching: set[int], query: Query) -> list[str]:
    shown = sorted({n for m in matching for n in range(max(m - query.before, 0), min(m + query.after + 1, len(lines)))})
    out: list[str] = []
    last = -1
    for number in shown:
        if out and number != last + 1 and (query.before or query.after):
            out.append("--")
        out.append(f"{number + 1}{':' if number in matching else '-'}{lines[number]}")
        last = number
    return out
