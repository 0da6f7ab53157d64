"""Time as this package sees it, so that tests can own it."""

import asyncio
import random
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    def now(self) -> float:
        """Seconds that only go forward."""
        ...

    def wall(self) -> float:
        """Seconds since 1970."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    def call_later(self, seconds: float, then: Callable[[], None]) -> Timer: ...

    def jitter(self) -> float:
        """Between 0 and 1, anew each time."""
        ...


class SystemClock:
    def now(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def call_later(self, seconds: float, then: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, then)

    def jitter(self) -> float:
        return random.random()
