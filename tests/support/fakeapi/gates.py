"""Waiting for things to happen, across threads: the test may live in another one than the server."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future


class Gate:
    def __init__(self) -> None:
        self.reached: Future[None] = Future()
        self.opened: Future[None] = Future()

    def open(self) -> None:
        _settle(self.opened)

    async def passed(self) -> None:
        """Called by the stream: says that it is here, and waits."""
        _settle(self.reached)
        await asyncio.wrap_future(self.opened)


class Gates:
    def __init__(self) -> None:
        self._gates: dict[str, Gate] = {}

    def __getitem__(self, name: str) -> Gate:
        return self._gates.setdefault(name, Gate())

    def open_all(self) -> None:
        for gate in self._gates.values():
            gate.open()


class Arrivals:
    """Counts calls; others wait for a number of them."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, Future[None]]] = []
        self._count = 0

    def arrived(self, count: int) -> None:
        self._count = count
        for wanted, future in self._waiting:
            if count >= wanted:
                _settle(future)

    async def wait(self, count: int) -> None:
        future: Future[None] = Future()
        self._waiting.append((count, future))
        if self._count < count:
            await asyncio.wrap_future(future)


def _settle(future: Future[None]) -> None:
    if not future.done():
        future.set_result(None)
