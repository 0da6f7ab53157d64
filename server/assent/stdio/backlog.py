"""Frames that wait for a client to read them: in memory up to a limit, in an unnamed temporary file beyond it.

So a client that stops reading costs bounded memory, and when it reads again it gets every byte in order.
Used from two threads. Pieces come out whole, never cut: another lane may write between two of them.
"""

import struct
import tempfile
import threading
from collections import deque
from typing import IO

MEMORY_LIMIT = 8 * 1024 * 1024
_LENGTH = struct.Struct("<Q")  # written before each piece in the file


class Backlog:
    def __init__(self, *, memory_limit: int = MEMORY_LIMIT, directory: str | None = None) -> None:
        self._limit = memory_limit
        self._directory = directory
        self._lock = threading.Lock()
        self._memory: deque[bytes] = deque()
        self._in_memory = 0
        self._file: IO[bytes] | None = None
        self._written = 0  # offsets into the file
        self._read = 0

    def __len__(self) -> int:
        """How many bytes wait, about: pieces in the file count with their length words."""
        return self._in_memory + self._written - self._read

    @property
    def in_memory(self) -> int:
        return self._in_memory

    def put(self, data: bytes) -> None:
        with self._lock:
            behind = self._written > self._read  # what came first must leave first
            if (behind or self._in_memory + len(data) > self._limit) and self._spill(data):
                return
            self._memory.append(data)
            self._in_memory += len(data)

    def take(self, most: int) -> bytes:
        """The next whole pieces, about `most` bytes of them; empty when there are none."""
        with self._lock:
            if self._memory:
                return self._from_memory(most)
            if self._file is not None and self._read < self._written:
                return self._from_file(most)
            return b""

    def _from_memory(self, most: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        while self._memory and (not parts or size + len(self._memory[0]) <= most):
            part = self._memory.popleft()
            parts.append(part)
            size += len(part)
        self._in_memory -= size
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _from_file(self, most: int) -> bytes:
        assert self._file is not None
        self._file.seek(self._read)
        parts: list[bytes] = []
        size = 0
        while self._read < self._written and size < most:
            (length,) = _LENGTH.unpack(self._file.read(_LENGTH.size))
            parts.append(self._file.read(length))
            self._read += _LENGTH.size + length
            size += length
        if self._read == self._written:
            self._file.seek(0)
            self._file.truncate()
            self._read = self._written = 0
        return b"".join(parts)

    def _spill(self, data: bytes) -> bool:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._directory)  # noqa: SIM115 -- lives as long as the backlog
            self._file.seek(self._written)
            self._file.write(_LENGTH.pack(len(data)))
            self._file.write(data)
            self._file.flush()
        except OSError:
            # No room on the disk. Order matters more than the limit: only while nothing is spilled may memory grow.
            if self._written > self._read:
                self._recall()
            return False
        self._written += _LENGTH.size + len(data)
        return True

    def _recall(self) -> None:
        data = self._from_file(self._written)
        self._memory.append(data)
        self._in_memory += len(data)
