"""The bytes of the last events: small ones in memory, big ones in a file without a name that goes with the process.

A long answer is in the stream three times (its pieces, its message, the turn's result); they may never be asked for
again, so they must not cost memory. Not aware of what the bytes mean.
"""

import os
import tempfile
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import IO

BIG = 8 * 1024  # bytes; what is longer goes to the file
FILE_BYTES = 256 * 1024 * 1024


class RingStore:
    def __init__(self, *, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._entries: deque[bytes | tuple[int, int]] = deque()
        self._bytes = 0  # in memory
        self._file: IO[bytes] | None = None
        self._end = self._filed = 0  # how long the file is, and how many entries are in it

    def __len__(self) -> int:
        return len(self._entries)

    def append(self, line: bytes) -> None:
        place = self._put_away(line) if len(line) > BIG else None
        if place is None:
            # orjson's own bytes hold on to a buffer of 4 KB each, however short they are.
            line = memoryview(line).tobytes()
            self._bytes += len(line)
        self._entries.append(line if place is None else place)
        while len(self._entries) > self._most or self._bytes > self._most_bytes or self._end > FILE_BYTES:
            self._drop_oldest()

    def since(self, skip: int) -> Iterator[bytes]:
        for entry in islice(self._entries, skip, None):
            yield entry if isinstance(entry, bytes) else self._read(*entry)

    def _drop_oldest(self) -> None:
        oldest = self._entries.popleft()
        if isinstance(oldest, bytes):
            self._bytes -= len(oldest)
            return
        self._filed -= 1
        if not self._filed and self._file is not None:
            self._end = 0
            self._file.truncate(0)

    def _put_away(self, line: bytes) -> tuple[int, int] | None:
        """The event's place in the file; None when it could not be written and stays in memory."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="assent-", buffering=0)  # noqa: SIM115 -- lives as long as the session
            written = os.pwrite(self._file.fileno(), line, self._end)
        except OSError:
            return None
        if written != len(line):
            return None
        place = (self._end, len(line))
        self._end += len(line)
        self._filed += 1
        return place

    def _read(self, offset: int, length: int) -> bytes:
        assert self._file is not None
        return os.pread(self._file.fileno(), length, offset)
