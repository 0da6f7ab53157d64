"""What the disk says of the words of a command: directories, links below them, names that a wildcard stands for."""

import os
from collections.abc import Sequence
from itertools import islice

from assent.permissions.paths import PathRefused, matches
from assent.permissions.shell.syntax.directories import Directories
from assent.permissions.shell.syntax.words import Word

MAX_LOOKED_THROUGH = 1000  # names below a directory, in search of links


def may_be_directory(word: Word, directories: Directories) -> bool:
    if directories is None or word.wild:
        return True
    return any(os.path.isdir(os.path.join(directory, word.text)) for directory in directories)  # noqa: PTH112, PTH118


def free_of_links(words: Sequence[Word], directories: Directories) -> bool:
    """Is there no link anywhere below? Looks at so many names and no more."""
    left = MAX_LOOKED_THROUGH
    for directory in directories or ():
        pending = [os.path.join(directory, word.text) for word in words if not word.wild]  # noqa: PTH118
        while pending:
            try:
                entries = list(islice(os.scandir(pending.pop()), left + 1))
            except NotADirectoryError:
                continue
            except (OSError, ValueError):  # a name with a NUL byte
                return False
            left -= len(entries)
            if left < 0 or any(entry.is_symlink() for entry in entries):
                return False
            pending.extend(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    return directories is not None and not any(word.wild for word in words)


def expansions(word: Word, directories: Directories) -> list[str] | None:
    """The names the shell would put for it; None when nobody can say."""
    if directories is None:
        return None
    try:
        return [name for directory in directories for name in matches(word.pattern, cwd=directory)]
    except PathRefused:
        return None
