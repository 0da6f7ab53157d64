"""Background tasks that nothing awaits: a failure is logged, and all tasks are cancelled when the server ends."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from assent.lsp.rpc.peer import RemoteError

log = logging.getLogger("assent.lsp")

Spawn = Callable[[Coroutine[Any, Any, Any]], None]


class BackgroundWork:
    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self) -> None:
        for task in list(self._tasks):
            task.cancel()


async def _logged(work: Coroutine[Any, Any, Any]) -> None:
    try:
        await work
    except asyncio.CancelledError:
        raise
    except RemoteError as error:
        log.info("the client: %s", error)
    except Exception:
        log.exception("background work failed")
