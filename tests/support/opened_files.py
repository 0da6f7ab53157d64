"""Which files of a folder are opened, by whichever process: as Linux tells it (inotify)."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_IN_OPEN = 0x20
_NONBLOCK = 0o4000
_HEAD = struct.Struct("iIII")


@contextmanager
def opened_files(folder: Path) -> Generator[set[str]]:
    """Filled when the block ends: paths of regular files, relative to the folder."""
    libc = ctypes.CDLL(None, use_errno=True)
    queue = libc.inotify_init1(_NONBLOCK)
    if queue < 0:
        raise OSError(ctypes.get_errno(), "inotify_init1")
    found: set[str] = set()
    try:
        places: dict[int, Path] = {}
        for place in [folder, *(each for each in folder.rglob("*") if each.is_dir() and not each.is_symlink())]:
            watch = libc.inotify_add_watch(queue, os.fsencode(place), _IN_OPEN)
            if watch < 0:
                raise OSError(ctypes.get_errno(), f"inotify_add_watch {place}")
            places[watch] = place
        yield found
        for watch, name in _events(queue):
            path = places[watch] / name
            if name and path.is_file():
                found.add(str(path.relative_to(folder)))
    finally:
        os.close(queue)


def _events(queue: int) -> Generator[tuple[int, str]]:
    while True:
        try:
            data = os.read(queue, 1 << 16)
        except BlockingIOError:
            return
        at = 0
        while at < len(data):
            watch, mask, _, size = _HEAD.unpack_from(data, at)
            at += _HEAD.size
            if mask & 0x4000:
                raise OSError("the kernel's queue overflowed: not every file is known")
            yield watch, data[at : at + size].rstrip(b"\0").decode()
            at += size
