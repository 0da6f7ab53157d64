"""The other names of a file: hard links. What is written under one name is written under all of them.

Looks for them below the workspace's folders, up to a limit. A file of which not all names are found there may be any
file of the user's, so nobody can tell what a write to it changes.
"""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass

from assent.permissions import trees


@dataclass(frozen=True, slots=True)
class Aliases:
    names: tuple[str, ...] = ()
    complete: bool = True  # False: there are names that were not found


NONE = Aliases()


def aliases(path: str, roots: Sequence[str]) -> Aliases:
    """All names of a regular file that has more than one."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return NONE
    if not stat.S_ISREG(status.st_mode) or status.st_nlink < 2:
        return NONE
    found: dict[str, None] = {}
    for root in roots:
        try:
            for name in trees.below(root):
                whole = f"{root}/{name}"
                if _same(whole, status):
                    found.setdefault(os.path.realpath(whole))
        except trees.TooMany:
            break
    return Aliases(names=tuple(found), complete=len(found) >= status.st_nlink)


def _same(path: str, status: os.stat_result) -> bool:
    try:
        other = os.lstat(path)
    except OSError:
        return False
    return (other.st_dev, other.st_ino) == (status.st_dev, status.st_ino)
