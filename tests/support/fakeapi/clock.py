"""Clocks that tests own. `InstantClock` never waits and remembers; `VirtualClock` moves only when told to."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class InstantClock:
    """Every sleep is over at once; `sleeps` says how long they would have been."""

    time: float = 1_000.0
    chance: float = 0.0  # what `jitter` gives
    sleeps: list[float] = field(default_factory=list[float])

    def now(self) -> float:
        return self.time

    def wall(self) -> float:
        return 1_700_000_000.0 + self.time

    def jitter(self) -> float:
        return self.chance

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)

    def call_later(self, seconds: float, then: Callable[[], None]) -> VirtualTimer:
        return VirtualTimer(seconds, then)  # silence is not what tests with this clock are about


@dataclass(slots=True)
class VirtualTimer:
    due: float
    then: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


class VirtualClock:
    def __init__(self) -> None:
        self._now = 0.0
        self._order = itertools.count()
        self._timers: list[tuple[float, int, VirtualTimer]] = []

    def now(self) -> float:
        return self._now

    def wall(self) -> float:
        return 1_700_000_000.0 + self._now

    def jitter(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        done = asyncio.Event()
        self.call_later(seconds, done.set)
        await done.wait()

    def call_later(self, seconds: float, then: Callable[[], None]) -> VirtualTimer:
        timer = VirtualTimer(self._now + seconds, then)
        heapq.heappush(self._timers, (timer.due, next(self._order), timer))
        return timer

    async def advance(self, seconds: float) -> None:
        """Move on, firing what falls due on the way and letting everyone react to each."""
        end = self._now + seconds
        while self._timers and self._timers[0][0] <= end:
            due, _, timer = heapq.heappop(self._timers)
            self._now = due
            if not timer.cancelled:
                timer.then()
                await settle()
        self._now = end
        await settle()


async def settle(rounds: int = 20) -> None:
    """Let everything that can run do so."""
    for _ in range(rounds):
        await asyncio.sleep(0)
