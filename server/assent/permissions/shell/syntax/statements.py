"""The statements of a shell line: which simple commands stand in it, with their redirections, inputs and directories.

Reads tree-sitter's nodes and knows every kind it accepts; any other node is a doubt, and is searched for commands all
the same, so that deny rules see them. Judges nothing.
"""

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from assent.permissions.paths import Seen
from assent.permissions.shell.syntax import directories as shell_directories
from assent.permissions.shell.syntax.bracket_tests import by_itself, file_tests, words_in_brackets
from assent.permissions.shell.syntax.directories import Directories, either
from assent.permissions.shell.syntax.kinds import kind_of
from assent.permissions.shell.syntax.lexer import KEYWORDS, RESERVED
from assent.permissions.shell.syntax.simple_commands import Command, Redirect
from assent.permissions.shell.syntax.unsettled import may_set
from assent.permissions.shell.syntax.words import Word, WordReader, source_text

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 60


_OPERATORS = frozenset(
    {"&&", "||", "|", "|&", ";", "&", "(", ")", "&>>", "&>", ">>", ">|", ">&", "<&", "<<<", "<<-", "<<", "<>", "<", ">"}
)
_WILDCARD = re.compile(r"[*?\[]")
_LOOP_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
_BACKTICK = re.compile(r"(?<!\\)(?:\\\\)*+`")  # in the text of a heredoc the grammar does not look behind one
_WRITING = frozenset({">", ">>", ">|", "&>", "&>>", "<>"})


