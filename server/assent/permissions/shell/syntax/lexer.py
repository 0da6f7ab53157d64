"""A second, much smaller reading of a shell line, to hold the grammar's reading against.

Knows only plain words, quotes, `$NAME`, arithmetic of numbers, operators, comments and heredocs that are plain text;
anything else is an error. A line is auto-allowed only when this lexer and the tree-sitter grammar find the very same
words, operators and command boundaries, so that a bug in one of them cannot hide a command.
"""

import re
from dataclasses import dataclass, field

from assent.text.words import names


class LexError(ValueError):
    """Not in the small language; the message says what was met."""


@dataclass(slots=True)
class Lexed:
    """Spans are byte offsets. A segment is the words between two control operators."""

    segments: list[list[tuple[int, int]]] = field(default_factory=lambda: [[]])
    operators: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])
    heredocs: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    keywords: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])

    @property
    def words(self) -> list[tuple[int, int]]:
        return [span for segment in self.segments for span in segment]


MAX_PIECES = 500  # operators, and what stands between them: a line with more is not read anyway
_REDIRECTS = frozenset({"&>>", "&>", ">>", ">|", ">&", "<&", "<<<", "<<-", "<<", "<>", "<", ">"})
_VARIABLE = r"\$(?:[A-Za-z_][A-Za-z0-9_]*+|\{[A-Za-z_][A-Za-z0-9_]*\}|\?|\(\([0-9 +*/%()-]{1,200}\)\))"
# Possessive repetitions (`*+`) never go back: what they would try again could only fail again, many times over.
_TOKEN = re.compile(
    r"(?P<blank>(?:\\\n)*+[ \t](?:[ \t]|\\\n)*+)"  # without a blank, a continued line joins two words into one
    r"|(?P<newline>\n)"
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<descriptor>[0-9]+(?=[<>]))"
    r"|(?P<operator>&&|\|\||&>>|&>|>>|>\||>&|<&|<<<|<<-|<<|<>|[;&|()<>])"
    r"|(?P<word>(?:[^ \t\n'\"\\$`;&|()<>]"  # plain
    r"|\\[^\n]"  # one quoted character
    r"|'[^']*'"
    rf"|\"(?:[^\"\\$`]|\\[^\n]|{_VARIABLE}|\$(?=[\" ]))*+\""
    rf"|{_VARIABLE})++)"
)
_NAMES_DESCRIPTOR = re.compile(r"\{.*\}", re.DOTALL)
"""`{PATH}>x` is no word to bash: it opens x as a descriptor of its choice, and sets PATH to the number of it."""
KEYWORDS = names("if then elif else fi for do done")
_COMPOUND = names("while until case select function coproc esac in")
RESERVED = (KEYWORDS | _COMPOUND | {"!", "{", "}"}) - {"coproc"}
"""No command has such a name, unless somebody quotes it; `coproc` is one that runs another."""
_LOOP = (-1, -1)  # in place of a word: a loop's variable and `in` must follow


def lex(data: bytes) -> Lexed:
    """Raises LexError for everything outside the small language."""
    text = data.decode("latin-1")  # one character per byte, so offsets agree with the grammar's
    out = Lexed()
    position = 0
    pending: list[tuple[str, bool, bool]] = []
    heredoc: str | None = None
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise LexError(f"`{text[position : position + 12]}` is not plain shell")
        position = found.end()
        if len(out.operators) > MAX_PIECES or len(out.segments) > MAX_PIECES:
            raise LexError("more operators and lines than are looked at")
        match found.lastgroup:
            case "newline":
                if heredoc is not None:
                    raise LexError("a heredoc without a delimiter")
                position = _bodies(text, position, pending, out)
                pending = []
                out.segments.append([])
            case "operator":
                operator = found.group()
                out.operators.add((found.start(), operator))
                if operator not in _REDIRECTS:
                    out.segments.append([])
                heredoc = operator if operator in ("<<", "<<-") else None
            case "word":
                word = found.group()
                if text[position : position + 1] in ("<", ">") and _NAMES_DESCRIPTOR.fullmatch(word):
                    raise LexError(f"`{word}` before a redirection sets a variable")
                if heredoc is not None:
                    quoted = any(c in word for c in "'\"\\")
                    pending.append((re.sub(r"['\"\\]", "", word), quoted, heredoc == "<<-"))
                    heredoc = None
                _add_word(out, word, found.span())
            case _:
                continue
    if pending:
        raise LexError("a heredoc that does not end")
    return out


def _add_word(out: Lexed, word: str, span: tuple[int, int]) -> None:
    segment = out.segments[-1]
    begins_loop = bool(segment) and segment[0] == _LOOP
    if begins_loop and len(segment) == 2:
        if word != "in":
            raise LexError("a loop over the arguments of the shell")
        out.keywords.add((span[0], word))
        segment.pop(0)
        return
    if not segment:
        if word in KEYWORDS:
            out.keywords.add((span[0], word))
            if word == "for":
                segment.append(_LOOP)
            return
        if word in _COMPOUND:
            raise LexError(f"`{word}` starts a compound command")
        if word in ("!", "{", "}"):
            out.segments.append([])
            return
    segment.append(span)


def _bodies(text: str, position: int, pending: list[tuple[str, bool, bool]], out: Lexed) -> int:
    """Skip the bodies of the heredocs begun on the line that just ended."""
    for delimiter, quoted, strip_tabs in pending:
        start = position
        while True:
            end = text.find("\n", position)
            line = text[position:] if end < 0 else text[position:end]
            if (line.lstrip("\t") if strip_tabs else line) == delimiter:
                break
            if end < 0:
                raise LexError("a heredoc that does not end")
            position = end + 1
        if not quoted and any(c in text[start:position] for c in "$`\\"):
            raise LexError("a heredoc whose text the shell expands")
        body = (start, position)
        if strip_tabs:  # the tabs before the first line and before the delimiter are in neither
            body = (start + _tabs(text, start), position + _tabs(text, position))
        out.heredocs.append(body)
        position = len(text) if end < 0 else end + 1
    return position


def _tabs(text: str, position: int) -> int:
    return len(text[position:]) - len(text[position:].lstrip("\t"))
