"""The submodules that a repository's index names: git looks into each of them, with its own configuration.

Reads the index file alone, in the formats git writes (versions 2 to 4). Knows nothing of what a submodule may do.
"""

import os
import time
from functools import lru_cache

from assent.types.regular_files import read_regular

LARGEST = 128 << 20
MOST = 200  # submodules; a repository with more is not looked into
_LINK = b"\x00\x00\xe0\x00"  # the mode of a submodule's entry
_TREE = b"\x00\x00\x40\x00"  # of a folder that a sparse index leaves unopened
_RACY_NS = 2_000_000_000  # a file younger than this may change without its times telling


class IndexRefused(Exception):
    """The index is not one that can be read for sure; the message says why, for people."""


def gitlinks(git_dir: str, hash_size: int = 20) -> tuple[str, ...]:
    """Paths of submodules, relative to the working tree. Raises IndexRefused, OSError."""
    found: list[str] = []
    with os.scandir(git_dir) as entries:
        names = [entry.name for entry in entries if entry.name == "index" or entry.name.startswith("sharedindex.")]
    for name in names:
        found += _of_file(f"{git_dir}/{name}", hash_size)
    return tuple(found)


def _of_file(path: str, hash_size: int) -> tuple[str, ...]:
    found = signature(path)
    return (_links if found else _links.__wrapped__)(path, hash_size, found)


def signature(path: str) -> tuple[int, ...]:
    """What changes with a file's contents; empty when the file is so young that it might not."""
    status = os.lstat(path)
    if time.time_ns() - status.st_ctime_ns < _RACY_NS:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@lru_cache(maxsize=64)
def _links(path: str, hash_size: int, _signature: tuple[int, ...]) -> tuple[str, ...]:
    data = read_regular(path, limit=LARGEST, follow=False).data
    # Most repositories have no submodule at all, and looking for the bytes is much quicker than reading every entry.
    if _LINK not in data and _TREE not in data:
        return ()
    try:
        return _read(data, hash_size)
    except IndexError:
        raise IndexRefused("the repository's index is cut off") from None


def _read(data: bytes, hash_size: int) -> tuple[str, ...]:
    version, count = int.from_bytes(data[4:8]), int.from_bytes(data[8:12])
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        raise IndexRefused("the repository's index has an unknown format")
    links: list[str] = []
    position, name = 12, b""
    fixed = 40 + hash_size + 2
    for _ in range(count):
        flags = int.from_bytes(data[position + fixed - 2 : position + fixed])
        mode = data[position + 24 : position + 28]
        start = position + fixed + (2 if flags & 0x4000 and version > 2 else 0)
        if version == 4:
            strip, start = _number(data, start)
            end = data.find(b"\0", start)
            name = name[: len(name) - strip] + data[start:end]
        else:
            end = data.find(b"\0", start)
            name = data[start:end]
        if end < 0:
            raise IndexRefused("the repository's index is cut off")
        position = end + 1 if version == 4 else position + ((end - position) // 8 + 1) * 8
        if mode == _LINK:
            links.append(os.fsdecode(name))
        elif mode == _TREE:
            raise IndexRefused("the repository's index is sparse")
    if len(links) > MOST:
        raise IndexRefused("the repository has too many submodules to look into")
    return tuple(links)


def _number(data: bytes, position: int) -> tuple[int, int]:
    """An offset as packs write it."""
    value = data[position] & 0x7F
    while data[position] & 0x80:
        position += 1
        value = ((value + 1) << 7) | (data[position] & 0x7F)
    return value, position + 1
