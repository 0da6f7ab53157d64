"""Where the commands of a shell line run: the working directory, followed through `cd`.

Every directory a command may find itself in is kept, because a `cd` may fail; when nobody can say, that is None.
"""

from collections.abc import Sequence

from assent.permissions.paths import PathRefused, Seen, locate
from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.wrappers import WRAPPERS
from assent.text.words import names

MAX_DIRECTORIES = 8

Directories = frozenset[str] | None
"""The working directories a command may run in; None when nobody can say."""

MOVES = names("cd pushd popd")
_RUN_TEXT_HERE = names(". source eval alias trap mapfile readarray shopt bind enable")
"""Builtins that run text in this very shell, at once or before a later command, or change what later words run."""


def either(one: Directories, other: Directories) -> Directories:
    if one is None or other is None or len(one | other) > MAX_DIRECTORIES:
        return None
    return one | other


def _may_move(words: Sequence[Word]) -> bool:
    """Could a command that is not plainly `cd` be one, or run one: by a variable, a wrapper, or text of its own?"""
    name = words[:1]
    read = words if any(word.text in WRAPPERS for word in name) else name
    return any(not word.plain for word in name) or any(word.text in MOVES | _RUN_TEXT_HERE for word in read)


def moves(words: Sequence[Word]) -> bool:
    return any(word.text in MOVES for word in words[:1]) or _may_move(words)


def after(
    words: Sequence[Word], here: Directories, *, home: str, seen: Seen, unsettled: bool
) -> tuple[Directories, Directories]:
    """The directories once the command has succeeded, and whatever became of it.

    In an `unsettled` line a name may be looked for elsewhere (CDPATH), unless it says where it begins.
    """
    argv = [word.text for word in words]
    if not argv or argv[0] not in MOVES:
        return (None, None) if _may_move(words) else (here, here)
    target = [word for word in words[1:] if word.text != "--"] or [Word(text=home, pattern=home)]
    plain = len(target) == 1 and target[0].known and not target[0].wild and target[0].text not in ("-", "")
    sure = not unsettled or target[0].text.partition("/")[0] in ("", ".", "..")
    if argv[0] != "cd" or not plain or not sure or here is None:
        return None, None
    there: set[str] = set()
    for directory in here:
        try:
            located = locate(target[0].text, cwd=directory, home=home, seen=seen)
        except PathRefused:
            return None, None
        if located.target != located.written:
            return None, None  # through a link, `..` means one thing to the shell and another to the kernel
        there.add(located.target)
    new = frozenset(there)
    return new, either(here, new)
