"""One shell word: what the command will get for it, and whether anybody can know that before it runs.

Quotes, escapes, `~` and `$HOME` are undone; every other expansion makes the word unknown. What the word holds that is
not understood goes to `unknown`, which the reader of statements fills in.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One argument. `text` is what the command gets; `pattern` the same with quoted wildcards escaped."""

    text: str
    pattern: str = ""
    known: bool = True  # False: the shell decides what this becomes
    wild: bool = False  # holds an unquoted wildcard
    span: tuple[int, int] = (0, 0)

    @property
    def wild_start(self) -> bool:
        """Could the expansion begin with a dash and be taken for a flag?"""
        return self.wild and self.text[:1] in "*?["


_KNOWN_VARIABLES = ("HOME", "PWD")
_BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}|\{.*[,].*\}", re.DOTALL)
_BRACKETS = re.compile(r"\[[!^]?(?:[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9_.,])+\]|\[\](?=[^\]]*\Z)")
"""Those that every reader of wildcards takes for the same; not `[[:alpha:]]`, nor anything quoted between brackets."""
_ASSIGNED_TILDE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=(?:.*:)?~", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z0-9_./:=,+@%^-]+")  # nothing in it means anything to the shell
_GLOB = re.compile(r"[*?\[]")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


@dataclass(slots=True)
class WordReader(ABC):
    home: str
    cwd: str
    doubts: list[str] = field(default_factory=list[str])
    spans: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    pwd_uses: list[int] = field(default_factory=list[int])  # where $PWD stands: before any `cd` it is `cwd`

    def doubt(self, reason: str) -> None:
        self.doubts.append(reason)

    @abstractmethod
    def unknown(self, node: "Node", depth: int) -> None:
        """Note a node that is not understood, and look for commands inside it."""

    def word(self, node: "Node", depth: int) -> Word:
        span = (node.start_byte, node.end_byte)
        self.spans.append(span)
        if node.type == "word" and _PLAIN.fullmatch(source := source_text(node)):
            return Word(text=source, pattern=source, span=span)
        pieces: list[tuple[str, str]] = []  # text, pattern
        known = self._pieces(node, pieces, depth, first=True)
        text = "".join(piece for piece, _ in pieces)
        pattern = "".join(pattern or re.sub(r"([*?\[])", r"[\1]", piece) for piece, pattern in pieces)
        unquoted = _unquoted(pieces)
        for reason, found in (
            ("braces that the shell expands", _BRACES.search(unquoted)),
            ("a wildcard with unusual brackets", "[" in _BRACKETS.sub("", unquoted)),
            ("`~` after `=`, which the shell expands", _ASSIGNED_TILDE.match(unquoted)),
        ):
            if found:
                self.doubt(reason)
                known = False
        return Word(text=text, pattern=pattern, known=known, wild=bool(_GLOB.search(unquoted)), span=span)

    def _pieces(self, node: "Node", out: list[tuple[str, str]], depth: int, *, first: bool = False) -> bool:
        source = source_text(node)
        match node.type:
            case "word" | "number" | "test_operator":
                plain = self._tilde(source) if first else source
                if plain is None:
                    out.append((source, source))
                    return False
                out.extend(_unescaped(plain))
                return not node.named_children
            case "raw_string":
                out.append((source[1:-1], ""))
                return True
            case "string":
                return self._string(node, out, depth)
            case "concatenation":
                known = True
                for index, child in enumerate(node.children):
                    known = self._pieces(child, out, depth + 1, first=first and index == 0) and known
                return known
            case "simple_expansion" | "expansion":
                return self._variable(node, out, depth)
            case "ansi_c_string":
                self.doubt("a $'…' string")
                out.append((_decoded(source[2:-1]), ""))
                return False
            case _ if not node.is_named and source in ("[", "]", "[[", "]]", "=", "!=", "!", "==", "<", ">"):
                out.append((source, ""))
                return True
            case _:
                self.unknown(node, depth)
                out.append((source, ""))
                return False

    def _string(self, node: "Node", out: list[tuple[str, str]], depth: int) -> bool:
        known = True
        position = node.start_byte + 1
        data = node.text or b""
        for child in node.children:
            if child.type == '"':
                continue
            gap = data[position - node.start_byte : child.start_byte - node.start_byte].decode()
            position = child.end_byte
            if gap:  # the grammar leaves blanks between expansions out of its nodes
                out.append((gap, ""))
            if child.type == "string_content":
                out.append((re.sub(r"\\([\"\\$`])", r"\1", source_text(child)).replace("\\\n", ""), ""))
            elif child.type in ("simple_expansion", "expansion"):
                known = self._variable(child, out, depth) and known
            elif child.type == "$":
                out.append(("$", ""))
            else:
                self.unknown(child, depth)
                out.append((source_text(child), ""))
                known = False
        tail = data[position - node.start_byte : -1].decode()
        if tail and data.endswith(b'"') and position < node.end_byte - 1:
            out.append((tail, ""))
        return known

    def _variable(self, node: "Node", out: list[tuple[str, str]], depth: int) -> bool:
        source = source_text(node)
        if blank := source[: -len(source.lstrip())]:  # the grammar counts blanks before an expansion to it
            out.append((blank, ""))
        source = source.lstrip()
        name = source.strip("${}")
        if source in (f"${name}", f"${{{name}}}") and name in _KNOWN_VARIABLES:
            value = self.home if name == "HOME" else self.cwd
            out.append((value, ""))
            if name == "PWD":
                self.pwd_uses.append(node.start_byte)
            return not re.search(r"[\s*?\[\\]", value)
        if source == "$?":
            out.append(("0", "[0-9]*"))  # some number
            return True
        self.doubt(f"the variable {source[:40]}, whose value is not known")
        self.unknown(node, depth)
        out.append((source, ""))
        return False

    def _tilde(self, source: str) -> str | None:
        if not source.startswith("~"):
            return source
        if source == "~" or source.startswith("~/"):
            return re.sub(r"([\s*?\[\\'\"])", r"\\\1", self.home) + source[1:]
        self.doubt(f"`{source.split('/')[0]}`, another home directory")
        return None


def source_text(node: "Node") -> str:
    return (node.text or b"").decode()


def _unescaped(source: str) -> Iterator[tuple[str, str]]:
    position = 0
    for found in re.finditer(r"\\([\s\S])", source):
        if found.start() > position:
            yield source[position : found.start()], source[position : found.start()]
        yield ("" if found[1] == "\n" else found[1]), ""
        position = found.end()
    if position < len(source):
        yield source[position:], source[position:]


def _unquoted(pieces: list[tuple[str, str]]) -> str:
    return "".join(pattern if pattern else "\0" for _, pattern in pieces)


def _decoded(source: str) -> str:
    def value(found: re.Match[str]) -> str:
        body = found[1]
        if body[0] in "xuU":
            return chr(min(int(body[1:], 16), 0x10FFFF))
        if body[0] in "01234567":
            return chr(int(body, 8) & 0xFF)
        return _ESCAPES.get(body, body)

    return re.sub(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|[\s\S])", value, source)
