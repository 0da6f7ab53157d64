"""find: starting points, then an expression of tests. It does not use getopt, and a name that begins with a dash is a
part of the expression wherever it stands, so every word counts: one that the shell may turn into another asks.
"""

import re
from collections.abc import Sequence

from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.options import CommandUsage
from assent.text.words import names

_ALONE = names("""
    -empty -readable -writable -executable -nouser -nogroup -depth -d -mount -xdev -noleaf -prune -print -print0
    -quit -true -false -not ! -a -and -o -or ( ) , -ls -daystart -ignore_readdir_race -noignore_readdir_race -warn
    -nowarn -help --help -version --version
""")
_TEXT = names("""
    -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -newermt -newerat -newerct
    -newerBt -user -group -fstype -lname -ilname -printf -context
""")
_NUMBERS = names("-maxdepth -mindepth -size -mtime -mmin -atime -amin -ctime -cmin -uid -gid -links -inum -used")
_FILES = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})
VALUED = _TEXT | _NUMBERS | _FILES | {"-perm"}
ALONE = _ALONE - {"(", ")", "!", ","}

_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?[bcwkMG]?")
_MODE = re.compile(r"[-/]?[0-7ugoarwxXst=+,-]+")


def read_find(words: Sequence[Word], usage: CommandUsage) -> None:
    """Only tests and printing; `-exec`, `-delete`, `-fprintf` and their kin do things."""
    for word in words:
        if not word.known or word.may_be_flag:
            usage.hazard(f"`{word.text}`, which the shell may turn into an action", word.text)
    position = 0
    while position < len(words) and words[position].text in ("-H", "-P"):
        position += 1
    while position < len(words) and words[position].text[:1] not in ("-", "(", ")", "!", ","):
        usage.reads.append(words[position])
        position += 1
    while position < len(words):
        text = words[position].text
        position += 1
        if text in _ALONE:
            continue
        if text in VALUED and position < len(words):
            _value(text, words[position], usage)
            position += 1
        else:
            usage.hazard(f"find's `{text}`", text)
            usage.recursive = True  # what it runs may read what it finds


def _value(test: str, value: Word, usage: CommandUsage) -> None:
    text = value.text
    if test in _FILES:
        usage.reads.append(value)
    if text.startswith("-") and not (
        (test in _NUMBERS and _NUMBER.fullmatch(text)) or (test == "-perm" and _MODE.fullmatch(text))
    ):
        usage.hazard(f"the value of `{test}` looks like an action", text)
