"""Folders and files that are the user's alone: 0700 and 0600, whatever the umask and whatever was there before."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

_OTHERS = 0o077


def private_folder(path: Path) -> None:
    """Make the folder and the missing ones above for the user alone; `mkdir(parents=True)` forgets the latter."""
    missing: list[Path] = []
    while not path.exists():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)


def create_private(path: str, flags: int) -> int:
    """An `opener` for `open`: what it creates is the user's alone."""
    return os.open(path, flags, 0o600)


def create_as_named(path: str, flags: int) -> int:
    """The same for a file that the user named. The name may be one that a project has laid out: no link is followed and
    no pipe waited for. /dev/stderr is."""
    if not path.startswith("/dev/"):
        flags |= os.O_NOFOLLOW
    try:
        return create_private(path, flags | os.O_NONBLOCK)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise OSError(error.errno, "is a link or a pipe, not a file to write to", path) from None
        raise


def open_to_others(folder: Path) -> Iterator[Path]:
    """The folder and what is in it, as far as others than the user may use it. Links are not followed."""
    if _wide(folder):
        yield folder
    for place, folders, files in os.walk(folder):
        yield from (path for name in (*folders, *files) if _wide(path := Path(place, name)))


def tighten(folder: Path) -> int:
    """Take from others what they may do there; how many things were open to them."""
    count = 0
    for path in open_to_others(folder):
        with contextlib.suppress(OSError):
            path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~_OTHERS)
            count += 1
    return count


def _wide(path: Path) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
        return False
    return bool(status.st_mode & _OTHERS) and status.st_uid == os.geteuid()
