"""An application that a task of its own holds open.

Its group of tasks must be left by the task that entered it. The cells of a notebook, and the beginning and the end of a
test's fixture, are tasks of their own: whoever closes a client need not be the one who opened it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from assent.app import App


class HeldApp:
    def __init__(self, app: App) -> None:
        self.app = app
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._holder = asyncio.create_task(self._hold(), name="a program's conversation")

    @classmethod
    async def open(cls, app: App) -> Self:
        """Raises what opening the application raises."""
        held = cls(app)
        try:
            await asyncio.shield(held._opened)
        except asyncio.CancelledError:
            await held.close()
            raise
        return held

    async def close(self) -> None:
        """Ends every turn and child. It goes on to the end, even when who waits for it is cancelled."""
        self._closing.set()
        await asyncio.shield(self._holder)

    async def _hold(self) -> None:
        try:
            async with self.app:
                self._opened.set_result(None)
                await self._closing.wait()
        except Exception as error:
            if self._opened.done():
                raise
            self._opened.set_exception(error)
