"""Finding the text an edit means, and putting the new text in its place.

Pure functions over strings. A match is exact if there is one; else line ends are forgiven (the model writes \\n where
the file has \\r\\n), else typographic quotes too. Only what differs between old and new is replaced, with the line ends
of the place, so every character outside the change stays what it was.
"""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from anyio import to_thread

from assent.types.errors import ToolError

_QUOTES = {"'": "'‘’‚‛", '"': '"“”„‟'}
_FOLD = {ord(variant): plain for plain, variants in _QUOTES.items() for variant in variants}
_LARGE = 20_000  # characters
LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    text: str
    count: int
    start: int  # where the first change begins, in the new text
    end: int  # and where it ends


def replace_text(text: str, old: str, new: str, *, every: bool = False) -> Replaced:
    """Replace the one place (or every place) where `old` is. Raises ToolError, telling how to make it unique."""
    if old == new:
        raise ToolError("old_string and new_string are the same: there is nothing to change")
    if not old:
        raise ToolError("old_string is empty; give the text to replace, or use Write for a new file")
    spans = _spans(text, old)
    if not spans:
        raise ToolError(f"old_string was not found. {_nearest(text, old)}")
    if len(spans) > 1 and not every:
        lines = ", ".join(str(line_number(text, start)) for start, _ in spans[:8])
        more = ", …" if len(spans) > 8 else ""
        raise ToolError(
            f"old_string was found {len(spans)} times (lines {lines}{more}). "
            "Add surrounding lines to make it unique, or set replace_all to change every one"
        )
    parts: list[str] = []
    position = 0
    first: tuple[int, int] | None = None
    length = 0
    for start, end in spans:
        replacement = _fitted(text, start, end, old, new)
        parts += (text[position:start], replacement)
        length += start - position + len(replacement)
        first = first or (length - len(replacement), length)
        position = end
    parts.append(text[position:])
    begin, finish = first or (0, 0)
    return Replaced(text="".join(parts), count=len(spans), start=begin, end=finish)


async def replaced(text: str, old: str, new: str, *, every: bool = False) -> Replaced:
    """The same, in a worker thread when it could take long enough to be felt."""
    if len(text) < _LARGE:
        return replace_text(text, old, new, every=every)
    return await to_thread.run_sync(lambda: replace_text(text, old, new, every=every))


def line_number(text: str, offset: int) -> int:
    """1-based; line ends are \\n, \\r\\n and \\r only."""
    ends = text.count("\n", 0, offset)
    if "\r" in text:
        ends += text.count("\r", 0, offset) - text.count("\r\n", 0, offset)
    return 1 + ends


def split_lines(text: str) -> list[str]:
    """Lines without their ends. Unlike str.splitlines, form feeds and U+2028 end no line."""
    lines = LINE_END.split(text) if "\r" in text else text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines


def line_end(text: str, near: int = 0) -> str:
    """The line end used at an offset: of that line, else of the one before it, else \\n."""
    after = LINE_END.search(text, near)
    if after:
        return after.group()
    before = max(text.rfind("\n", 0, near), text.rfind("\r", 0, near))
    if before < 0:
        return "\n"
    return "\r\n" if text[before - 1 : before + 1] == "\r\n" else text[before]


def _spans(text: str, old: str) -> list[tuple[int, int]]:
    exact = [(at.start(), at.end()) for at in re.finditer(re.escape(old), text)]
    if exact:
        return exact
    for quotes in (False, True):
        found = [(at.start(), at.end()) for at in re.finditer(_tolerant(old, quotes=quotes), text)]
        if found:
            return found
    return []


def _tolerant(old: str, *, quotes: bool) -> str:
    out: list[str] = []
    for piece in re.split(r"(\r\n|\n|\r)", old):
        if LINE_END.fullmatch(piece):
            out.append(r"(?:\r\n|\n|\r(?!\n))")
        elif quotes:
            out += (f"[{_QUOTES[plain]}]" if (plain := _FOLD.get(ord(c))) else re.escape(c) for c in piece)
        else:
            out.append(re.escape(piece))
    return "".join(out)


def _fitted(text: str, start: int, end: int, old: str, new: str) -> str:
    """The new text as this place spells it: what old and new share keeps the very characters that are there."""
    found = text[start:end]
    if found == old and "\r" not in found:
        return _with_ends(new, text, start, end)
    there, wanted, given = _atoms(found), _atoms(old), _atoms(new)
    if len(there) != len(wanted):
        return _with_ends(new, text, start, end)
    same = _shared(wanted, given)
    tail = _shared(wanted[same:][::-1], given[same:][::-1])
    middle = "".join(given[same : len(given) - tail])
    return "".join(there[:same]) + _with_ends(middle, text, start, end) + "".join(there[len(there) - tail :])


def _atoms(text: str) -> list[str]:
    """Characters, with \\r\\n as one."""
    return re.findall(r"\r\n|.", text, re.DOTALL)


def _shared(left: list[str], right: list[str]) -> int:
    count = 0
    for a, b in zip(left, right, strict=False):
        if a != b and not (LINE_END.fullmatch(a) and LINE_END.fullmatch(b)):
            break
        count += 1
    return count


def _with_ends(new: str, text: str, start: int, end: int) -> str:
    """New lines end as the lines around them do, unless the model spelled \\r out."""
    if "\r" in new or "\n" not in new:
        return new
    inside = LINE_END.search(text, start, end)
    return new.replace("\n", inside.group() if inside else line_end(text, start))


def _nearest(text: str, old: str) -> str:
    """What in the file looks most like it, so that the next try can be right."""
    wanted = next((line.strip() for line in split_lines(old) if line.strip()), "")
    if not wanted or len(text) > 2_000_000:
        return "Read the file again and copy the text exactly, without line numbers"
    best, score = 0, 0.6
    matcher = SequenceMatcher(a="", b=wanted, autojunk=False)
    lines = split_lines(text)
    for number, line in enumerate(lines[:10_000]):
        matcher.set_seq1(line.strip()[:500])
        if matcher.real_quick_ratio() > score and matcher.quick_ratio() > score and (ratio := matcher.ratio()) > score:
            best, score = number + 1, ratio
    if not best:
        return "Nothing in the file resembles its first line; Read the file again"
    why = " (its white space differs)" if lines[best - 1].split() == wanted.split() else ""
    return f"The nearest line is {best}{why}: {lines[best - 1][:200]}"
