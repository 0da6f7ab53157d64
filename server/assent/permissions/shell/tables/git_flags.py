"""How git reads the words after a subcommand, held against a table of the flags that only read.

git does not use getopt: its older commands read each word by themselves, take a value from the next word for some flags
and never for others, and accept abbreviations. So each flag is listed with its exact arity, which
`tests/permissions/test_git_arity.py` proves against the real git. What is not listed, an abbreviation, a value where
none belongs, a separate value that begins with a dash and a word that the shell may turn into a flag are hazards.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.options import CommandUsage
from assent.permissions.shell.tables.short_flags import last_of

Arity = Literal["none", "optional", "attached", "separate", "either"]
Operands = Literal["paths", "text", "none", "pattern"]

_SPELLING = re.compile(r"(--?[^:=?<>$]+)(=:|=\?|=|:|\?)?([<>$]*)")
_ARITIES: dict[tuple[bool, str], Arity] = {
    (True, "="): "attached",
    (True, "=?"): "optional",
    (True, "=:"): "either",
    (True, ":"): "separate",
    (False, "="): "attached",
    (False, "?"): "optional",
    (False, ":"): "either",
}
_NUMBER = re.compile(r"-[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class GitFlag:
    arity: Arity
    file: Literal["", "read", "written"] = ""  # what the value names
    last: bool = False  # as the last word it needs no value

    @property
    def attaches(self) -> bool:
        return self.arity in ("optional", "attached", "either")

    @property
    def takes_next(self) -> bool:
        return self.arity in ("separate", "either")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subcommand:
    """Spellings of flags: `-x` and `--long` take no value; `-x?` and `--long=?` may have one attached; `-x=` and
    `--long=` need one attached; `--long:` needs the next word; `-x:` and `--long=:` need one, attached or next. Marks
    after that: `<` the value is a file it reads, `>` one it writes, `$` as the last word it needs no value."""

    flags: Mapping[str, GitFlag]
    operands: Operands = "text"
    numeric: bool = False  # -5 is a flag
    clusters: str = ""  # letters of which several may stand in one word; `*`: all
    first: bool = False  # flags end at the first name
    dashes: bool = True  # flags end at `--`
    contents: Callable[[Sequence[Word], set[str]], bool] = lambda _operands, _used: False  # does it show files?
    check: Callable[[Sequence[Word], CommandUsage, set[str]], None] | None = None


def subcommand(
    flags: str = "",
    operands: Operands = "text",
    *,
    numeric: bool = False,
    clusters: str = "",
    first: bool = False,
    dashes: bool = True,
    contents: Callable[[Sequence[Word], set[str]], bool] = lambda _operands, _used: False,
    check: Callable[[Sequence[Word], CommandUsage, set[str]], None] | None = None,
) -> Subcommand:
    table = dict(map(_flag, flags.split()))
    return Subcommand(
        flags=table,
        operands=operands,
        numeric=numeric,
        clusters=clusters,
        first=first,
        dashes=dashes,
        contents=contents,
        check=check,
    )


def _flag(spelling: str) -> tuple[str, GitFlag]:
    found = _SPELLING.fullmatch(spelling)
    assert found is not None, spelling
    arity = _ARITIES[found[1].startswith("--"), found[2]] if found[2] else "none"
    file = "read" if "<" in found[3] else "written" if ">" in found[3] else ""
    return found[1], GitFlag(arity=arity, file=file, last="$" in found[3])


def read_words(row: Subcommand, words: Sequence[Word]) -> CommandUsage:
    """`words` from after the subcommand's name."""
    reading = _Reading(row=row, words=words)
    reading.read()
    usage = reading.usage
    _place_operands(row, usage, reading.used)
    usage.recursive = row.contents(usage.operands, reading.used)
    if row.check is not None:
        row.check(words, usage, reading.used)
    return usage


