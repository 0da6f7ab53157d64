"""What a table row says of a command, and how a command line is read against it.

A row lists the flags that may occur, each with its exact arity: none, a required value, or an optional one that can
only be attached. Nothing is guessed: a flag that is not listed, an abbreviation, a value where none belongs, a value
that begins with a dash, and a word that the shell may turn into a flag are hazards. A row is data; programs that do
not read their words as getopt does have a reader of their own (`Row.reader`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.short_flags import last_of

Operands = Literal["paths", "text", "none", "pattern", "format"]
Arity = Literal["none", "required", "attached"]

_SPELLING = re.compile(r"(--?[^:=?]+)(:|=\?|=|\?)?([<#$]*)")
_NUMBER = re.compile(r"-[0-9]+")


@dataclass(slots=True)
class CommandUsage:
    """What one command line does, as far as the table can tell. No hazards: it only reads `reads`."""

    hazards: list[str] = field(default_factory=list[str])
    spelled: list[str] = field(default_factory=list[str])  # the words behind the hazards, as a rule would spell them
    reads: list[Word] = field(default_factory=list[Word])
    writes: list[Word] = field(default_factory=list[Word])  # known only for what the iron gate must see
    recursive: bool = False  # reads the contents of everything below `reads`
    code: bool = False  # an argument is a program that may run others
    operands: list[Word] = field(default_factory=list[Word])
    values: list[tuple[str, Word]] = field(default_factory=list[tuple[str, Word]])  # of flags, in their order
    looked: list[Word] = field(default_factory=list[Word])  # harmless only while no name they match begins with a dash
    literal: list[Word] = field(default_factory=list[Word])  # harmless only while they match no name at all

    def hazard(self, reason: str, word: str) -> None:
        self.hazards.append(reason)
        self.spelled.append(word)


Checker = Callable[[Sequence[Word], CommandUsage, set[str]], None]
"""Looks at what getopt's reading has found: all words, the usage so far, the flags that occur."""
Reader = Callable[[Sequence[Word], CommandUsage], None]
"""Reads all words itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    arity: Arity
    reads: bool = False  # the value names a file that is read
    negative: bool = False  # the value may be a negative number
    last: bool = False  # as the last word it needs no value


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One read-only command.

    Spellings of flags: `-x` and `--long` take no value, `-x:` and `--long=` need one, separate or attached, `-x?` and
    `--long=?` may have one attached. Marks after that: `<` the value is a file it reads; `#` the value may be a
    negative number; `$` as the last word of the line the flag needs no value.
    """

    options: frozenset[str]
    flags: Mapping[str, Flag]
    operands: Operands = "paths"
    most: int | None = None  # operands at most: a further one may be an output
    numeric: bool = False  # -5 is short for -n 5
    clusters: bool = True  # the program reads -ab as -a -b
    wild_flags: bool = False  # no flag of the whole real program writes, executes or names a file
    looked: bool = False  # none writes or executes: a wildcard is fine while it meets no name that begins with a dash
    recursive: frozenset[str] = frozenset()
    check: Checker | None = None
    reader: Reader | None = None


def row(
    options: str = "",
    operands: Operands = "paths",
    *,
    most: int | None = None,
    numeric: bool = False,
    clusters: bool = True,
    wild_flags: bool = False,
    looked: bool = False,
    recursive: str = "",
    standard: str = "--help --version",
    check: Checker | None = None,
    reader: Reader | None = None,
) -> Row:
    spellings = frozenset((*options.split(), *standard.split()))
    flags = dict(map(_flag, spellings))
    if len(flags) < len(spellings):
        raise ValueError(f"a flag is spelled with two arities in {sorted(spellings)}")
    return Row(
        options=spellings,
        flags=flags,
        operands=operands,
        most=most,
        numeric=numeric,
        clusters=clusters,
        wild_flags=wild_flags,
        looked=looked,
        recursive=frozenset(recursive.split()),
        check=check,
        reader=reader,
    )


def _flag(spelling: str) -> tuple[str, Flag]:
    found = _SPELLING.fullmatch(spelling)
    if found is None:
        raise ValueError(f"{spelling!r} does not spell a flag")
    arity: Arity = "none" if not found[2] else "attached" if "?" in found[2] else "required"
    marks = found[3]
    return found[1], Flag(arity=arity, reads="<" in marks, negative="#" in marks, last="$" in marks)


