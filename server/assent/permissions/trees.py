"""What lies below a folder right now: for commands that copy, move or remove whole trees without naming the files.

Looks at names only, never follows links, and gives up where there is too much to look at: then nobody can tell, and
the caller asks.
"""

import os
from collections.abc import Callable, Iterator

MAX_ENTRIES = 2000

_COME_BACK = frozenset({"node_modules", ".venv", "venv", "site-packages", "__pycache__", ".tox", ".nox", ".cache"})
"""Folders that one command fills again: what is protected in them is a copy."""


class TooMany(Exception):
    """More entries than anybody looks at while somebody waits."""


def below(start: str, *, copies: bool = True, leave: str = "") -> Iterator[str]:
    """Everything below `start`: paths relative to it; below a file there is nothing. Raises TooMany.

    Without `copies`, what package managers have put there is left out. The folder `leave`, a path like those that are
    given, is not looked into.
    """
    pending = [""]
    left = MAX_ENTRIES
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(os.path.join(start, folder)) as entries:  # noqa: PTH118  Path is slow here
                for entry in entries:
                    left -= 1
                    if left < 0:
                        raise TooMany
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    yield path
                    if path == leave or not (copies or entry.name not in _COME_BACK):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(path)
        except OSError:
            continue  # not a folder, or one that the command could not enter either


def any_below(start: str, wanted: Callable[[str], bool], *, copies: bool = True, links: bool = False) -> bool | None:
    """Is there such a path below, or with `links` any link? None when nobody can tell."""
    try:
        return any(wanted(path) or (links and _is_link(start, path)) for path in below(start, copies=copies))
    except TooMany:
        return None


def links_below(start: str) -> Iterator[str]:
    """Raises TooMany."""
    return (path for path in below(start) if _is_link(start, path))


def _is_link(start: str, path: str) -> bool:
    return os.path.islink(os.path.join(start, path))  # noqa: PTH114, PTH118
