"""One shell word: what the command will get for it, and whether anybody can know that before it runs.

Quotes, escapes, `~` and `$HOME` are undone; every other expansion makes the word unknown. An unknown word is fine where
a command does no harm with any word at all; who judges the command decides that. What the word holds that is not
understood goes to `unknown`, which the reader of statements fills in.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from assent.text.words import names

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One argument. `text` is what the command gets; `pattern` the same with quoted wildcards escaped."""

    text: str
    pattern: str = ""
    known: bool = True  # False: the shell decides what this becomes
    wild: bool = False  # holds an unquoted wildcard
    splits: bool = False  # may become several words, or none, by a value that is not known
    open: bool = False  # not even its first character is known
    doubt: str = ""  # why it is not known, in words
    single: bool = False  # though wild, one name at a time: the quoted variable of a loop
    span: tuple[int, int] = (0, 0)

    @property
    def plain(self) -> bool:
        """The command gets this very word, whatever the directory and the environment hold."""
        return self.known and not self.wild

    @property
    def may_be_flag(self) -> bool:
        """Could an expansion turn it into a word that begins with a dash, or into another such word than it seems?"""
        if self.known and not self.wild:
            return False
        return self.splits or self.open or self.text[:1] in "-*?[{"

    def part(self, text: str) -> "Word":
        """The end of it, as the value of a flag."""
        return replace(self, text=text, pattern=text, open=False)


class _Piece(NamedTuple):
    text: str
    pattern: str = ""  # empty: quoted
    doubt: str = ""  # not known, and why
    splits: bool = False


_KNOWN_VARIABLES = ("HOME", "PWD")
HARMLESS_VARIABLES = names("""
    PATH USER LOGNAME SHELL LANG LANGUAGE LC_ALL LC_CTYPE TERM COLORTERM HOSTNAME OLDPWD SHLVL TMPDIR EDITOR VISUAL
    PAGER COLUMNS LINES UID EUID PPID SECONDS LINENO OSTYPE HOSTTYPE MACHTYPE BASH_VERSION BASH DISPLAY
    WAYLAND_DISPLAY DESKTOP_SESSION XDG_SESSION_TYPE XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME
    VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV GOPATH GOROOT GOBIN GOFLAGS JAVA_HOME NODE_ENV
    NVM_DIR NVM_BIN CARGO_HOME RUSTUP_HOME RUSTFLAGS CC CXX CFLAGS CXXFLAGS LDFLAGS MAKEFLAGS
    PKG_CONFIG_PATH MANPATH TZ CI
""")
"""Variables whose value nobody knows here, but which hold no secret: printing them shows nothing that is kept back."""
_BRACES = re.compile(r"\{([^{}]*+)\}")
_NUMBERS = re.compile(r"\{(0|[1-9][0-9]{0,4})\.\.(0|[1-9][0-9]{0,4})\}")
"""Without signs, which could become flags, and without zeroes in front, which would be kept."""
MOST_NUMBERS = 100
MAX_WORDS = 500  # of a line: more of them are not looked at
_BRACKETS = re.compile(r"\[[!^]?(?:[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9_.,])+\]|\[\](?=[^\]]*\Z)")
"""Those that every reader of wildcards takes for the same; not `[[:alpha:]]`, nor anything quoted between brackets."""
PLAIN_ARITHMETIC = re.compile(r"\$\(\([0-9 +*/%()-]{1,200}\)\)")  # of numbers alone: a name in it would be evaluated
_ASSIGNED_TILDE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=(?:.*:)?~", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z0-9_./:=,+@%^-]+")  # nothing in it means anything to the shell
_GLOB = re.compile(r"[*?\[]")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


class TooManyWordsError(Exception):
    """The line holds more words than anybody looks at; nothing is gained by reading on."""


