"""Hears when certain files change on disk: settings, so that nobody has to restart (X), and what hooks wait for.

Watches the folders the files are in, or would be in, and nothing below them. A folder that does not exist yet is seen
through its parent.
"""

import errno
import logging
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal

import anyio

log = logging.getLogger(__name__)

Changes = Callable[[frozenset[str], anyio.Event], AsyncGenerator[set[str], None]]
"""(folders, stop) → sets of paths that changed, until `stop` is set. An empty one says that the watching has begun:
what changed on the way there was told by nobody."""

Kind = Literal["change", "add", "unlink"]


class FileWatch:
    def __init__(self, files: Callable[[], Iterable[Path]], *, changes: Changes | None = None) -> None:
        self._files = files
        self._changes = changes or _watchfiles
        self._stop = anyio.Event()
        self._stopped = False
        self._seen: dict[Path, tuple[int, int, int] | None] = {}

    def look_again(self) -> None:
        """The set of files is another one now. What changes from here on is told, also before they are watched."""
        for path in self._files():
            self._seen.setdefault(path, _stamp(path))
        self._stop.set()

    def stop(self) -> None:
        """End `run`. Cancelling it instead would wait for the watching thread to look up by itself, seconds later."""
        self._stopped = True
        self._stop.set()

    async def run(self, changed: Callable[[dict[Path, Kind]], None]) -> None:
        """Call `changed` after each change, until stopped, with the files that are different now."""
        while not self._stopped:
            self._stop = anyio.Event()
            files = list(self._files())
            folders = frozenset(folder for path in files if (folder := _existing(path.parent)))
            for path in files:
                self._seen.setdefault(path, _stamp(path))
            if meanwhile := self._different(files):
                changed(meanwhile)
            try:
                async with aclosing(self._changes(folders, self._stop)) as batches:
                    async for batch in batches:
                        if any(str(path) in batch or str(path.parent) in batch for path in files):
                            changed(self._different(files))
                        elif not batch and (missed := self._different(files)):
                            changed(missed)
                        if folders != frozenset(folder for path in files if (folder := _existing(path.parent))):
                            break  # a folder came or went: watch the new ones
            except OSError as error:
                log.warning("files cannot be watched: %s", error)
                await self._stop.wait()

    def _different(self, files: Iterable[Path]) -> dict[Path, Kind]:
        found: dict[Path, Kind] = {}
        for path in files:
            before, now = self._seen.get(path), _stamp(path)
            if before != now:
                found[path] = "add" if before is None else "unlink" if now is None else "change"
                self._seen[path] = now
        return found


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What tells two states of a file apart; None where there is none."""
    try:
        status = path.stat()
    except OSError as error:
        return (0, 0, 0) if error.errno == errno.ELOOP else None
    return (status.st_mtime_ns, status.st_size, status.st_ino)


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

    options: dict[str, Any] = {"debounce": 200, "rust_timeout": 500, "recursive": False, "yield_on_timeout": True}
    begun = False
    async with aclosing(awatch(*folders, watch_filter=None, stop_event=stop, **options)) as batches:
        async for batch in batches:
            if batch or not begun:
                yield {path for _, path in batch}
            begun = True