def read_usage(row: Row, words: Sequence[Word]) -> CommandUsage:
    """`words` without the command's own name."""
    usage = CommandUsage()
    if row.reader is not None:
        row.reader(words, usage)
        return usage
    reading = _Reading(row=row, words=words, usage=usage)
    reading.read()
    _place_operands(row, usage, reading.used)
    if row.most is not None and (len(usage.operands) > row.most or any(word.wild for word in usage.operands)):
        usage.hazard("a further name would be written to", usage.operands[-1].text)
    usage.recursive = "*" in row.recursive or bool(reading.used & row.recursive)
    if row.check is not None:
        row.check(words, usage, reading.used)
    return usage


@dataclass(slots=True, kw_only=True)
class _Reading:
    """One pass over the words, as getopt makes it."""

    row: Row
    words: Sequence[Word]
    usage: CommandUsage
    used: set[str] = field(default_factory=set[str])
    position: int = 0
    only_operands: bool = False

    def read(self) -> None:
        while self.position < len(self.words):
            word = self.words[self.position]
            self.position += 1
            text = word.text
            if self.only_operands or text == "-" or not text.startswith("-"):
                self._operand(word)
            elif self.row.most is not None and self.usage.operands:
                self.usage.hazard("a flag after a name, which may be taken for an output", text)
            elif text == "--":
                self.only_operands = True
            elif text.startswith("--"):
                self._long(word)
            elif not word.plain:
                self.usage.hazard(f"`{text}`, a flag that the shell may turn into another", text)
            elif not (self.row.numeric and _NUMBER.fullmatch(text)):
                self._short(word)

    def _operand(self, word: Word) -> None:
        row, usage = self.row, self.usage
        usage.operands.append(word)
        if word.plain:
            return
        if not word.known and not (row.operands == "text" and (row.wild_flags or self.only_operands)):
            usage.hazard(f"`{word.text}`, whose value is not known", word.text)
        elif word.may_be_flag and not self.only_operands and not row.wild_flags:
            if row.looked and word.known:
                usage.looked.append(word)
            else:
                usage.hazard(f"`{word.text}`, which the shell may turn into a flag", word.text)

    def _long(self, word: Word) -> None:
        name, equals, value = word.text.partition("=")
        self.used.add(name)
        flag = self.row.flags.get(name)
        if flag is None or (equals and flag.arity == "none") or not (word.known or equals):
            self.usage.hazard(f"the flag `{name}`", name)
        elif equals:
            if word.wild:
                self.usage.literal.append(word)  # --include=*.py
            self._value(name, flag, word.part(value), sure=True)
        elif flag.arity == "required":
            self._next_value(name, flag)

    def _short(self, word: Word) -> None:
        clusters = self.row.clusters
        last = last_of(word.text[1:], self.row.flags, self.used, fits=lambda _flag, index, _rest: clusters or not index)
        if last is None:
            return
        if last.flag is None:
            self.usage.hazard(f"the flag `{last.name}`", word.text)
        elif last.rest:
            self._value(last.name, last.flag, word.part(last.rest))
        elif last.flag.arity == "required":
            self._next_value(last.name, last.flag)

    def _next_value(self, name: str, flag: Flag) -> None:
        if self.position >= len(self.words):
            if not flag.last:
                self.usage.hazard(f"the flag `{name}` without its value", name)
            return
        value = self.words[self.position]
        self.position += 1
        if value.wild:
            self.usage.hazard(f"the value of `{name}` is a wildcard", value.text)
        elif self.usage.operands and not flag.reads:
            self.usage.reads.append(value)  # where flags end at the first name, this is a further one
        self._value(name, flag, value)

    def _value(self, name: str, flag: Flag, value: Word, *, sure: bool = False) -> None:
        """`sure`: it stands after `=`, so it is a value and nothing else."""
        text = value.text
        self.usage.values.append((name, value))
        if not value.known or (value.wild and flag.reads):
            self.usage.hazard(f"the value of `{name}` is not known", text)
        elif text.startswith("-") and text != "-" and not (sure or (flag.negative and _NUMBER.fullmatch(text))):
            self.usage.hazard(f"the value of `{name}` looks like a flag", text)
        elif flag.reads and text != "-":
            self.usage.reads.append(value)


def _place_operands(row: Row, usage: CommandUsage, used: set[str]) -> None:
    operands = usage.operands
    if row.operands == "paths":
        usage.reads.extend(word for word in operands if word.text != "-")
    elif row.operands == "pattern":
        skip = 0 if used & {"-e", "-f", "--regexp", "--file", "--files", "--type-list"} else 1
        usage.literal.extend(operands[:skip])
        usage.reads.extend(word for word in operands[skip:] if word.text != "-")
    elif row.operands == "none" and operands:
        usage.hazard(f"`{operands[0].text}` is not expected here", operands[0].text)
    elif row.operands == "format":
        for word in operands:
            if not word.text.startswith("+"):
                usage.hazard(f"`{word.text}` would set something", word.text)