@dataclass(slots=True)
class WordReader(ABC):
    home: str
    cwd: str
    doubts: list[str] = field(default_factory=list[str])
    spans: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    pwd_uses: list[int] = field(default_factory=list[int])  # where $PWD stands: before any `cd` it is `cwd`
    unsettled: bool = False  # the line may change what HOME is, or how wildcards and values are read
    lost: bool = False  # the line moves, so that $PWD may be another directory than `cwd`
    bound: set[str] = field(
        default_factory=set[str]
    )  # variables that the line itself gives a value: unknown, no secret

    def doubt(self, reason: str) -> None:
        self.doubts.append(reason)

    @abstractmethod
    def unknown(self, node: "Node", depth: int) -> None:
        """Note a node that is not understood, and look for commands inside it."""

    def word(self, node: "Node", depth: int) -> Word:
        span = (node.start_byte, node.end_byte)
        self.spans.append(span)
        if len(self.spans) > MAX_WORDS:
            raise TooManyWordsError
        if node.type == "word" and _PLAIN.fullmatch(source := source_text(node)):
            return Word(text=source, pattern=source, span=span)
        pieces: list[_Piece] = []
        known = self._pieces(node, pieces, depth, first=True)
        text = "".join([piece.text for piece in pieces])
        pattern = "".join([piece.pattern or _literal(piece.text) for piece in pieces])
        unquoted = _unquoted(pieces)
        for reason, found in (
            ("braces that the shell expands", _expands_braces(unquoted)),
            ("a wildcard with unusual brackets", "[" in _BRACKETS.sub("", unquoted)),
            ("`~` after `=`, which the shell expands", _ASSIGNED_TILDE.match(unquoted)),
            ("a wildcard in a line that may change how it is read", self.unsettled and _GLOB.search(unquoted)),
        ):
            if found:
                self.doubt(reason)
                known = False
        doubts = [piece.doubt for piece in pieces if piece.doubt]
        if not known or doubts:
            first = next((piece for piece in pieces if piece.text), None)
            return Word(
                text=text,
                pattern=pattern,
                known=False,
                wild=bool(_GLOB.search(unquoted)),
                splits=any(piece.splits for piece in pieces),
                open=first is None or bool(first.doubt) or not known,
                doubt=doubts[0] if doubts else "",
                span=span,
            )
        return Word(text=text, pattern=pattern, wild=bool(_GLOB.search(unquoted)), span=span)

    def numbers(self, node: "Node") -> list[Word]:
        """The words that `{1..3}` stands for; none where it is anything else than a short list of plain numbers."""
        found = _NUMBERS.fullmatch(source_text(node)) if node.type == "brace_expression" else None
        if found is None or abs(int(found[2]) - int(found[1])) >= MOST_NUMBERS:
            return []
        span = (node.start_byte, node.end_byte)
        self.spans.append(span)
        first, last = int(found[1]), int(found[2])
        step = 1 if first <= last else -1
        return [Word(text=str(number), pattern=str(number), span=span) for number in range(first, last + step, step)]

    def _pieces(self, node: "Node", out: list[_Piece], depth: int, *, first: bool = False) -> bool:
        """False when something is not understood, which is a doubt of the whole line."""
        source = source_text(node)
        match node.type:
            case "word" | "number" | "test_operator":
                plain = self._tilde(source) if first else source
                if plain is None:
                    out.append(_Piece(source, source))
                    return False
                out.extend(_unescaped(plain))
                return not node.named_children and not (self.unsettled and plain != source)
            case "raw_string":
                out.append(_Piece(source[1:-1]))
                return True
            case "string":
                return self._string(node, out, depth)
            case "concatenation":
                known = True
                for index, child in enumerate(node.children):
                    known = self._pieces(child, out, depth + 1, first=first and index == 0) and known
                return known
            case "simple_expansion" | "expansion":
                return self._variable(node, out, depth, quoted=False)
            case "arithmetic_expansion" if PLAIN_ARITHMETIC.fullmatch(source):
                out.append(_Piece(source, doubt="the result of arithmetic"))
                return True
            case "ansi_c_string":
                self.doubt("a $'…' string")
                out.append(_Piece(_decoded(source[2:-1])))
                return False
            case _ if not node.is_named and source in ("[", "]", "[[", "]]", "=", "!=", "!", "==", "<", ">"):
                out.append(_Piece(source))
                return True
            case _:
                self.unknown(node, depth)
                out.append(_Piece(source))
                return False

    def _string(self, node: "Node", out: list[_Piece], depth: int) -> bool:
        known = True
        position = node.start_byte + 1
        data = node.text or b""
        for child in node.children:
            if child.type == '"':
                continue
            gap = data[position - node.start_byte : child.start_byte - node.start_byte].decode()
            position = child.end_byte
            if gap:  # the grammar leaves blanks between expansions out of its nodes
                out.append(_Piece(gap))
            if child.type == "string_content":
                out.append(_Piece(_content(source_text(child))))
            elif child.type in ("simple_expansion", "expansion"):
                known = self._variable(child, out, depth, quoted=True) and known
            elif child.type == "arithmetic_expansion" and PLAIN_ARITHMETIC.fullmatch(source_text(child)):
                out.append(_Piece(source_text(child), doubt="the result of arithmetic"))
            elif child.type == "$":
                out.append(_Piece("$"))
            else:
                self.unknown(child, depth)
                out.append(_Piece(source_text(child)))
                known = False
        tail = data[position - node.start_byte : -1].decode()
        if tail and data.endswith(b'"') and position < node.end_byte - 1:
            out.append(_Piece(tail))
        return known

    def _variable(self, node: "Node", out: list[_Piece], depth: int, *, quoted: bool) -> bool:
        source = source_text(node)
        if blank := source[: -len(source.lstrip())]:  # the grammar counts blanks before an expansion to it
            out.append(_Piece(blank))
        source = source.lstrip()
        name = source.strip("${}")
        plain = source in (f"${name}", f"${{{name}}}")
        if plain and name in _KNOWN_VARIABLES and name not in self.bound:
            value = self.home if name == "HOME" else self.cwd
            out.append(_Piece(value))
            if name == "PWD":
                self.pwd_uses.append(node.start_byte)
            changed = self.unsettled or (self.lost and name == "PWD")
            if changed:
                self.doubt(f"${name} in a line that may change it, or how its value is read")
            return not changed and not re.search(r"[\s*?\[\\]", value)
        if source == "$?":
            out.append(_Piece("0", "[0-9]*"))  # some number
            return True
        doubt = f"the variable {source[:40]}, whose value is not known"
        if plain and (name in HARMLESS_VARIABLES or name in self.bound):
            out.append(_Piece(source, doubt=doubt, splits=not quoted))
            return True
        self.doubt(doubt)
        self.unknown(node, depth)
        out.append(_Piece(source))
        return False

    def _tilde(self, source: str) -> str | None:
        if not source.startswith("~"):
            return source
        if source == "~" or source.startswith("~/"):
            if self.unsettled:
                self.doubt("`~` in a line that may change where it leads")
            return re.sub(r"([\s*?\[\\'\"])", r"\\\1", self.home) + source[1:]
        self.doubt(f"`{source.split('/')[0]}`, another home directory")
        return None


