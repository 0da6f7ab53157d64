"""The header of a Markdown file between two `---` lines, read as the tools that write such files read it.

Most headers are not strict YAML: values hold colons, start with `*`, `[` or `@`, indent with tabs, begin with a byte
order mark. A YAML library refuses those (and costs 36 ms to import), so this is a small reader of its own. It knows
maps, lists, quoted and plain texts, block texts (`|`, `>`) and one-line `[a, b]` and `{a: b}`. A line it cannot read
becomes a complaint with its number; every other line counts. Knows nothing of what the keys mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

Value = str | int | float | bool | None | list[Any] | dict[str, Any]

_KEY = re.compile(r"""(?P<key>"[^"]*"|'[^']*'|[^\s:#'"\-\[{][^:]*?|-[^\s:][^:]*?)\s*:(?:\s+(?P<rest>.*))?$""")
_BLOCK = re.compile(r"([|>])([+-]?)\d?\s*(?:#.*)?$")
_NUMBER = re.compile(r"[-+]?(?:0|[1-9]\d*)(\.\d+)?$")
_COMMENT = re.compile(r"\s+#.*$")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
LONGEST = 64_000  # characters of a header; more is none
DEEPEST = 20  # brackets within brackets, and blocks within blocks
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    line: int  # 1-based, in the file
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontmatter:
    """`raw` has the text of each top-level value that stands on its key's line, before it was interpreted."""

    fields: Mapping[str, Value] = field(default_factory=dict[str, Value])
    raw: Mapping[str, str] = field(default_factory=dict[str, str])
    body: str = ""
    body_line: int = 1
    complaints: tuple[Complaint, ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict[str, int])  # where each top-level key stands

    def text(self, key: str) -> str:
        """A value as the author wrote it; empty when the key is absent. A list is joined by commas."""
        value = self.fields.get(key)
        if isinstance(value, str):
            return value.strip()
        if key in self.raw:
            return self.raw[key]
        if isinstance(value, list):
            return ", ".join(str(each) for each in cast("list[object]", value))
        return "" if value is None or isinstance(value, dict) else str(value)

    def names(self, key: str) -> tuple[str, ...] | None:
        """A list, or a text divided by commas or spaces outside of brackets; None when the key is absent."""
        value = self.fields.get(key)
        if value is None:
            return None
        if isinstance(value, list):
            return tuple(str(each).strip() for each in cast("list[object]", value) if str(each).strip())
        return tuple(divided(self.text(key), separators=", \t\n"))

    def patterns(self, key: str) -> tuple[str, ...]:
        """Globs: a list, or a text divided by commas outside of braces."""
        value = self.fields.get(key)
        if isinstance(value, list):
            return tuple(str(each).strip() for each in cast("list[object]", value) if str(each).strip())
        return tuple(divided(self.text(key), separators=",\n")) if value is not None else ()

    def flag(self, key: str, *, default: bool = False) -> bool:
        """True, yes, on, 1 and their opposites, in any case; anything else is the default."""
        word = self.text(key).casefold()
        return True if word in _TRUE else False if word in _FALSE else default

    def number(self, key: str) -> int | None:
        value = self.fields.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def read(text: str) -> Frontmatter:
    """The header and the body. A file without a header is all body."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not text.startswith("---"):
        return Frontmatter(body=text)
    first, _, rest = text.partition("\n")
    if first.strip() != "---":
        return Frontmatter(body=text)
    lines = rest.split("\n")
    end = next((at for at, line in enumerate(lines) if line.rstrip() in ("---", "...")), None)
    if end is None:
        return Frontmatter(body=text, complaints=(Complaint(line=1, text="the header has no closing `---`"),))
    if sum(map(len, lines[:end])) > LONGEST:
        too_long = Complaint(line=1, text=f"the header is longer than {LONGEST:,} characters and is not read")
        return Frontmatter(body="\n".join(lines[end + 1 :]), complaints=(too_long,))
    reader = _Reader(lines[:end])
    fields = reader.document()
    return Frontmatter(
        fields=fields,
        raw=reader.raw,
        body="\n".join(lines[end + 1 :]).lstrip("\n"),
        body_line=end + 3,
        complaints=tuple(reader.complaints),
        lines=reader.lines_of,
    )


def divided(text: str, *, separators: str) -> Iterator[str]:
    """The parts of a text between separators that stand outside of brackets."""
    part, expected = "", [""]
    for character in text:
        if character in separators and len(expected) == 1:
            if part.strip():
                yield part.strip()
            part = ""
            continue
        if character in _BRACKETS:
            expected.append(_BRACKETS[character])
        elif len(expected) > 1 and character == expected[-1]:
            expected.pop()
        part += character
    if part.strip():
        yield part.strip()


@dataclass(slots=True)
class _Line:
    number: int
    indent: int
    text: str  # without its indentation
    whole: str


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self.complaints: list[Complaint] = []
        self.raw: dict[str, str] = {}
        self.lines_of: dict[str, int] = {}
        self._lines = [_line(at + 2, line) for at, line in enumerate(lines)]
        self._at = 0

    def document(self) -> dict[str, Value]:
        fields: dict[str, Value] = {}
        while (line := self._next()) is not None:
            value = self._map(line.indent, top=True)
            fields |= value
            if self._next() is line:  # not a single line of it was understood
                self._skip("expected `key: value`")
        return fields

    def _next(self) -> _Line | None:
        """The next line that is neither empty nor a comment."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.text and not line.text.startswith("#"):
                return line
            self._at += 1
        return None

    def _skip(self, why: str) -> None:
        line = self._lines[self._at]
        self.complaints.append(Complaint(line=line.number, text=f"{why}, found {line.text[:40]!r}"))
        self._at += 1

    def _map(self, indent: int, *, top: bool = False) -> dict[str, Value]:
        found: dict[str, Value] = {}
        while (line := self._next()) is not None and line.indent >= indent:
            match = _KEY.match(line.text)
            if line.indent > indent or match is None:
                self._skip("expected `key: value`")
                continue
            key, rest = match["key"].strip("\"'"), (match["rest"] or "").strip()
            if key in found:
                self.complaints.append(Complaint(line=line.number, text=f"{key!r} stands twice; the last one counts"))
            self._at += 1
            if top:
                self.lines_of[key] = line.number
                if rest and not rest.startswith("#"):
                    self.raw[key] = _plain(rest)
            found[key] = self._value(rest, indent)
            if top and isinstance(found[key], str):
                self.raw.pop(key, None)  # a text says itself
        return found

    def _list(self, indent: int) -> list[Value]:
        found: list[Value] = []
        while (line := self._next()) is not None and line.indent == indent and _is_item(line.text):
            rest = line.text[1:].strip()
            inner = indent + len(line.text) - len(line.text[1:].lstrip()) if rest else indent + 1
            if rest and not rest.startswith(("[", "{", '"', "'")) and _KEY.match(rest):
                line.indent, line.text = inner, rest  # a map whose first key stands behind the dash
                found.append(self._map(inner))
            else:
                self._at += 1
                found.append(self._value(rest, indent))
        return found

    def _value(self, rest: str, indent: int) -> Value:
        """The value behind a key or a dash, with the deeper lines that belong to it."""
        if not rest or rest.startswith("#"):
            line = self._next()
            if line is None or line.indent < indent or (line.indent == indent and not _is_item(line.text)):
                return None
            if _is_item(line.text):
                return self._list(line.indent)
            if line.indent > indent:
                return self._map(line.indent) if _KEY.match(line.text) else self._folded("", indent)
            return None
        if (block := _BLOCK.match(rest)) is not None:
            return self._block(indent, folded=block[1] == ">", keep=block[2] != "-")
        if rest[0] in "[{":
            return self._flow(rest, indent)
        if rest[0] in "\"'" and (quoted := self._quoted(rest, indent)) is not None:
            return quoted
        return self._folded(_plain(rest), indent)

    def _block(self, indent: int, *, folded: bool, keep: bool) -> str:
        lines: list[str] = []
        margin: int | None = None
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.text and line.indent <= indent:
                break
            if line.text and margin is None:
                margin = line.indent
            lines.append(line.whole[margin or 0 :] if line.text else "")
            self._at += 1
        text = "\n".join(lines).strip("\n")
        if folded:
            text = re.sub(r"(?<!\n)\n(?!\n)", " ", text)
        return text + ("\n" if keep and text else "")

    def _folded(self, text: str, indent: int) -> Value:
        """A plain text and its continuation lines."""
        parts = [text] if text else []
        while (line := self._next()) is not None and line.indent > indent:
            parts.append(_plain(line.text))
            self._at += 1
        return _scalar(parts[0]) if len(parts) == 1 else " ".join(parts)

    def _quoted(self, rest: str, indent: int) -> str | None:
        mark, text, taken = rest[0], rest, 0
        while (end := _closing(text, mark)) is None:
            following = self._lines[self._at + taken] if self._at + taken < len(self._lines) else None
            if following is None or (following.text and following.indent <= indent):
                return self._unclosed(mark)
            text += f" {following.text}" if following.text else "\n"
            taken += 1
        if _plain(text[end + 1 :]).strip(" #") and not text[end + 1 :].lstrip().startswith("#"):
            return None
        self._at += taken
        inner = text[1:end]
        return inner.replace("''", "'") if mark == "'" else _unescaped(inner)

    def _unclosed(self, mark: str) -> None:
        """The value is then a text that happens to begin with it."""
        words = f"`{mark}` is never closed; the value is taken as plain text"
        self.complaints.append(Complaint(line=self._lines[self._at - 1].number, text=words))

    def _flow(self, rest: str, indent: int) -> Value:
        parts, taken, depth = [rest], 0, _depth(rest)
        while depth > 0:
            following = self._lines[self._at + taken] if self._at + taken < len(self._lines) else None
            ends = following is None or following.indent < indent
            if following is None or ends or (following.indent == indent and _KEY.match(following.text)):
                self._unclosed(rest[0])
                return self._folded(_plain(rest), indent)
            parts.append(following.text)
            depth += _depth(following.text)
            taken += 1
        value = flow(_plain(" ".join(parts)))
        if value is None:
            return self._folded(_plain(rest), indent)
        self._at += taken
        return value


