"""Time that passes only when a test says so."""

import anyio


class FakeClock:
    def __init__(self) -> None:
        self.now = 0.0
        self._sleepers: list[tuple[float, anyio.Event]] = []

    async def sleep(self, seconds: float) -> None:
        event = anyio.Event()
        self._sleepers.append((self.now + seconds, event))
        await event.wait()

    def advance(self, seconds: float) -> None:
        self.now += seconds
        for entry in [entry for entry in self._sleepers if entry[0] <= self.now]:
            self._sleepers.remove(entry)
            entry[1].set()