def source_text(node: "Node") -> str:
    return (node.text or b"").decode()


def _unescaped(source: str) -> Iterator[_Piece]:
    position = 0
    for found in re.finditer(r"(?:\\[\s\S])+", source):
        if found.start() > position:
            yield _Piece(source[position : found.start()], source[position : found.start()])
        yield _Piece("".join(c for c in found[0][1::2] if c != "\n"))
        position = found.end()
    if position < len(source):
        yield _Piece(source[position:], source[position:])


def _content(source: str) -> str:
    """Of a string in double quotes."""
    return re.sub(r"\\([\"\\$`])", r"\1", source).replace("\\\n", "") if "\\" in source else source


def _literal(text: str) -> str:
    """The pattern that only this very text fits."""
    return re.sub(r"([*?\[])", r"[\1]", text) if _GLOB.search(text) else text


def _expands_braces(unquoted: str) -> bool:
    start, end = unquoted.find("{"), unquoted.rfind("}")
    if start < 0 or end < start:
        return False
    return "," in unquoted[start:end] or any(".." in found[1] for found in _BRACES.finditer(unquoted))


def _unquoted(pieces: list[_Piece]) -> str:
    return "".join([piece.pattern or "\0" for piece in pieces])


def _decoded(source: str) -> str:
    def value(found: re.Match[str]) -> str:
        body = found[1]
        if body[0] in "xuU":
            return chr(min(int(body[1:], 16), 0x10FFFF))
        if body[0] in "01234567":
            return chr(int(body, 8) & 0xFF)
        return _ESCAPES.get(body, body)

    return re.sub(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|[\s\S])", value, source)