def flow(text: str) -> list[Any] | dict[str, Any] | None:
    """`[a, "b"]` or `{a: b}` in one line; None when the text is something else, such as `[file] [message]`."""
    text = text.strip()
    if len(text) < 2 or not _is_one_bracket(text):
        return None
    parts = list(divided(text[1:-1], separators=","))
    if text[0] == "[" and text[-1] == "]":
        return [_flow_part(part) for part in parts]
    if text[0] != "{" or text[-1] != "}":
        return None
    found: dict[str, Any] = {}
    for part in parts:
        match = _KEY.match(part)
        if match is None:
            return None
        found[match["key"].strip("\"'")] = _flow_part((match["rest"] or "").strip())
    return found


def _flow_part(text: str) -> Value:
    if text[:1] in ("[", "{") and (inner := flow(text)) is not None:
        return inner
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return _unescaped(text[1:-1]) if text[0] == '"' else text[1:-1].replace("''", "'")
    return _scalar(text)


def _line(number: int, text: str) -> _Line:
    stripped = text.lstrip(" \t")
    lead = text[: len(text) - len(stripped)].replace("\t", "    ")
    return _Line(number, len(lead), stripped.rstrip(), (lead + stripped).rstrip())


def _is_item(text: str) -> bool:
    return text == "-" or text.startswith(("- ", "-\t"))


