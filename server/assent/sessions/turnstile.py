"""Costly beginnings one at a time: whatever else is ready gets its turn between two of them.

A session that begins, and a turn that does, each keep the event loop for some milliseconds. Where many begin at once,
all of them would run before the loop looks at its connections again, and every window would wait for all of them.
"""

import asyncio
from collections import deque


class Turnstile:
    """Lets one caller per round of the event loop go on, in the order in which they came."""

    def __init__(self) -> None:
        self._taken = False  # someone went through in this round
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def pass_through(self) -> None:
        loop = asyncio.get_running_loop()
        if not self._taken:
            self._taken = True
            loop.call_soon(self._next)
            return
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.append(turn)
        await turn

    def _next(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # not cancelled
                turn.set_result(None)
                turn.get_loop().call_soon(self._next)  # after the one who was let through
                return
        self._taken = False
