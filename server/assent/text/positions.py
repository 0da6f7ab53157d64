"""Positions as clients write them: a line and a count of units, in the encoding agreed at initialize.

Offsets into our strings count code points. Positions past a line's end mean its end, lines past the last mean the end
of the text, negative ones the start. A lone surrogate is one UTF-16 unit, and three UTF-8 bytes, as JavaScript and
CPython have it. Nothing here changes its arguments.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from assent.text.lines import LineIndex
from assent.text.splices import Splice
from assent.types.blocks import Json

Encoding = Literal["utf-8", "utf-16", "utf-32"]


class TextOffset(NamedTuple):
    """An offset; `inside` when the position pointed between the two halves of the UTF-16 pair that starts there."""

    offset: int
    inside: bool = False


def offset_at(text: str, lines: LineIndex, position: Mapping[str, Any], encoding: Encoding) -> int:
    return place_at(text, lines, position, encoding).offset


def place_at(text: str, lines: LineIndex, position: Mapping[str, Any], encoding: Encoding) -> TextOffset:
    line, character = int(position["line"]), int(position["character"])
    if line < 0:
        return TextOffset(0)
    if line >= len(lines):
        return TextOffset(len(text))
    start = lines.start(line)
    end = lines.content_end(text, line)
    if character <= 0:
        return TextOffset(start)
    if encoding == "utf-32" or text.isascii():
        return TextOffset(min(start + character, end))
    return _advance(text, start, end, character, encoding)


def position_at(text: str, lines: LineIndex, offset: int, encoding: Encoding) -> Json:
    offset = max(0, min(offset, len(text)))
    line = lines.line_of(offset)
    start = lines.start(line)
    return {"line": line, "character": units(text, start, offset, encoding)}


def range_at(text: str, lines: LineIndex, start: int, end: int, encoding: Encoding) -> Json:
    return {"start": position_at(text, lines, start, encoding), "end": position_at(text, lines, end, encoding)}


def units(text: str, start: int, end: int, encoding: Encoding) -> int:
    """How long `text[start:end]` is in the encoding's units."""
    if encoding == "utf-32" or text.isascii():
        return end - start
    piece = text[start:end]
    if piece.isascii():
        return end - start
    if encoding == "utf-16":
        return len(piece) + sum(1 for char in piece if char > "\uffff")
    return len(piece.encode("utf-8", "surrogatepass"))


def edit_of(text: str, lines: LineIndex, change: Splice, encoding: Encoding) -> Json:
    """The LSP TextEdit that makes this change."""
    return {"range": range_at(text, lines, change.start, change.end, encoding), "newText": change.text}


def splice_of(text: str, lines: LineIndex, change: Mapping[str, Any], encoding: Encoding) -> Splice:
    """One LSP contentChange (or TextEdit) as a splice. Without a range it replaces everything.

    A client that counts UTF-16 may cut a pair in two or bring its halves back together; the splice is then widened
    to whole characters, so the text stays what the client's own string is.
    """
    new = str(change["text"] if "text" in change else change["newText"])
    span: Any = change.get("range")
    if span is None:
        return Splice(0, len(text), joined_surrogates(new))
    start, cut_start = place_at(text, lines, span["start"], encoding)
    end, cut_end = place_at(text, lines, span["end"], encoding)
    if end < start:
        start, cut_start, end, cut_end = end, cut_end, start, cut_start
    if cut_start:
        new = _halves(text[start])[0] + new
    if cut_end:
        new += _halves(text[end])[1]
        end += 1
    if new and not new.isascii():
        if start and "\udc00" <= new[0] <= "\udfff" and "\ud800" <= text[start - 1] <= "\udbff":
            start -= 1
            new = text[start] + new
        if "\ud800" <= new[-1] <= "\udbff" and "\udc00" <= text[end : end + 1] <= "\udfff":
            new += text[end]
            end += 1
        new = joined_surrogates(new)
    elif not new and start and "\ud800" <= text[start - 1] <= "\udbff" and "\udc00" <= text[end : end + 1] <= "\udfff":
        new = joined_surrogates(text[start - 1] + text[end])
        start, end = start - 1, end + 1
    return Splice(start, end, new)


def joined_surrogates(text: str) -> str:
    """Halves of a pair that stand side by side are one character; lone ones stay as they are."""
    if text.isascii() or not any("\ud800" <= char <= "\udbff" for char in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def well_formed(ranges: Sequence[Any]) -> bool:
    """Whether each is a range of two integer positions; anything else from the wire is refused whole."""
    return all(_is_position(item, "start") and _is_position(item, "end") for item in ranges)


def _is_position(span: Any, name: str) -> bool:
    if not isinstance(span, Mapping):
        return False
    at: Any = span.get(name)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- straight from the wire
    return isinstance(at, Mapping) and all(
        isinstance(at.get(part), int)  # pyright: ignore[reportUnknownMemberType] -- straight from the wire
        for part in ("line", "character")
    )


def _advance(text: str, start: int, end: int, count: int, encoding: Encoding) -> TextOffset:
    # A unit never holds more than one code point, so the place is at most `count` code points away.
    piece = text[start : min(start + count, end)]
    if piece.isascii() or (encoding == "utf-16" and max(piece) <= "\uffff"):
        return TextOffset(start + len(piece))
    seen = 0
    for index, char in enumerate(piece):
        width = (2 if char > "\uffff" else 1) if encoding == "utf-16" else _utf8_width(char)
        if seen + width > count:
            return TextOffset(start + index, inside=encoding == "utf-16" and seen < count)
        seen += width
    return TextOffset(start + len(piece))


def _utf8_width(char: str) -> int:
    if char <= "\x7f":
        return 1
    if char <= "\u07ff":
        return 2
    return 3 if char <= "\uffff" else 4


def _halves(char: str) -> tuple[str, str]:
    code = ord(char) - 0x10000
    return chr(0xD800 + (code >> 10)), chr(0xDC00 + (code & 0x3FF))
