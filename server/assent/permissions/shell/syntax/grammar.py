"""A shell line as the commands in it: what tree-sitter's bash grammar finds, taken only where we know every node.

Owns reading, not judging. `read` gives every simple command anywhere in the text, also inside what we do not
understand, so that deny rules see it all; and `doubts`, the reasons why the text as a whole is not understood. A text
with a doubt is never auto-allowed. Working directories are followed through `cd`; every possible one is kept.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from assent.permissions.paths import Seen, real_directory
from assent.permissions.shell.syntax import lexer as shell_lexer
from assent.permissions.shell.syntax.simple_commands import Command
from assent.permissions.shell.syntax.statements import StatementReader
from assent.permissions.shell.syntax.unsettled import may_unsettle
from assent.permissions.shell.syntax.words import TooManyWordsError

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_LENGTH = 10_000  # longer lines ask
MAX_READ = 200_000  # longer lines are not even searched for denied commands
MAX_STRUCTURE = 400  # characters that give a line its structure: the grammar's time may grow with their square
MAX_TESTED = 100  # words after `[`, `[[` or `function`: the grammar's time grows fast with those that do not fit
MAX_QUOTES = 2000  # double ones
MAX_NODES = 3000  # of the tree: what is bigger is not looked through


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    text: str
    commands: tuple[Command, ...] = ()
    doubts: tuple[str, ...] = ()
    unread: bool = False  # not even searched for commands
    misread: bool = False  # searched, but it may hold commands that are not among these
    unsettled: bool = False  # it may change what its own words mean
    crowded: bool = False  # has more words than are looked at: none of them was read

    @property
    def lost(self) -> bool:
        """Does nobody know what it would do?"""
        return self.unread or self.misread


def read(
    text: str, *, cwd: str, home: str, seen: Seen | None = None, unsettled: bool = False, anywhere: bool = False
) -> Script:
    """`unsettled`: the shell that runs it has odd variables or options; `anywhere`: nobody knows in which folder"""
    if len(text) > MAX_READ:
        return Script(text=text, doubts=("the command is too long to be read",), unread=True)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return Script(text=text, doubts=("the command holds broken characters",), unread=True)
    if _overloaded(text, data):
        return Script(text=text, doubts=("the command has too much structure to be read",), unread=True)
    tree = _parser().parse(data)
    if tree.root_node.descendant_count > MAX_NODES:
        return Script(text=text, doubts=("the command has too many parts to be read",), unread=True)
    first = StatementReader(home=home, cwd=cwd, seen={} if seen is None else seen, unsettled=unsettled)
    first.anywhere = anywhere
    first.doubts.extend(_text_doubts(text))
    if tree.root_node.has_error:
        first.doubt("the command cannot be parsed")
    try:
        reader = _with_care(_read_tree(first, tree.root_node, data), tree.root_node, text)
    except TooManyWordsError:
        return Script(text=text, doubts=tuple(dict.fromkeys(first.doubts)), crowded=True)
    return Script(
        text=text,
        commands=tuple(reader.commands),
        doubts=tuple(dict.fromkeys(reader.doubts)),
        misread=tree.root_node.has_error or reader.misread,
        unsettled=reader.unsettled,
    )


def _read_tree(reader: StatementReader, root: "Node", data: bytes) -> StatementReader:
    """Raises TooManyWordsError."""
    here = None if reader.anywhere else frozenset({real_directory(reader.cwd, reader.seen)})
    reader.statement(root, here, 0)
    if not reader.doubts:
        try:
            lexed = shell_lexer.lex(data)
            if not _agree(reader, lexed):
                reader.doubt("two readings of the command disagree")
                reader.misread = not _agree(reader, _without_lost_dashes(reader, lexed, data))
        except shell_lexer.LexError as error:
            reader.doubt(str(error))
    return reader


def _without_lost_dashes(reader: StatementReader, lexed: shell_lexer.Lexed, data: bytes) -> shell_lexer.Lexed:
    """The grammar drops a lone `-` before a heredoc, which names no file and runs nothing."""
    found = set(reader.spans)
    kept = [[span for span in each if span in found or data[slice(*span)] != b"-"] for each in lexed.segments]
    return replace(lexed, segments=kept)


def _with_care(reader: StatementReader, root: "Node", text: str) -> StatementReader:
    """Read again without counting on directories, variables and wildcards, where the line does not leave them alone."""
    lost = any(moved <= use for moved in reader.moved for use in reader.pwd_uses)
    adrift = root.has_error or (reader.searched and reader.moves > 0)
    unsettled = reader.unsettled or may_unsettle(text, reader.commands, doubted=bool(reader.doubts))
    if not adrift and not lost and unsettled == reader.unsettled:
        return reader
    again = StatementReader(home=reader.home, cwd=reader.cwd, seen=reader.seen, unsettled=unsettled)
    again.anywhere, again.adrift, again.lost = reader.anywhere, adrift, lost or adrift
    again.doubts.extend(reader.doubts)
    return _read_tree(again, root, text.encode())


def warm_up() -> None:
    """Load the grammar before the first decision needs it."""
    _parser()


@lru_cache(maxsize=1)
def _parser() -> "Parser":
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


_STRUCTURE = re.compile(r"[|&;<>()\[{$`]")
_CLOSING = re.compile(r"[\]}!~]")
_LONG_OPEN = re.compile(
    r"\(\([^)]{500}|(?:\w|\$)\[[^\]]{500}|\$\{[^}]{500}"
    r"|\b(?:declare|typeset|export|local|readonly)(?:[ \t]++[^\s;]++){100}"
    r"|(?:\bcase|;;(?!\s*esac))(?:\s++[^\s)]++){100}"
)
"""Arithmetic, a subscript, an expansion, a declaration or a pattern that does not end where one of a person's would."""
_QUOTED = re.compile(r"\\.|'[^']*+'|\"(?:[^\"\\]|\\.)*+\"", re.DOTALL)


