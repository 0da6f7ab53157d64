"""Background tasks of a session: started from anywhere, independent of each other, cancelled together.

Anywhere includes a plain callback of the event loop, such as a notification from the wire, where anyio can start
nothing because no task is running.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Self

import anyio
import anyio.abc

log = logging.getLogger(__name__)
Work = Callable[[], Coroutine[Any, Any, None]]


class BackgroundTasks:
    def __init__(self) -> None:
        self._group: anyio.abc.TaskGroup | None = None
        self._starting: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._group = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        """The tasks never fail (see `_guarded`), so the caller's own error is not wrapped in a group with theirs."""
        self.cancel()
        group, self._group = self._group, None
        if group is not None:
            await group.__aexit__(None, None, None)

    def start(self, work: Work) -> None:
        if self._group is None:
            raise RuntimeError("enter the hub (async with) before using it")
        if asyncio.current_task() is not None:
            self._group.start_soon(_guarded, work)
            return
        starter = asyncio.get_running_loop().create_task(self._start(work))
        self._starting.add(starter)
        starter.add_done_callback(self._starting.discard)

    def cancel(self) -> None:
        if self._group is not None:
            self._group.cancel_scope.cancel()

    async def _start(self, work: Work) -> None:
        if self._group is not None:  # else everything was ended meanwhile
            self._group.start_soon(_guarded, work)


async def _guarded(work: Work) -> None:
    """A bug in one task must not take every other session down."""
    try:
        await work()
    except Exception:
        log.exception("a session task failed")
