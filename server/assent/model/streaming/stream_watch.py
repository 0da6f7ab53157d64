"""Reading a stream without trusting it to go on: a task reads, a timer notices silence (M5).

The reader is a task of its own because its connection must be opened, read and closed by one task, and because a wait
for bytes cannot be interrupted and taken up again. Waiting for the next chunk costs one future, no timer.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

import anyio

from assent.model.clock import Clock, Timer
from assent.model.policy import Patience

MAX_UNREAD_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing has come for this long; `final` when that is too long."""

    seconds: float
    final: bool


class Watched:
    """`async with` it; `next()` gives bytes, a `Silence`, or None at the end. Call `heard()` for every real event."""

    def __init__(self, chunks: AsyncGenerator[bytes, None], clock: Clock, patience: Patience) -> None:
        self._chunks = chunks
        self._clock = clock
        self._patience = patience
        self._unread: deque[bytes] = deque()
        self._unread_size = 0
        self._room = asyncio.Event()
        self._waiter: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._error: BaseException | None = None
        self._timer: Timer | None = None
        self._heard = clock.now()
        self._told = False

    async def __aenter__(self) -> "Watched":
        self._task = asyncio.create_task(self._read())
        self._set_timer()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        task = self._task
        if task is None or task.done():
            return
        task.cancel()
        # Even a cancelled caller waits until the connection is closed; closing is local and quick.
        with anyio.CancelScope(shield=True):
            await asyncio.wait({task})

    def heard(self) -> None:
        self._heard = self._clock.now()
        self._told = False

    def finish_in_background(self, grace: float) -> asyncio.Task[None] | None:
        """The answer is complete: let the reader see the end of the body, so that the connection can be used again."""
        task, self._task = self._task, None
        if task is None or task.done():
            return None
        stop = asyncio.get_running_loop().call_later(grace, task.cancel)
        task.add_done_callback(lambda _done: stop.cancel())
        self._room.set()
        return task

    async def next(self) -> bytes | Silence | None:
        while True:
            if self._unread:
                data = self._unread.popleft() if len(self._unread) == 1 else b"".join(self._unread)
                self._unread.clear()
                self._unread_size = 0
                self._room.set()
                return data
            if self._task is None or self._task.done():
                if self._error is not None:
                    raise self._error
                return None
            if (silence := self._silence()) is not None:
                return silence
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None

    async def _read(self) -> None:
        try:
            async with aclosing(self._chunks) as chunks:
                async for chunk in chunks:
                    self._unread.append(chunk)
                    self._unread_size += len(chunk)
                    self._wake()
                    if self._unread_size > MAX_UNREAD_BYTES:
                        self._room.clear()
                        await self._room.wait()
        except Exception as error:
            self._error = error
        finally:
            # The task counts as done only after this; wake the caller when it does.
            asyncio.get_running_loop().call_soon(self._wake)

    def _silence(self) -> Silence | None:
        quiet = self._clock.now() - self._heard
        if quiet >= self._patience.stall:
            return Silence(quiet, final=True)
        if quiet >= self._patience.notice and not self._told:
            self._told = True
            return Silence(quiet, final=False)
        return None

    def _set_timer(self) -> None:
        patience = self._patience.stall if self._told else self._patience.notice
        due = self._heard + patience - self._clock.now()
        self._timer = self._clock.call_later(max(0.01, due), self._on_timer)

    def _on_timer(self) -> None:
        self._wake()
        # `_told` changes when the caller wakes up; look again a little later rather than guess.
        if self._silence_due():
            self._timer = self._clock.call_later(self._patience.notice / 3, self._on_timer)
        else:
            self._set_timer()

    def _silence_due(self) -> bool:
        return self._clock.now() - self._heard >= (self._patience.stall if self._told else self._patience.notice)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
