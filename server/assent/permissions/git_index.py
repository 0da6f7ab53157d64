"""What a repository's index names: its submodules, into each of which git looks with its own configuration, and files.

Reads the index file alone, in the formats git writes (versions 2 to 4). Knows nothing of what a submodule may do.
"""

import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from assent.types.regular_files import Signature, read_regular, signature

LARGEST = 128 << 20
LARGEST_LISTED = 1 << 20  # bytes of an index whose files are listed one by one
MOST = 200  # submodules; a repository with more is not looked into
_LINK = b"\x00\x00\xe0\x00"  # the mode of a submodule's entry
_TREE = b"\x00\x00\x40\x00"  # of a folder that a sparse index leaves unopened


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


def entries(git_dir: str, hash_size: int = 20) -> Mapping[str, bytes]:
    """Every tracked path with the id of what the index holds for it. Raises IndexRefused, OSError."""
    if any(name.startswith("sharedindex.") for name in os.listdir(git_dir)):  # noqa: PTH208
        raise IndexRefused("the repository's index is split")
    if not os.path.lexists(f"{git_dir}/index"):
        return {}
    found = signature(f"{git_dir}/index")
    return (_entries if found else _entries.__wrapped__)(f"{git_dir}/index", hash_size, found)


@lru_cache(maxsize=8)
def _entries(path: str, hash_size: int, _signature: Signature) -> Mapping[str, bytes]:
    data = read_regular(path, limit=LARGEST_LISTED, follow=False).data
    try:
        return MappingProxyType({os.fsdecode(name): id for _, id, name in _read(data, hash_size)})
    except IndexError:
        raise IndexRefused("the repository's index is cut off") from None


def _of_file(path: str, hash_size: int) -> tuple[str, ...]:
    found = signature(path)
    return (_links if found else _links.__wrapped__)(path, hash_size, found)


@lru_cache(maxsize=64)
def _links(path: str, hash_size: int, _signature: Signature) -> tuple[str, ...]:
    data = read_regular(path, limit=LARGEST, follow=False).data
    # Most repositories have no submodule at all, and looking for the bytes is much quicker than reading every entry.
    if _LINK not in data and _TREE not in data:
        return ()
    try:
        links = [os.fsdecode(name) for mode, _, name in _read(data, hash_size) if mode == _LINK]
    except IndexError:
        raise IndexRefused("the repository's index is cut off") from None
    if len(links) > MOST:
        raise IndexRefused("the repository has too many submodules to look into")
    return tuple(links)


def _read(data: bytes, hash_size: int) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Mode, id and name of each entry."""
    version, count = int.from_bytes(data[4:8]), int.from_bytes(data[8:12])
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        raise IndexRefused("the repository's index has an unknown format")
    position, name = 12, b""
    fixed = 40 + hash_size + 2
    for _ in range(count):
        flags = int.from_bytes(data[position + fixed - 2 : position + fixed])
        mode, id = data[position + 24 : position + 28], data[position + 40 : position + 40 + hash_size]
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
        if mode == _TREE:
            raise IndexRefused("the repository's index is sparse")
        yield mode, id, name


def _number(data: bytes, position: int) -> tuple[int, int]:
    """An offset as packs write it."""
    value = data[position] & 0x7F
    while data[position] & 0x80:
        position += 1
        value = ((value + 1) << 7) | (data[position] & 0x7F)
    return value, position + 1