@dataclass(slots=True)
class StatementReader(WordReader):
    seen: Seen = field(default_factory=dict[str, int | None])
    commands: list[Command] = field(default_factory=list[Command])
    operators: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])
    heredocs: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    keywords: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])
    anywhere: bool = False  # nobody knows where the line begins
    adrift: bool = False  # the line moves, and holds something in which nobody follows it
    moves: int = 0  # how many commands may change the directory
    misread: bool = False  # the grammar has taken something for a command that is none
    searched: bool = False  # commands were found in something whose order is not followed
    moved: list[int] = field(default_factory=list[int])  # where in the text the directory has changed
    bindings: list[str] = field(default_factory=list[str])  # of loops, in the order in which they stand

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
                moves = self.moves
                self._pipeline(node, here, depth)
                lasts = self.unsettled and self.moves > moves  # with `lastpipe`, its end runs in this very shell
                return (None, None) if lasts else (here, here)
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
            case "for_statement":
                return self._loop(node, here, depth)
            case "if_statement" | "elif_clause" | "else_clause":
                after = self._sequence(node, here, depth)[1]  # any branch may have been the one that ran
                return after, after
            case _:
                self._unknown(node, here, depth)
                return None, None

    def _pipeline(self, node: "Node", here: Directories, depth: int, feeders: tuple[Command, ...] = ()) -> None:
        for child in node.children:
            if not child.is_named:
                self._operator(child)
                continue
            first = len(self.commands)
            self.statement(child, here, depth + 1)
            if feeders:
                self._feed(first, feeders=feeders)
            feeders = tuple(self.commands[first:])

    def _feed(self, first: int, *, given: str | None = None, feeders: tuple[Command, ...] = ()) -> None:
        """What the commands from the `first` on may find in their input: any of them may be the one that reads it."""
        for number in range(first, len(self.commands)):
            command = self.commands[number]
            self.commands[number] = replace(
                command,
                given=command.given if command.given is not None else given,
                feeders=command.feeders or feeders,
            )

    def _sequence(self, node: "Node", here: Directories, depth: int) -> tuple[Directories, Directories]:
        success = anything = here
        for child in node.children:
            if child.type == "comment":
                continue
            if child.is_named:
                success, after = self.statement(child, anything, depth + 1)
                anything = either(anything, after)
            elif child.type in KEYWORDS:
                self.keywords.add((child.start_byte, child.type))
            elif child.type not in ("{", "}", "\n"):
                self._operator(child)
        return success, anything

    def _loop(self, node: "Node", here: Directories, depth: int) -> tuple[Directories, Directories]:
        """`for name in words`: what the words may be is looked at, what the name then holds counts as unknown."""
        words: list[Word] = []
        over_words = False
        name = ""
        for child in node.children:
            if child.type in ("for", "in"):
                self.keywords.add((child.start_byte, child.type))
                over_words = over_words or child.type == "in"
            elif child.type == "variable_name":
                span = (child.start_byte, child.end_byte)
                self.spans.append(span)
                words.append(Word(text=":", pattern=":", span=span))  # the words go nowhere else
                name = source_text(child)
                self._bind(name)
            elif child.type == "do_group":
                self.commands.append(Command(words=tuple(words), directories=here))
                first, doubts, bindings = len(self.commands), len(self.doubts), len(self.bindings)
                moves = self.moves
                self._sequence(child, None if self.adrift else here, depth + 1)
                if self.moves > moves:
                    self.doubt("a loop that changes its directory")
                    self.searched = True
                    here = None
                sure = len(self.doubts) == doubts and name not in self.bindings[bindings:]
                if sure and all(word.known for word in words):
                    self._go_through(first, name, tuple(words[1:]))
            elif numbers := self.numbers(child):
                words += numbers
            elif child.is_named:
                words.append(self._known_word(child, depth))
                if not words[-1].wild and _WILDCARD.search(words[-1].text):
                    self.doubt("a quoted wildcard, which the loop's variable would carry to where the shell expands it")
            else:
                self._operator(child)
        if not over_words:
            self.doubt("a loop over the arguments of the shell")
        return here, here

    def _go_through(self, first: int, name: str, words: tuple[Word, ...]) -> None:
        """The commands from the `first` on see these words in turn, if none of them sets the variable."""
        body = self.commands[first:]
        if any(command.words and may_set(command.words[0]) for command in body):
            return
        for number, command in enumerate(body, first):
            self.commands[number] = replace(command, loops=((name, words), *command.loops))

    def _bind(self, name: str) -> None:
        """Programs read variables too: a loop sets none that could be meant for them, like those of `hardening_env`."""
        if not _LOOP_NAME.fullmatch(name) or name.endswith("_proxy") or name.startswith("npm_"):
            self.doubt(f"a loop that sets `{name}`")
        self.bound.add(name)
        self.bindings.append(name)

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
            success = won if operator == "&&" else either(success, won)
            anything = either(anything, after)
        return success, anything

    def _redirected(self, node: "Node", here: Directories, depth: int) -> tuple[Directories, Directories]:
        redirects: list[Redirect] = []
        body: Node | None = None
        extra: list[Node] = []
        given: list[str] = []
        first = len(self.commands)
        for child in node.named_children:
            if child.type == "file_redirect":
                redirects.extend(self._file_redirect(child, depth))
            elif child.type == "heredoc_redirect":
                extra.extend(self._heredoc(child, redirects, given, depth))
            elif child.type == "herestring_redirect":
                given.append(self._herestring(child, depth))
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
                everywhere = either(here, result[1])
                self.commands.append(Command(words=(), redirects=tuple(redirects), directories=everywhere))
        if given:
            self._feed(first, given="\n".join(given))
        feeders = tuple(self.commands[first:])
        for rest in extra:
            self._pipeline(rest, here, depth, feeders)
        return result

    def _command(
        self, node: "Node", here: Directories, redirects: tuple[Redirect, ...], depth: int
    ) -> tuple[Directories, Directories]:
        words: list[Word] = []
        own: list[Redirect] = []
        given: list[str] = []
        for child in node.children:
            match child.type:
                case "command_name":
                    words.append(self.word(child.children[0] if child.children else child, depth))
                case "file_redirect":
                    own.extend(self._file_redirect(child, depth))
                case "herestring_redirect":
                    given.append(self._herestring(child, depth))
                case "variable_assignment" | "variable_assignments":
                    self.doubt("a variable is set for the command")
                    self._search(child, here, depth)
                case "subshell":
                    self._unknown(child, here, depth)
                case "brace_expression" if numbers := self.numbers(child):
                    words += numbers
                case _ if child.is_named:
                    words.append(self.word(child, depth))
                case kind:
                    words.append(self._odd_leaf(child, kind))
        if any(word.wild and not word.known for word in words):
            self.doubt("a wildcard beside something whose value is not known")
        command = Command(
            words=tuple(words),
            redirects=(*redirects, *own),
            directories=here,
            given="\n".join(given) if given else None,
        )
        self.commands.append(command)
        if words and words[0].text in RESERVED:
            self.doubt(f"`{words[0].text}` is taken for a command")
            self.misread = True
        self.moves += shell_directories.moves(command.words)
        moved = shell_directories.after(command.words, here, home=self.home, seen=self.seen, unsettled=self.unsettled)
        if moved != (here, here) or here is None:
            self.moved.append(node.end_byte)
        return moved

    def _test(
        self, node: "Node", here: Directories, redirects: tuple[Redirect, ...], depth: int
    ) -> tuple[Directories, Directories]:
        if node.children[0].type not in ("[", "[[") or (node.children[0].type == "[[" and not file_tests(node)):
            self.doubt(f"`{node.children[0].type}` evaluates arithmetic")
            self._search(node, here, depth)
            self.commands.append(Command(words=(), redirects=redirects, directories=here))
            return here, here
        tests: list[list[Word]] = [[]]
        for leaf in words_in_brackets(node):
            if leaf.type in ("&&", "||") and node.children[0].type == "[[":
                self._operator(leaf)
                tests.append([])
            elif leaf.type != "!" or tests[-1]:  # one after an operator is no word
                tests[-1].append(self.word(leaf, depth))
        for words in tests if len(tests) == 1 else map(by_itself, tests):
            self.commands.append(Command(words=tuple(words), redirects=redirects, directories=here))
        return here, here

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
                targets.append(self._known_word(child, depth))
        if len(targets) != 1:
            self.doubt(f"a redirection `{operator}` with {len(targets)} targets")
            operator = ">"  # what it does to them is not known
        if operator in (">&", "<&") and all(word.known and re.fullmatch(r"[0-9]+-?|-", word.text) for word in targets):
            return []
        if operator == ">&":
            operator = "&>"
        elif operator not in _WRITING and operator != "<":
            self.doubt(f"the redirection `{operator}`")
            operator = ">"
        return [Redirect(operator=operator, target=word) for word in targets]

    def _heredoc(self, node: "Node", redirects: list[Redirect], given: list[str], depth: int) -> list["Node"]:
        """Its plain text is input; gives back what else the grammar hung on it."""
        rest: list[Node] = []
        expands = True
        for child in node.children:
            match child.type:
                case "<<" | "<<-":
                    self._operator(child)
                case "heredoc_start":
                    self.spans.append((child.start_byte, child.end_byte))
                    expands = not re.search(r"['\"\\]", source_text(child))
                case "heredoc_body":
                    self.heredocs.append((child.start_byte, child.end_byte))
                    given.append(source_text(child))
                    self.misread = self.misread or (expands and _BACKTICK.search(given[-1]) is not None)
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

    def _herestring(self, node: "Node", depth: int) -> str:
        text = ""
        for child in node.children:
            if child.is_named:
                text = self._known_word(child, depth).text
            else:
                self._operator(child)
        return text

    def _known_word(self, node: "Node", depth: int) -> Word:
        """A word that must be known wherever it stands: no command judges it."""
        word = self.word(node, depth)
        if word.doubt:
            self.doubt(word.doubt)
        return word

    def _operator(self, node: "Node") -> None:
        if node.type in _OPERATORS:
            self.operators.add((node.start_byte, node.type))
        else:
            self.doubt(f"`{node.type.strip() or node.type!r}` in the command")

    def _odd_leaf(self, node: "Node", kind: str) -> Word:
        self.doubt(f"`{kind}` in the command")
        return Word(text=source_text(node), known=False, span=(node.start_byte, node.end_byte))

    def _unknown(self, node: "Node", here: Directories, depth: int) -> None:
        self.doubt(f"{kind_of(node.type)} in the command")
        self._search(node, here, depth)

    def _search(self, node: "Node", here: Directories, depth: int) -> None:
        """Find the commands inside something not understood, for deny rules and the iron gate."""
        if depth > MAX_DEPTH:
            self.doubt("the command is nested too deeply")
            return
        self.searched = True
        here = None if self.adrift else here
        for child in node.children:
            if child.type in ("command", "redirected_statement", "test_command", "list", "pipeline"):
                self.statement(child, here, depth + 1)
            elif child.type == "file_redirect":  # $(< file)
                self.commands.append(
                    Command(words=(), redirects=tuple(self._file_redirect(child, depth)), directories=here)
                )
            else:
                self._search(child, here, depth + 1)
