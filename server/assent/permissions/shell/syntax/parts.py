"""One simple command as it was judged: what it reads, writes and may do; and which files its words may name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from assent.permissions.paths import Located, Seen, locate, matches
from assent.permissions.shell.syntax.directories import Directories
from assent.permissions.shell.syntax.simple_commands import Command
from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.selections import EVERYTHING, Selection

MAX_PIECES = 50  # of one word, each of which may name a file

_PIECES = re.compile(r"[=:@,{}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PathUse:
    """A word that names a file for a command, and the directories it may be relative to."""

    word: Word
    directories: Directories


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """Something that arrives in another place under its own name, or as the very target."""

    source: PathUse
    target: PathUse
    deep: bool  # with everything below it


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One simple command and what it would do."""

    argv: tuple[str, ...]
    known: bool  # every word is what the command will get
    harmless: bool = False  # but for its redirections, it only reads `reads`
    reason: str = ""  # why it is not
    listed: bool = False  # the table knows the command, so a rule for it covers only its harmless use
    spelled: tuple[str, ...] = ()  # words a rule must spell out to cover them
    reads: tuple[PathUse, ...] = ()
    writes: tuple[PathUse, ...] = ()  # by its own arguments
    outputs: tuple[PathUse, ...] = ()  # by redirection
    maybe: tuple[PathUse, ...] = ()  # may be read or written, nobody knows
    removes: tuple[PathUse, ...] = ()
    spreads: tuple[PathUse, ...] = ()  # directories below which it may change files that it does not name
    revises: tuple[PathUse, ...] = ()  # working trees of which git may bring files to another state
    alters: tuple[PathUse, ...] = ()  # what it changes or removes with all that lies below
    sweeps: tuple[PathUse, ...] = ()  # the same, but nobody knows the program: it may leave all of it alone
    selection: Selection = EVERYTHING  # of what lies below those it removes or alters, that which counts
    carried: tuple[Carried, ...] = ()  # what it copies, moves or links
    arrives: tuple[PathUse, ...] = ()  # directories that get files whose names nobody here sees
    recursive: bool = False
    looked: str = ""  # a word that is harmless only by what the directory holds now
    edits_only: bool = False  # a plain file command: what acceptEdits stands for
    code: bool = False  # an argument is a program that may run others
    gate: str = ""  # why it needs a person even in bypass, whatever its arguments name
    inner: bool = False  # found inside a wrapper or a substitution
    certain: bool = True  # False: a guess at what a wrapper runs, for deny rules and the iron gate only
    weak: bool = False  # a guess at what an unknown program might run: deny rules ask about it
    repository_doubt: str = ""

    @property
    def read_only(self) -> bool:
        return self.harmless and not self.outputs


def uses(words: list[Word], directories: Directories) -> tuple[PathUse, ...]:
    return tuple(PathUse(word=word, directories=directories) for word in words)


def pieces(word: Word) -> int:
    """How many more names stand in it; a text with blanks in it is taken for prose or code, which names no files."""
    if not _PIECES.search(word.text) or re.search(r"\s", word.text):
        return 0
    return len(_PIECES.findall(word.text))


def named_files(command: Command) -> tuple[PathUse, ...]:
    """Every word, and every value inside a flag, that could name a file."""
    found: list[PathUse] = []
    if not command.naming:
        return ()
    for word in command.words[1:]:
        texts = [word.text]
        if "=" in word.text:
            texts.append(word.text.partition("=")[2])
        if re.match(r"-[A-Za-z].", word.text):
            texts.append(word.text[2:])
        if _PIECES.search(word.text):  # field=@file, file:place, file:///path
            texts += _PIECES.split(word.text, MAX_PIECES)
        for text in texts:
            if text and (not text.startswith("-") or text != word.text) and "\n" not in text and len(text) < 4096:
                wild = word if text == word.text else replace(word, text=text, pattern=text)
                found.append(PathUse(word=wild, directories=command.directories))
    return tuple(found)


def locations(use: PathUse, *, cwd: str, home: str, seen: Seen) -> Iterator[Located]:
    """Every file the word may name. Raises PathRefused."""
    for directory in use.directories if use.directories is not None else (cwd,):
        yield locate(use.word.text, cwd=directory, home=home, seen=seen)
        if use.word.text.startswith("~"):  # the shell has expanded its own; what is left may be a name, or a program's
            yield locate(f"./{use.word.text}", cwd=directory, home=home, seen=seen)
        if use.word.wild:
            for name in matches(use.word.pattern, cwd=directory):
                yield locate(name, cwd=directory, home=home, seen=seen)