def _place_operands(row: Subcommand, usage: CommandUsage, used: set[str]) -> None:
    if row.operands == "paths":
        usage.reads.extend(usage.operands)
    elif row.operands == "pattern":
        usage.reads.extend(usage.operands[0 if used & {"-e", "-f"} else 1 :])
    elif row.operands == "none" and usage.operands:
        usage.hazard(f"`{usage.operands[0].text}` is not expected here", usage.operands[0].text)


@dataclass(slots=True, kw_only=True)
class _Reading:
    row: Subcommand
    words: Sequence[Word]
    usage: CommandUsage = field(default_factory=CommandUsage)
    used: set[str] = field(default_factory=set[str])
    position: int = 0

    def read(self) -> None:
        only_operands = False
        while self.position < len(self.words):
            word = self.words[self.position]
            self.position += 1
            text = word.text
            if not word.known:
                self.usage.hazard(f"`{text}`, whose value is not known", text)
            elif only_operands:
                self._name(word)
            elif word.may_be_flag:
                self.usage.hazard(f"`{text}`, which the shell may turn into a flag (not so after `--`)", text)
            elif text == "--":
                only_operands = True
            elif not text.startswith("-") or text == "-":
                self.usage.operands.append(word)
                only_operands = self.row.first
            elif text.startswith("--"):
                self._long(word)
            elif not (self.row.numeric and _NUMBER.fullmatch(text)):
                self._short(word)

    def _name(self, word: Word) -> None:
        """After `--`, or after the first name where flags end there."""
        self.usage.operands.append(word)
        if self.row.dashes:
            return
        if word.may_be_flag:
            self.usage.looked.append(word)
        elif word.text.startswith("-") and word.text != "-":
            self.usage.hazard(f"`{word.text}`, which git takes for a flag even there", word.text)

    def _long(self, word: Word) -> None:
        name, equals, value = word.text.partition("=")
        self.used.add(name)
        flag = self.row.flags.get(name)
        if flag is None or (equals and not flag.attaches) or (not equals and flag.arity == "attached"):
            self.usage.hazard(f"the flag `{name}`", name)
        elif equals:
            self._value(name, flag, replace(word, text=value, pattern=value))
        elif flag.takes_next:
            self._next(name, flag)

    def _short(self, word: Word) -> None:
        letters = word.text[1:]

        def fits(flag: GitFlag, index: int, rest: str) -> bool:
            return self._may_stand(letters, index) and (flag.arity != "attached" or bool(rest))

        last = last_of(letters, self.row.flags, self.used, fits=fits)
        if last is None:
            return
        if last.flag is None:
            self.usage.hazard(f"the flag `{word.text}`", word.text)
        elif last.rest:
            self._value(last.name, last.flag, replace(word, text=last.rest, pattern=last.rest))
        elif last.flag.takes_next:
            self._next(last.name, last.flag)

    def _may_stand(self, letters: str, index: int) -> bool:
        """Alone, or among letters that git reads one by one."""
        return index == 0 or self.row.clusters == "*" or set(letters[: index + 1]) <= set(self.row.clusters)

    def _next(self, name: str, flag: GitFlag) -> None:
        if self.position >= len(self.words):
            if not flag.last:
                self.usage.hazard(f"the flag `{name}` without its value", name)
            return
        value = self.words[self.position]
        self.position += 1
        if not value.known or value.wild:
            self.usage.hazard(f"the value of `{name}`, which only the shell knows", value.text)
        elif value.text.startswith("-"):
            self.usage.hazard(f"the value of `{name}`, which looks like a flag", value.text)
        else:
            self._value(name, flag, value)

    def _value(self, name: str, flag: GitFlag, value: Word) -> None:
        if flag.file == "written":
            self.usage.hazard(f"the flag `{name}`, which writes a file", name)
            self.usage.writes.append(value)
        elif flag.file == "read":
            self.usage.reads.append(value)
            self.usage.spelled.append(name)  # inside the workspace it is fine; a rule for the command means no more
