"""A shell line as the commands in it: what tree-sitter's bash grammar finds, taken only where we know every node.

Owns reading, not judging. `read` gives every simple command anywhere in the text, also inside what we do not
understand, so that deny rules see it all; and `doubts`, the reasons why the text as a whole is not understood. A text
with a doubt is never auto-allowed. Working directories are followed through `cd`; every possible one is kept.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from assent.permissions import shell_lexer
from assent.permissions.paths import PathRefused, Seen, locate, real_directory
from assent.permissions.shell_words import Word, WordReader, source_text
from assent.permissions.shell_wrappers import WRAPPERS

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_LENGTH = 10_000  # longer lines ask
MAX_READ = 200_000  # longer lines are not even searched for denied commands
MAX_DEPTH = 60
MAX_DIRECTORIES = 8

Directories = frozenset[str] | None
"""The working directories a command may run in; None when nobody can say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    operator: str
    target: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One simple command and every directory it may run in."""

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    directories: Directories = None

    @property
    def argv(self) -> tuple[str, ...]:
        return tuple([word.text for word in self.words])

    @property
    def known(self) -> bool:
        return all(word.known for word in self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    text: str
    commands: tuple[Command, ...] = ()
    doubts: tuple[str, ...] = ()
    unread: bool = False  # not even searched for commands


def read(text: str, *, cwd: str, home: str, seen: Seen | None = None) -> Script:
    if len(text) > MAX_READ:
        return Script(text=text, doubts=("the command is too long to be read",), unread=True)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return Script(text=text, doubts=("the command holds broken characters",), unread=True)
    tree = _parser().parse(data)
    reader = _Reader(home=home, cwd=cwd, seen={} if seen is None else seen)
    reader.doubts.extend(_text_doubts(text))
    if tree.root_node.has_error:
        reader.doubt("the command cannot be parsed")
    reader.statement(tree.root_node, frozenset({real_directory(cwd, reader.seen)}), 0)
    if not reader.doubts:
        try:
            _agree(reader, shell_lexer.lex(data))
        except shell_lexer.LexError as error:
            reader.doubt(str(error))
    return Script(text=text, commands=tuple(reader.commands), doubts=tuple(dict.fromkeys(reader.doubts)))


def warm_up() -> None:
    """Load the grammar before the first decision needs it."""
    _parser()


@lru_cache(maxsize=1)
def _parser() -> "Parser":
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


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


def _agree(reader: "_Reader", lexed: shell_lexer.Lexed) -> None:
    """The grammar's words, operators and boundaries against the lexer's."""
    if sorted(reader.spans) != sorted(lexed.words) or reader.operators != lexed.operators:
        raise shell_lexer.LexError("two readings of the command disagree")
    segment_of = {span: number for number, segment in enumerate(lexed.segments) for span in segment}
    seen: set[int] = set()
    for command in reader.commands:
        if not command.words:
            continue  # redirections of a whole group; their words were compared above
        numbers = {segment_of[word.span] for word in command.words}
        if len(numbers) != 1 or numbers & seen:
            raise shell_lexer.LexError("two readings of the command disagree")
        seen |= numbers
    if sorted(reader.heredocs) != sorted(lexed.heredocs):
        raise shell_lexer.LexError("two readings of the heredoc disagree")


_OPERATORS = frozenset(
    {"&&", "||", "|", "|&", ";", "&", "(", ")", "&>>", "&>", ">>", ">|", ">&", "<&", "<<<", "<<-", "<<", "<>", "<", ">"}
)
_WRITING = frozenset({">", ">>", ">|", "&>", "&>>", "<>"})


@dataclass(slots=True)
class _Reader(WordReader):
    seen: Seen = field(default_factory=dict[str, int | None])
    commands: list[Command] = field(default_factory=list[Command])
    operators: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])
    heredocs: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def unknown(self, node: "Node", depth: int) -> None:
        self._unknown(node, None, depth)

    def statement(self, node: "Node", here: Directories, depth: int) -> tuple[Directories, Directories]:
        """Read one statement begun in `here`; gives the directories after success, and after anything."""
        if depth > MAX_DEPTH:
            self.doubt("the command is nested too deeply")
            return None, None
        match node.type:
            case "program" | "compound_statement":
                return self._sequence(node, here, depth)
            case "subshell":
                self._sequence(node, here, depth)
                return here, here
            case "list":
                return self._list(node, here, depth)
            case "pipeline":
                for child in node.children:
                    if child.is_named:
                        self.statement(child, here, depth + 1)
                    else:
                        self._operator(child)
                return here, here
            case "negated_command":
                after: Directories = here
                for child in node.named_children:
                    after = self.statement(child, here, depth + 1)[1]
                return after, after
            case "redirected_statement":
                return self._redirected(node, here, depth)
            case "command":
                return self._command(node, here, (), depth)
            case "test_command":
                return self._test(node, here, (), depth)
            case "comment":
                return here, here
            case _:
                self._unknown(node, here, depth)
                return None, None

    def _sequence(self, node: "Node", here: Directories, depth: int) -> tuple[Directories, Directories]:
        success = anything = here
        for child in node.children:
            if child.type == "comment":
                continue
            if child.is_named:
                success, after = self.statement(child, anything, depth + 1)
                anything = self._either(anything, after)
            elif child.type not in ("{", "}", "\n"):
                self._operator(child)
        return success, anything

    def _list(self, node: "Node", here: Directories, depth: int) -> tuple[Directories, Directories]:
        success = anything = here
        operator = "&&"
        for child in node.children:
            if child.type == "comment":
                continue
            if not child.is_named:
                operator = child.type
                self._operator(child)
                continue
            won, after = self.statement(child, success if operator == "&&" else anything, depth + 1)
            success = won if operator == "&&" else self._either(success, won)
            anything = self._either(anything, after)
        return success, anything

    def _redirected(self, node: "Node", here: Directories, depth: int) -> tuple[Directories, Directories]:
        redirects: list[Redirect] = []
        body: Node | None = None
        extra: list[Node] = []
        for child in node.named_children:
            if child.type == "file_redirect":
                redirects.extend(self._file_redirect(child, depth))
            elif child.type == "heredoc_redirect":
                extra.extend(self._heredoc(child, redirects, depth))
            elif child.type == "herestring_redirect":
                self._herestring(child, depth)
            elif body is None:
                body = child
            else:
                self._unknown(child, here, depth)
        if body is None:
            self.commands.append(Command(words=(), redirects=tuple(redirects), directories=here))
            self.doubt("a redirection without a command")
            return here, here
        if body.type == "command":
            result = self._command(body, here, tuple(redirects), depth)
        elif body.type == "test_command":
            result = self._test(body, here, tuple(redirects), depth)
        else:
            result = self.statement(body, here, depth + 1)
            if redirects:
                everywhere = self._either(here, result[1])
                self.commands.append(Command(words=(), redirects=tuple(redirects), directories=everywhere))
        for rest in extra:
            self.statement(rest, here, depth + 1)
        return result

    def _command(
        self, node: "Node", here: Directories, redirects: tuple[Redirect, ...], depth: int
    ) -> tuple[Directories, Directories]:
        words: list[Word] = []
        own: list[Redirect] = []
        for child in node.children:
            match child.type:
                case "command_name":
                    words.append(self.word(child.children[0] if child.children else child, depth))
                case "file_redirect":
                    own.extend(self._file_redirect(child, depth))
                case "herestring_redirect":
                    self._herestring(child, depth)
                case "variable_assignment" | "variable_assignments":
                    self.doubt("a variable is set for the command")
                    self._search(child, here, depth)
                case "subshell":
                    self._unknown(child, here, depth)
                case _ if child.is_named:
                    words.append(self.word(child, depth))
                case kind:
                    words.append(self._odd_leaf(child, kind))
        command = Command(words=tuple(words), redirects=(*redirects, *own), directories=here)
        self.commands.append(command)
        return self._change_directory(command, here)

    def _test(
        self, node: "Node", here: Directories, redirects: tuple[Redirect, ...], depth: int
    ) -> tuple[Directories, Directories]:
        if node.children[0].type != "[":
            self.doubt(f"`{node.children[0].type}` evaluates arithmetic")
            self._search(node, here, depth)
            return here, here
        words = tuple(self.word(leaf, depth) for leaf in _test_words(node))
        self.commands.append(Command(words=words, redirects=redirects, directories=here))
        return here, here

    def _change_directory(self, command: Command, here: Directories) -> tuple[Directories, Directories]:
        argv = command.argv
        if not argv or argv[0] not in ("cd", "pushd", "popd"):
            hidden = bool(argv) and argv[0] in WRAPPERS and any(word in ("cd", "pushd", "popd") for word in argv)
            return (None, None) if hidden or argv[:1] in ((".",), ("source",), ("eval",)) else (here, here)
        target = [word for word in command.words[1:] if word.text != "--"]
        plain = len(target) == 1 and target[0].known and not target[0].wild and target[0].text not in ("-", "")
        if argv[0] != "cd" or not plain or here is None:
            return None, None
        there: set[str] = set()
        for directory in here:
            try:
                located = locate(target[0].text, cwd=directory, home=self.home, seen=self.seen)
            except PathRefused:
                return None, None
            if located.target != located.written:
                return None, None  # through a link, `..` means one thing to the shell and another to the kernel
            there.add(located.target)
        new = frozenset(there)
        return new, self._either(here, new)

    def _either(self, one: Directories, other: Directories) -> Directories:
        if one is None or other is None or len(one | other) > MAX_DIRECTORIES:
            return None
        return one | other

    def _file_redirect(self, node: "Node", depth: int) -> list[Redirect]:
        operator = ""
        targets: list[Word] = []
        for child in node.children:
            if child.type == "file_descriptor":
                continue
            if not child.is_named:
                operator = child.type
                self._operator(child)
            else:
                targets.append(self.word(child, depth))
        if len(targets) != 1:
            self.doubt(f"a redirection `{operator}` with {len(targets)} targets")
        if operator in (">&", "<&") and all(word.known and re.fullmatch(r"[0-9]+-?|-", word.text) for word in targets):
            return []
        if operator == ">&":
            operator = "&>"
        elif operator not in _WRITING and operator != "<":
            self.doubt(f"the redirection `{operator}`")
            operator = ">"
        return [Redirect(operator=operator, target=word) for word in targets]

    def _heredoc(self, node: "Node", redirects: list[Redirect], depth: int) -> list["Node"]:
        """Its plain text is input; gives back what else the grammar hung on it."""
        rest: list[Node] = []
        for child in node.children:
            match child.type:
                case "<<" | "<<-":
                    self._operator(child)
                case "heredoc_start":
                    self.spans.append((child.start_byte, child.end_byte))
                case "heredoc_body":
                    self.heredocs.append((child.start_byte, child.end_byte))
                    if any(inner.type != "heredoc_content" for inner in child.named_children):
                        self.doubt("a heredoc whose text the shell expands")
                        self._search(child, None, depth)
                case "heredoc_end" | "comment":
                    pass
                case "file_redirect":
                    redirects.extend(self._file_redirect(child, depth))
                case "pipeline" if child.children and child.children[0].type == "|":
                    rest.append(child)
                case _:
                    self.doubt("a heredoc in the middle of a line")
                    self._search(child, None, depth)
        return rest

    def _herestring(self, node: "Node", depth: int) -> None:
        for child in node.children:
            if child.is_named:
                self.word(child, depth)
            else:
                self._operator(child)

    def _operator(self, node: "Node") -> None:
        if node.type in _OPERATORS:
            self.operators.add((node.start_byte, node.type))
        else:
            self.doubt(f"`{node.type.strip() or node.type!r}` in the command")

    def _odd_leaf(self, node: "Node", kind: str) -> Word:
        self.doubt(f"`{kind}` in the command")
        return Word(text=source_text(node), known=False, span=(node.start_byte, node.end_byte))

    def _unknown(self, node: "Node", here: Directories, depth: int) -> None:
        self.doubt(f"{_KINDS.get(node.type, node.type.replace('_', ' '))} in the command")
        self._search(node, here, depth)

    def _search(self, node: "Node", here: Directories, depth: int) -> None:
        """Find the commands inside something not understood, for deny rules and the iron gate."""
        if depth > MAX_DEPTH:
            self.doubt("the command is nested too deeply")
            return
        for child in node.children:
            if child.type in ("command", "redirected_statement", "test_command", "list", "pipeline"):
                self.statement(child, here, depth + 1)
            else:
                self._search(child, here, depth + 1)


_KINDS = {
    "command_substitution": "a command substitution",
    "process_substitution": "a process substitution",
    "function_definition": "a function definition",
    "arithmetic_expansion": "arithmetic",
    "declaration_command": "a variable declaration",
    "variable_assignment": "an assignment",
    "variable_assignments": "assignments",
    "unset_command": "`unset`",
    "for_statement": "a loop",
    "c_style_for_statement": "a loop",
    "while_statement": "a loop",
    "if_statement": "a condition",
    "case_statement": "a `case`",
    "ERROR": "something unreadable",
}


def _test_words(node: "Node") -> Iterator["Node"]:
    """The words of `[ … ]`, out of the expressions the grammar makes of them; without recursion, they may be deep."""
    pending = list(reversed(node.children))
    while pending:
        child = pending.pop()
        if child.type in ("unary_expression", "binary_expression", "negation_expression", "negated_command"):
            pending.extend(reversed(child.children))
        else:
            yield child
