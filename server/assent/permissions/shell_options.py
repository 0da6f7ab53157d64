"""What a table row says of a command, and how a command line is read against it.

Options are read as GNU getopt reads them, except that nothing is guessed: an abbreviation, an unknown letter or a value
where none belongs is a hazard. A row is data; the few commands whose arguments are a language of their own have a
checker (`shell_languages.py`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from assent.permissions.shell_words import Word

Operands = Literal["paths", "text", "none", "pattern", "format"]


@dataclass(slots=True)
class Usage:
    """What one command line does, as far as the table can tell. No hazards: it only reads `reads`."""

    hazards: list[str] = field(default_factory=list[str])
    spelled: list[str] = field(default_factory=list[str])  # the words behind the hazards, as a rule would spell them
    reads: list[Word] = field(default_factory=list[Word])
    writes: list[Word] = field(default_factory=list[Word])  # known only for what the iron gate must see
    recursive: bool = False  # reads the contents of everything below `reads`
    code: bool = False  # an argument is a program that may run others
    operands: list[Word] = field(default_factory=list[Word])
    wildcards: list[Word] = field(default_factory=list[Word])  # may expand to a name that is taken for a flag
    literal: list[Word] = field(default_factory=list[Word])  # must not expand at all: programs, patterns, flags

    def hazard(self, reason: str, word: str) -> None:
        self.hazards.append(reason)
        self.spelled.append(word)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One read-only command. Option spellings: `-x`, `--long`; `:` or `=` after it: takes a value; `=?` may take
    one with `=`; `-x?` may have one attached; `<` after that: the value is a file it reads."""

    options: frozenset[str]
    operands: Operands = "paths"
    most: int | None = None  # operands at most: a further one may be an output
    numeric: bool = False  # -5 is short for -n 5
    wild_flags: bool = True  # no flag of the real command does harm, so a wildcard may expand to any
    recursive: frozenset[str] = frozenset()
    check: Callable[[Sequence[Word], "Usage", set[str]], None] | None = None


def row(
    options: str = "",
    operands: Operands = "paths",
    *,
    most: int | None = None,
    numeric: bool = False,
    wild_flags: bool = True,
    recursive: str = "",
    check: Callable[[Sequence[Word], Usage, set[str]], None] | None = None,
) -> Row:
    return Row(
        options=frozenset(options.split()) | {"--help", "--version"},
        operands=operands,
        most=most,
        numeric=numeric,
        wild_flags=wild_flags,
        recursive=frozenset(recursive.split()),
        check=check,
    )


def read_usage(row: Row, words: Sequence[Word]) -> Usage:
    """`words` without the command's own name."""
    usage = Usage()
    used: set[str] = set()
    position = 0
    only_operands = False
    while position < len(words):
        word = words[position]
        position += 1
        text = word.text
        if only_operands or text == "-" or not text.startswith("-"):
            if word.wild_start and not row.wild_flags and not only_operands:
                usage.wildcards.append(word)
            usage.operands.append(word)
        elif row.most is not None and usage.operands:
            usage.hazard("a flag after a name, which may be taken for an output", text)
        elif text == "--":
            only_operands = True
        elif word.wild and not text.startswith("--"):
            usage.hazard(f"`{text}` is a flag with a wildcard", text)
        elif text.startswith("--"):
            usage.literal.append(word)  # --include=*.py
            position = _long(row, word, words, position, usage, used)
        elif row.numeric and text[1:].isdigit():
            continue
        else:
            position = _short(row, word, words, position, usage, used)
    _place_operands(row, usage, used)
    if row.most is not None and (len(usage.operands) > row.most or any(word.wild for word in usage.operands)):
        usage.hazard("a further name would be written to", usage.operands[-1].text)
    usage.recursive = "*" in row.recursive or bool(used & row.recursive)
    if row.check is not None:
        row.check(words, usage, used)
    return usage


def _place_operands(row: Row, usage: Usage, used: set[str]) -> None:
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


def _long(row: Row, word: Word, words: Sequence[Word], position: int, usage: Usage, used: set[str]) -> int:
    name, equals, value = word.text.partition("=")
    used.add(name)
    if equals:
        if f"{name}=<" in row.options:
            usage.reads.append(Word(text=value, pattern=value))
        elif not row.options & {f"{name}=", f"{name}=?"}:
            usage.hazard(f"the flag `{name}`", name)
        return position
    if f"{name}=?" in row.options:
        return position
    if (f"{name}=" in row.options or f"{name}=<" in row.options) and position < len(words):
        if f"{name}=<" in row.options:
            usage.reads.append(words[position])
        elif words[position].wild:
            usage.hazard(f"the value of `{name}` is a wildcard", words[position].text)
        return position + 1
    if name not in row.options:
        usage.hazard(f"the flag `{name}`", name)
    return position


def _short(row: Row, word: Word, words: Sequence[Word], position: int, usage: Usage, used: set[str]) -> int:
    if word.text in row.options:  # a few commands have long flags with one dash
        used.add(word.text)
        return position
    letters = word.text[1:]
    for index, letter in enumerate(letters):
        flag, rest = f"-{letter}", letters[index + 1 :]
        used.add(flag)
        if flag in row.options:
            continue
        if f"{flag}?" in row.options:
            return position
        reads = f"{flag}:<" in row.options
        if f"{flag}:" in row.options or reads:
            if rest:
                if reads:
                    usage.reads.append(Word(text=rest, pattern=rest))
                return position
            if position < len(words):
                if reads:
                    usage.reads.append(words[position])
                elif words[position].wild:
                    usage.hazard(f"the value of `{flag}` is a wildcard", words[position].text)
                return position + 1
        usage.hazard(f"the flag `{flag}`", word.text)
        return position
    return position
