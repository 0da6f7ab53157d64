"""One pack of a git repository: objects by id, found through its index (version 2), deltas applied.

Starts no program. Raises `Unreadable` for an index of another kind; what is damaged raises ValueError, IndexError,
OSError or zlib.error. Knows nothing of what the objects mean.
"""

import os
import stat
import weakref
import zlib
from collections.abc import Callable
from functools import cached_property

from assent.types.regular_files import Signature, signature

LARGEST = 4 << 20  # bytes of one object
_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_DEEPEST = 60  # deltas upon deltas
_FANOUT = 8 + 1024
_AHEAD = 1024  # bytes read with an object's head: most trees and commits end there

Object = tuple[str, bytes]  # kind, contents


class Unreadable(Exception):
    """Nobody can tell what the repository holds there."""


class Pack:
    """Its files are opened when they are needed, once, and closed with it."""

    def __init__(self, index: str, hash_size: int) -> None:
        self._path = index
        self._size = hash_size
        self._known: dict[int, Object] = {}

    def signature(self) -> Signature:
        """What changes with its files; empty when they are so young that it might not."""
        index, data = signature(self._path), signature(self._contents)
        return (*index, *data) if index and data else ()

    @property
    def _contents(self) -> str:
        return f"{self._path.removesuffix('.idx')}.pack"

    @cached_property
    def _index(self) -> int:
        return self._opened(self._path)

    @cached_property
    def _data(self) -> int:
        return self._opened(self._contents)

    def _opened(self, path: str) -> int:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        weakref.finalize(self, os.close, fd)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ValueError
        return fd

    @cached_property
    def _fan(self) -> bytes:
        """How many ids begin with each byte or a smaller one."""
        head = os.pread(self._index, _FANOUT, 0)
        if head[:8] != b"\xfftOc\0\0\0\2":
            raise Unreadable("a pack's index")
        return head[8:]

    def _up_to(self, first: int) -> int:
        return int.from_bytes(self._fan[4 * first : 4 * first + 4]) if first >= 0 else 0

    def _bucket(self, first: int) -> tuple[bytes, int]:
        """The ids that begin with this byte, one after the other, and how many come before them."""
        start, end = self._up_to(first - 1), self._up_to(first)
        if not 0 <= end - start <= LARGEST // self._size:
            raise Unreadable("a pack's index")
        return os.pread(self._index, (end - start) * self._size, _FANOUT + start * self._size), start

    def beginning(self, first: int) -> list[bytes]:
        data, _ = self._bucket(first)
        return [data[each : each + self._size] for each in range(0, len(data), self._size)]

    def offset(self, name: bytes) -> int | None:
        """Where the object lies in the pack; None when it is not in there."""
        data, first = self._bucket(name[0])
        at = data.find(name)
        while at >= 0 and at % self._size:
            at = data.find(name, at + 1)
        return None if at < 0 else self._offset(first + at // self._size)

    def _offset(self, number: int) -> int:
        count = self._up_to(255)
        offsets = _FANOUT + count * (self._size + 4)
        value = int.from_bytes(os.pread(self._index, 4, offsets + 4 * number))
        if value & 0x80000000:
            value = int.from_bytes(os.pread(self._index, 8, offsets + 4 * count + 8 * (value & 0x7FFFFFFF)))
        return value

    def read(self, offset: int, other: Callable[[bytes], Object], depth: int = 0) -> Object:
        """The object at this place. `other` reads one by its id: a delta may stand upon such a one."""
        if offset not in self._known:
            self._known[offset] = self._read(offset, other, depth)
        return self._known[offset]

    def _read(self, offset: int, other: Callable[[bytes], Object], depth: int) -> Object:
        if depth > _DEEPEST:
            raise ValueError
        head = os.pread(self._data, _AHEAD, offset)
        kind, size, used = head[0] >> 4 & 7, head[0] & 15, 1
        shift = 4
        while head[used - 1] & 0x80:
            size |= (head[used] & 0x7F) << shift
            shift, used = shift + 7, used + 1
        if kind in _KINDS:
            return _KINDS[kind], self._inflated(head[used:], offset + len(head), size)
        if kind == 7:
            base = other(head[used : used + self._size])
            used += self._size
        else:
            back, used = _back(head, used)
            if kind != 6 or not 0 < back < offset:
                raise ValueError
            base = self.read(offset - back, other, depth + 1)
        return base[0], _patched(base[1], self._inflated(head[used:], offset + len(head), size))

    def _inflated(self, chunk: bytes, offset: int, size: int) -> bytes:
        if size > LARGEST:
            raise ValueError
        unpack, data = zlib.decompressobj(), b""
        while len(data) < size:
            if not chunk:
                raise ValueError
            data += unpack.decompress(chunk, size - len(data))
            if unpack.unconsumed_tail and len(data) < size:
                raise ValueError
            if len(data) < size:
                chunk = os.pread(self._data, max(4096, size), offset)
                offset += len(chunk)
        return data


def _back(head: bytes, used: int) -> tuple[int, int]:
    value = head[used] & 0x7F
    while head[used] & 0x80:
        used += 1
        value = ((value + 1) << 7) | (head[used] & 0x7F)
    return value, used + 1


def _patched(base: bytes, delta: bytes) -> bytes:
    """A delta's copies and insertions."""
    position = 0
    sizes: list[int] = []
    for _ in range(2):
        value = shift = 0
        while True:
            byte = delta[position]
            value |= (byte & 0x7F) << shift
            shift, position = shift + 7, position + 1
            if not byte & 0x80:
                break
        sizes.append(value)
    if sizes[0] != len(base) or sizes[1] > LARGEST:
        raise ValueError
    out = bytearray()
    while position < len(delta):
        code, position = delta[position], position + 1
        if not code & 0x80:
            out += delta[position : position + code]
            position += code
            continue
        numbers = [0, 0]
        for bit in range(7):
            if code >> bit & 1:
                numbers[bit >= 4] |= delta[position] << 8 * (bit if bit < 4 else bit - 4)
                position += 1
        out += base[numbers[0] : numbers[0] + (numbers[1] or 0x10000)]
    if len(out) != sizes[1]:
        raise ValueError
    return bytes(out)
