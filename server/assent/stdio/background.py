"""Slow, blocking work beside the event loop, in threads that nobody waits for when the process ends."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any


async def in_thread(function: Callable[[], Any]) -> None:
    """Run in a daemon thread: unlike an executor's, nobody waits for it when the process ends."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[BaseException | None] = loop.create_future()

    def settle(error: BaseException | None) -> None:
        if not done.done():
            done.set_result(error)

    def work() -> None:
        failure: BaseException | None = None
        try:
            function()
        except Exception as error:
            failure = error
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, failure)

    threading.Thread(target=work, name="assent-load", daemon=True).start()
    if (error := await done) is not None:
        raise error
