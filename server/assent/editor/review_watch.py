"""Watches the files of closed documents that something of ours is anchored in, so that it moves with them.

Only the folders of those files, and not below them: a repository of any size costs nothing while nothing is anchored.
Open documents are the editor's to watch; what the agent has read is checked by the engine between steps.
"""

import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import anyio

from assent.editor.documents import Documents

log = logging.getLogger(__name__)

Changes = Callable[[frozenset[str], anyio.Event], AsyncGenerator[set[str], None]]
"""(folders, stop) → sets of paths that changed, until `stop` is set."""


class ReviewWatch:
    def __init__(
        self, documents: Documents, refresh: Callable[[str], Awaitable[None]], *, changes: Changes | None = None
    ) -> None:
        self._documents = documents
        self._refresh = refresh
        self._changes = changes or _watchfiles
        self._stop = anyio.Event()
        documents.on_interest = self._look_again

    async def run(self) -> None:
        """Until cancelled."""
        known: set[str] = set()
        while True:
            self._stop = anyio.Event()
            paths = {document.path for document in self._documents.followed() if document.path is not None}
            folders = frozenset(folder for path in paths if os.path.isdir(folder := os.path.dirname(path)))  # noqa: PTH112, PTH120, ASYNC240 -- one stat a folder, when the set changes
            for path in sorted(paths - known):  # just closed: what it held in the editor need not be on disk
                await self._refresh(path)
            known = paths
            if not folders:
                await self._stop.wait()
                continue
            try:
                await self._follow(folders, paths)
            except OSError as error:
                log.warning("files cannot be watched: %s", error)
                await self._stop.wait()

    async def _follow(self, folders: frozenset[str], paths: set[str]) -> None:
        async with aclosing(self._changes(folders, self._stop)) as batches:
            async for batch in batches:
                for path in sorted(batch & paths):
                    await self._refresh(path)

    def _look_again(self) -> None:
        self._stop.set()


async def _watchfiles(folders: frozenset[str], stop: anyio.Event) -> AsyncGenerator[set[str], None]:
    from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType] -- its optional trio event has no types here

    # A short look each time: cancelling waits for the thread, which hears of nothing before its look is over.
    options: dict[str, Any] = {"debounce": 200, "rust_timeout": 300, "recursive": False}
    async with aclosing(awatch(*folders, watch_filter=None, stop_event=stop, **options)) as batches:
        async for batch in batches:
            yield {path for _, path in batch}
