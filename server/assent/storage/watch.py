"""Hears when settings files change on disk, so that nobody has to restart (X).

Watches the folders the files are in, or would be in, and nothing below them. A folder that does not exist yet is seen
through its parent.
"""

import logging
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio

log = logging.getLogger(__name__)

Changes = Callable[[frozenset[str], anyio.Event], AsyncGenerator[set[str], None]]
"""(folders, stop) → sets of paths that changed, until `stop` is set."""


class SettingsWatch:
    def __init__(self, files: Callable[[], Iterable[Path]], *, changes: Changes | None = None) -> None:
        self._files = files
        self._changes = changes or _watchfiles
        self._stop = anyio.Event()
        self._stopped = False

    def look_again(self) -> None:
        """The set of files is another one now."""
        self._stop.set()

    def stop(self) -> None:
        """End `run`. Cancelling it instead would wait for the watching thread to look up by itself, seconds later."""
        self._stopped = True
        self._stop.set()

    async def run(self, changed: Callable[[], None]) -> None:
        """Call `changed` after each change, until stopped."""
        while not self._stopped:
            self._stop = anyio.Event()
            files = list(self._files())
            folders = frozenset(folder for path in files if (folder := _existing(path.parent)))
            try:
                async with aclosing(self._changes(folders, self._stop)) as batches:
                    async for batch in batches:
                        if any(str(path) in batch or str(path.parent) in batch for path in files):
                            changed()
                        if folders != frozenset(folder for path in files if (folder := _existing(path.parent))):
                            break  # a folder came or went: watch the new ones
            except OSError as error:
                log.warning("settings cannot be watched: %s", error)
                await self._stop.wait()


def _existing(folder: Path) -> str | None:
    for candidate in (folder, folder.parent):
        if candidate.is_dir():
            return str(candidate)
    return None


async def _watchfiles(folders: frozenset[str], stop: anyio.Event) -> AsyncGenerator[set[str], None]:
    if not folders:
        await stop.wait()
        return
    from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType] -- its optional trio event has no types here

    options: dict[str, Any] = {"debounce": 200, "rust_timeout": 500, "recursive": False}
    async with aclosing(awatch(*folders, watch_filter=None, stop_event=stop, **options)) as batches:
        async for batch in batches:
            yield {path for _, path in batch}
