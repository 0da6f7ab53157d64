"""An append-only file of JSON lines that never claims more than the disk has.

Rules:
1. One owner. The journal keeps the file's end itself and writes at offsets, so writing the same bytes twice is safe.
2. `append` hands the line to the operating system at once, in order: it survives the death of this process.
3. `flush` returns True only after fsync said so: it then survives the death of the machine.
4. When the disk refuses (ENOSPC, EIO), everything since the last good fsync is kept and tried again; `on_trouble` is
   told once when trouble starts and once when it ends.

Not aware of what the records mean.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from assent.storage.lines import Secrets, encode
from assent.types.private_files import private_folder

log = logging.getLogger(__name__)
RETRY_DELAYS = (0.5, 1.0, 2.0, 5.0, 10.0)
SYNC_AFTER = 4 * 1024 * 1024  # bytes without a durable flush before we ask for one ourselves, to bound memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """The three calls that can fail, replaceable where a test needs a full or dying disk."""

    pwrite: Callable[[int, bytes, int], int] = os.pwrite
    fsync: Callable[[int], None] = os.fsync


class Journal:
    def __init__(
        self,
        path: Path,
        *,
        secrets: Secrets = lambda: (),
        on_trouble: Callable[[OSError | None], None] = lambda _error: None,
        disk: Disk | None = None,
        retry_delays: Sequence[float] = RETRY_DELAYS,
    ) -> None:
        self.path = path
        self._retry_delays = retry_delays
        self.torn = False  # the file ended in half a line, which we have closed
        self._secrets = secrets
        self._on_trouble = on_trouble
        self._disk = disk or Disk()
        self._closed = False
        self._trouble: OSError | None = None
        self._retries = 0
        self._retry: asyncio.TimerHandle | None = None
        self._syncing = anyio.Lock()
        self._in_thread = False  # a worker thread waits for the disk with our descriptor
        self._failed = 0  # syncs so far that failed
        private_folder(path.parent)
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._synced = os.fstat(self._fd).st_size  # everything before this is safe
        self._new = self._synced == 0
        self._kept = bytearray()  # everything after it
        self._written = self._synced  # how far the operating system has taken it
        if self._synced and os.pread(self._fd, 1, self._synced - 1) != b"\n":
            self.torn = True
            self._kept += b"\n"
            self._write()

    @property
    def end(self) -> int:
        """The offset where the next record will start."""
        return self._synced + len(self._kept)

    @property
    def trouble(self) -> OSError | None:
        return self._trouble

    def append(self, record: Mapping[str, Any]) -> int:
        """Add one record; its offset. Never raises for the disk's sake."""
        offset = self.end
        if self._closed:
            log.warning("a record came after %s was closed", self.path.name)
            return offset
        self._kept += encode(dict(record), self._secrets())
        if self._trouble is None:
            self._write()
        if len(self._kept) > SYNC_AFTER and self._trouble is None:
            self._sync_now()
        return offset

    async def flush(self) -> bool:
        """Whether everything appended so far is on the disk."""
        target = self.end
        async with self._syncing:
            if self._synced >= target or self._closed:
                return self._synced >= target
            if self._written < target and not self._write():
                return False
            reached, failed = self._written, self._failed
            error = await self._sync_in_thread()
            if self._closed:
                return self._synced >= target
            if error is not None:
                self._sync_failed(error)
                return False
            if self._failed != failed:
                return False  # another sync failed meanwhile: the kernel tells only one of them
            self._settle(reached)
            return True

    def close(self) -> bool:
        """Write and sync what is left, and let go of the file; False when something could not be saved."""
        if self._retry is not None:
            self._retry.cancel()
        saved = self._write() and self._sync_now()
        self._closed = True
        if self._retry is not None:
            self._retry.cancel()
        if not self._in_thread:  # else a sync still has it, and lets go of it when it is done
            self._let_go()
        return saved

    def _write(self) -> bool:
        try:
            while self._written < self.end:
                start = self._written - self._synced
                self._written += self._disk.pwrite(self._fd, bytes(self._kept[start:]), self._written)
        except OSError as error:
            self._troubled(error)
            return False
        if self._trouble is not None:
            self._trouble = None
            self._retries = 0
            self._on_trouble(None)
        return True

    async def _sync_in_thread(self) -> OSError | None:
        self._in_thread = True
        try:
            await anyio.to_thread.run_sync(self._fsync)
        except OSError as error:
            return error
        finally:
            self._in_thread = False
            if self._closed:
                self._let_go()
        return None

    def _sync_now(self) -> bool:
        try:
            self._fsync()
        except OSError as error:
            self._sync_failed(error)
            return False
        self._settle(self._written)
        return True

    def _sync_failed(self, error: OSError) -> None:
        """The kernel may have dropped pages: all of it must be written again."""
        self._failed += 1
        self._written = self._synced
        self._troubled(error)

    def _let_go(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._fd)

    def _fsync(self) -> None:
        self._disk.fsync(self._fd)
        if self._new:  # the file's name must be on the disk, too
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                self._disk.fsync(folder)
            finally:
                os.close(folder)
            self._new = False

    def _settle(self, reached: int) -> None:
        if reached > self._synced:  # a sync that began later may have ended sooner
            del self._kept[: reached - self._synced]
            self._synced = reached

    def _troubled(self, error: OSError) -> None:
        first = self._trouble is None
        self._trouble = error
        if first:
            self._on_trouble(error)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        if self._retry is not None:
            self._retry.cancel()
        delay = self._retry_delays[min(self._retries, len(self._retry_delays) - 1)]
        self._retries += 1
        self._retry = loop.call_later(delay, self._try_again)

    def _try_again(self) -> None:
        self._retry = None
        if self._write():
            self._sync_now()
