"""What commands and MCP tools change in the workspace goes into the file history too (S3).

Calls that overlap are one stretch: the files are looked at before the first and after the last of them. Both looks are
bounded, so that a step in a large tree does not wait; what they could not see is noted as not tracked.
"""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread

from assent.sessions.files.baseline import Baseline, Changes
from assent.storage.history import FileHistory

log = logging.getLogger(__name__)
BEFORE_SECONDS = 0.25
AFTER_SECONDS = 0.5
PREPARE_SECONDS = 5.0
SLICE = 0.05
HEAD_START = 0.1  # seconds in which a request is made and sent
MOST_NOTES = 5  # per stretch


class Effects:
    def __init__(
        self, root: str, history: FileHistory, folder: Path, *, at: Callable[[], int], turn_id: Callable[[], str]
    ) -> None:
        self._history = history
        self._at = at
        self._turn_id = turn_id
        # Nobody's project: looking at all of it would take for ever and keep what is no business of a session.
        self._off = Path(root) in (Path.home(), Path("/"))
        self._root = root
        self._baseline = Baseline(root, folder)
        self._running = 0
        self._began = 0
        self._looking = anyio.Lock()
        self.prepared = self._off  # or on the way
        self._closed = False

    async def prepare(self) -> None:
        """While the model is thinking about the first prompt: most files are known when the first command comes. The
        request itself goes out first."""
        if self.prepared:
            return
        self.prepared = True
        await anyio.sleep(HEAD_START)
        with anyio.move_on_after(PREPARE_SECONDS):
            while not self._closed and not self._running:
                async with self._looking:
                    if self._closed or self._running or await anyio.to_thread.run_sync(self._baseline.prepare, SLICE):
                        return

    @asynccontextmanager
    async def around(self) -> AsyncGenerator[None]:
        """A call that may change any file."""
        await self._begin()
        try:
            yield
        finally:
            self._running -= 1
            if not self._running:
                with anyio.CancelScope(shield=True):  # bounded: the look has a deadline of its own
                    await self._end()

    async def _begin(self) -> None:
        self._running += 1
        if self._running > 1 or self._off:
            return
        try:
            async with self._looking:
                self._began = self._at()
                await anyio.to_thread.run_sync(self._baseline.before, BEFORE_SECONDS)
        except BaseException:
            self._running -= 1
            raise

    async def _end(self) -> None:
        if self._off:
            self._history.untracked(f"{self._root}: commands are not followed in a home folder", at=self._at())
            return
        async with self._looking:
            if not self._running and not self._closed:
                changes = await anyio.to_thread.run_sync(self._baseline.after, AFTER_SECONDS)
                await anyio.to_thread.run_sync(self._note, changes)

    def _note(self, changes: Changes) -> None:
        untracked = list(changes.untracked)
        for change in changes.found:
            try:
                self._history.changed(
                    change.path,
                    change.before,
                    change.after,
                    at=self._began,
                    turn_id=self._turn_id(),
                    mode=change.mode,
                )
            except OSError as error:
                untracked.append(f"{change.path}: what it was could not be saved ({error.strerror})")
        shown = untracked[:MOST_NOTES]
        if len(untracked) > len(shown):
            shown.append(f"{len(untracked) - len(shown)} more files")
        for words in shown:
            self._history.untracked(words, at=self._began)

    def close(self) -> None:
        self._closed = True
        self._baseline.close()