def _plain(text: str) -> str:
    """Without a comment at its end."""
    return _COMMENT.sub("", text).strip() if "#" in text else text.strip()


def _scalar(text: str) -> Value:
    if text.casefold() in _WORDS:
        return _WORDS[text.casefold()]
    if (number := _NUMBER.match(text)) is not None:
        return float(text) if number[1] else int(text)
    return text


def _closing(text: str, mark: str) -> int | None:
    at = 1
    while at < len(text):
        if text[at] == "\\" and mark == '"':
            at += 1
        elif text[at] == mark:
            if mark == "'" and text[at + 1 : at + 2] == "'":
                at += 1
            else:
                return at
        at += 1
    return None


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", '"': '"', "\\": "\\", "/": "/", " ": " "}


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return re.sub(
        r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))",
        lambda match: chr(int(match[1] or match[2], 16)) if match[1] or match[2] else _ESCAPES.get(match[3], match[0]),
        text,
    )


def _depths(text: str) -> Iterator[int]:
    """How many brackets are open after each character, those in quotation marks left out."""
    depth, quote = 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        yield depth


def _depth(text: str) -> int:
    last = 0
    for last in _depths(text):  # noqa: B007 -- the last one is wanted
        pass
    return last


def _is_one_bracket(text: str) -> bool:
    """Whether the bracket that opens the text closes at its very end, and none is nested too deep."""
    *before, last = _depths(text)
    return last == 0 and all(0 < depth <= DEEPEST for depth in before)