def _overloaded(text: str, data: bytes) -> bool:
    """What stands in quotes and heredocs does not count, where the small reader can tell."""
    if (
        len(_STRUCTURE.findall(text)) <= MAX_STRUCTURE
        and text.count('"') <= MAX_QUOTES
        and not _unclosed(text)
        and not _long_test(text.split())
    ):
        return False
    try:
        lexed = shell_lexer.lex(data)
    except shell_lexer.LexError:
        return True
    words = [data[start:end].decode("latin-1") for start, end in lexed.words]
    structure = len(lexed.operators) + len(_STRUCTURE.findall(_QUOTED.sub("", "".join(words))))
    return structure > MAX_STRUCTURE or _long_test(words) or _unclosed(_without_quoted(data, lexed))


def _without_quoted(data: bytes, lexed: shell_lexer.Lexed) -> str:
    """The line with nothing in its quotes, and without the text of heredocs."""
    text = data.decode("latin-1")
    words = set(lexed.words)
    kept: list[str] = []
    position = 0
    for start, end in sorted((*words, *lexed.heredocs)):
        kept.append(text[position:start])
        kept.append(_QUOTED.sub("''", text[start:end]) if (start, end) in words else "")
        position = end
    return "".join([*kept, text[position:]])


def _unclosed(text: str) -> bool:
    """Does something begin in it that the grammar would look for the end of for long?"""
    return len(_CLOSING.findall(text)) > MAX_STRUCTURE or _LONG_OPEN.search(text) is not None


def _long_test(words: list[str]) -> bool:
    """Many words where the grammar expects the end of a test, a subscript or the name of a function."""
    begun, end = None, "]]"
    for number, word in enumerate(words):
        if begun is not None and number - begun > MAX_TESTED:
            return True
        if end in word or word.endswith("{"):
            begun = None
        elif begun is None and (word == "[" or "[[" in word or word == "function"):
            begun, end = number, "]" if word == "[" else "]]"
    return False


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_INVISIBLE = frozenset({"Cf", "Cc", "Zs", "Zl", "Zp", "Co", "Cn"})


def _text_doubts(text: str) -> Iterator[str]:
    if len(text) > MAX_LENGTH:
        yield "the command is too long to be judged"
    if _CONTROL.search(text):
        yield "the command holds control characters"
    if not text.isascii() and any(ord(c) > 127 and unicodedata.category(c) in _INVISIBLE for c in text):
        yield "the command holds invisible characters"
    if not text.strip():
        yield "the command is empty"


def _agree(reader: StatementReader, lexed: shell_lexer.Lexed) -> bool:
    """Are the grammar's words, operators and boundaries those of the lexer?"""
    same = sorted(reader.spans) == sorted(lexed.words) and reader.operators == lexed.operators
    if not same or reader.keywords != lexed.keywords or sorted(reader.heredocs) != sorted(lexed.heredocs):
        return False
    segment_of = {span: number for number, segment in enumerate(lexed.segments) for span in segment}
    seen: set[int] = set()
    for command in reader.commands:
        if not command.words:
            continue  # redirections of a whole group; their words were compared above
        numbers = {segment_of[word.span] for word in command.words}
        if len(numbers) != 1 or numbers & seen:
            return False
        seen |= numbers
    return True
