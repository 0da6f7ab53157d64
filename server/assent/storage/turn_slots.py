"""How many turns of a user run at once, over all of their engines: one locked file per running turn.

The locks end with the process that holds them, so whatever is killed leaves no slot taken.
"""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import anyio

from assent.types import file_locks

_LOOK = 0.25  # seconds between two looks at what other processes hold


class TurnSlot:
    """Room for one turn. Released once; after that it is nobody's."""

    def __init__(self, fd: int | None, freed: Callable[[], None]) -> None:
        self._fd = fd
        self._freed = freed

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
            self._freed()


class TurnSlots:
    """`limit` is asked whenever a turn wants to begin; None is no limit, and then no file is touched."""

    def __init__(self, folder: Path, limit: Callable[[], int | None]) -> None:
        self._folder = folder
        self._limit = limit
        self._freed = anyio.Event()
        self._line = anyio.Lock()  # first come, first served

    @property
    def limit(self) -> int | None:
        return self._limit()

    def try_take(self) -> TurnSlot | None:
        """A slot, if one is free and nobody waits for it."""
        return None if self._line.locked() else self._look()

    async def take(self) -> TurnSlot:
        """A slot, as soon as there is one."""
        async with self._line:
            while True:
                freed = self._freed
                if (slot := self._look()) is not None:
                    return slot
                with anyio.move_on_after(_LOOK):
                    await freed.wait()

    def _look(self) -> TurnSlot | None:
        limit = self._limit()
        if limit is None or not file_locks.AVAILABLE:
            return TurnSlot(None, self._tell)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for number in range(limit):
                flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
                fd = os.open(self._folder / str(number), flags, 0o600)
                with contextlib.suppress(BlockingIOError):
                    file_locks.try_lock(fd)
                    return TurnSlot(fd, self._tell)
                os.close(fd)
        except OSError:  # a folder that cannot be used limits nothing
            return TurnSlot(None, self._tell)
        return None

    def _tell(self) -> None:
        self._freed.set()
        self._freed = anyio.Event()
