"""Lines that change what their own words mean: where `~`, `$HOME` and `cd name` lead, and what a wildcard stands for.

The reader of words counts on a handful of variables and on the shell's options being as they were. A line that may give
one of them another value, by whichever of the shell's many ways, is unsettled: what hangs on them is not known then.
Order does not count, since loops, functions and traps come back to what was read before.
"""

import re
from collections.abc import Iterable, Sequence

from assent.permissions.shell.syntax.simple_commands import Command
from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.wrappers import OPAQUE, SHELLS, program
from assent.text.words import names

_COUNTED_ON = r"HOME|PWD|OLDPWD|CDPATH|IFS|GLOBIGNORE|BASHOPTS|SHELLOPTS|DIRSTACK"
_PLAINLY_READ = re.compile(rf"\$(?:{_COUNTED_ON})(?!\w)|\$\{{(?:{_COUNTED_ON})\}}")
_MENTIONED = re.compile(rf"(?<!\w)(?:{_COUNTED_ON})(?!\w)")
_QUOTES = re.compile(r"\\\n|[\\'\"]")
_MADE_UP = re.compile(r"\$\{!|\(\([^()=]{0,200}\$[^()=]{0,200}=(?!=)")
"""A variable that is named by the value of another: `${!x:=…}`, `(( $x = … ))`."""
SETTERS = names("read mapfile readarray printf getopts wait let builtin command exec eval source . trap")
"""Commands that may give a variable another value."""
_DECLARES = re.compile(r"(?<![\w-])(?:declare|typeset|local|export|readonly)\s(.*)", re.DOTALL)
_BETWEEN_COMMANDS = re.compile(r"[;&|()\n]")
_RUN_ANYTHING = names("eval source . trap alias shopt bind enable")
_PASS_VARIABLES = (OPAQUE | SHELLS) - names("find time timeout nice stdbuf")
_HARMLESS_OPTIONS = re.compile(r"[-+][euxvobmnhE]+|pipefail|errexit|nounset|xtrace|verbose|errtrace|allexport")
_SHELL_OPTIONS = re.compile(r"[-+][A-Za-z]*O")


def may_unsettle(text: str, commands: Iterable[Command], *, doubted: bool) -> bool:
    """`doubted`: the line holds something that is not understood, in which a variable may be set."""
    setting = [command.words for command in commands if command.words and _sets(command.words)]
    if not doubted and not setting:
        return False
    if any(_sets_anything(words) for words in setting):
        return True
    bare = _QUOTES.sub("", text)
    if _MENTIONED.search(_PLAINLY_READ.sub("", bare)):
        return True
    return doubted and (
        _MADE_UP.search(bare) is not None or any(map(_declares_anything, _BETWEEN_COMMANDS.split(bare)))
    )


def _sets(words: Sequence[Word]) -> bool:
    name = words[0]
    if not name.plain or program(name) in SETTERS | _RUN_ANYTHING | _PASS_VARIABLES | {"set"}:
        return program(name) != "printf" or (len(words) > 1 and (words[1].text[:2] == "-v" or not words[1].plain))
    return False


def may_set(name: Word) -> bool:
    return not name.plain or name.text in SETTERS


def _declares_anything(segment: str) -> bool:
    """`declare $x`, and `declare -n x`, through which another variable is set."""
    found = _DECLARES.search(segment)
    pieces = found[1].split() if found else []
    return any(
        (piece[0] == "-" and "n" in piece) or re.search(r"[$`{*?\[]", piece.partition("=")[0]) for piece in pieces
    )


def _sets_anything(words: Sequence[Word]) -> bool:
    """Does it set what no word of it names, or change how the shell reads words?"""
    name, rest = program(words[0]), words[1:]
    if not words[0].plain or name in _RUN_ANYTHING:
        return True
    if name == "set":
        return any(word.text[:1] in "-+" and not _harmless_options(rest) for word in rest[:1])
    if name in SHELLS:
        return any(_SHELL_OPTIONS.fullmatch(word.text) for word in rest)
    return name in SETTERS | {"env"} and not all(word.plain for word in rest)


def _harmless_options(words: Sequence[Word]) -> bool:
    """`set -euo pipefail`, or `set -- …`, which only changes what `$1` is."""
    for word in words:
        if word.text == "--":
            return True
        if not word.plain or not _HARMLESS_OPTIONS.fullmatch(word.text):
            return False
    return True
