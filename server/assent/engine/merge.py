"""The one place that owns tasks behind a generator (PEP 789).

A generator must not yield inside a task group or a cancel scope: the consumer's code would then run inside it, and a
tool's failure would reach the consumer as a bare cancellation. So a turn runs as an ordinary coroutine in a task of
its own, sends what happens into a bounded `Outlet`, and the generator only reads. Leaving the generator, however that
happens, cancels the task and waits for its end. Nothing else in the engine creates a task outside a task group.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar

import anyio

logger = logging.getLogger(__name__)

T = TypeVar("T")

CAPACITY = 256
POSTED_CAPACITY = 4096


class Outlet(Generic[T]):
    """The bounded stream into which a turn sends its messages; sending waits while the stream is full."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.items: deque[T] = deque()
        self._capacity = capacity
        self._ready = asyncio.Event()
        self._room = asyncio.Event()
        self._waiting = 0
        self.dropped = 0

    async def send(self, item: T) -> None:
        """The item is in before anything is waited for: a cancellation cannot lose what was already written down."""
        self.items.append(item)
        self._ready.set()
        if len(self.items) >= self._capacity:
            await self.room()

    async def room(self) -> None:
        """Wait until the reader has caught up."""
        self._waiting += 1
        try:
            while len(self.items) >= self._capacity:
                self._room.clear()
                await self._room.wait()
        finally:
            self._waiting -= 1

    def post(self, item: T, *, droppable: bool) -> None:
        """Send from code that cannot wait; droppable messages are discarded while the consumer does not read."""
        if droppable and len(self.items) >= POSTED_CAPACITY:
            self.dropped += 1
            return
        self.items.append(item)
        self._ready.set()

    def taken(self) -> None:
        if self._waiting and len(self.items) < self._capacity:
            self._room.set()

    async def ready(self) -> None:
        self._ready.clear()
        await self._ready.wait()

    def wake(self) -> None:
        self._ready.set()


async def merged(
    run: Callable[[Outlet[T]], Coroutine[Any, Any, None]], *, capacity: int = CAPACITY
) -> AsyncGenerator[T, None]:
    """Run `run` in a task we own and yield what it sends. An error of `run` is raised after its last item."""
    outlet: Outlet[T] = Outlet(capacity)
    task = asyncio.create_task(run(outlet))
    task.add_done_callback(lambda _task: outlet.wake())
    items = outlet.items
    try:
        while True:
            while items:
                item = items.popleft()
                outlet.taken()
                yield item
            if task.done():
                break
            await outlet.ready()
        await task
    finally:
        await _end(task)


class Background:
    """Tasks that outlive a turn: prefetches, summaries, background agents. Closed with the engine."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Awaitable[T], *, name: str) -> "asyncio.Task[T | None]":
        task = asyncio.create_task(_guarded(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    @property
    def running(self) -> int:
        return len(self._tasks)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        for task in list(self._tasks):
            await _end(task)


async def _guarded(work: Awaitable[T], name: str) -> T | None:
    try:
        return await work
    except Exception:
        logger.exception("background work failed: %s", name)
        return None


async def _end(task: "asyncio.Task[Any]") -> None:
    if not task.done():
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task])
