"""Proposals persist with their session: what can still be decided is there after a restart.

Typing changes them at every key, so they are saved when it rests, and when the session is shut.
"""

import asyncio
import contextlib

from assent.editor.proposals import Proposals
from assent.storage.files import SavedList

REST_SECONDS = 0.5


class SavedProposals:
    def __init__(self, session_id: str, proposals: Proposals | None, file: SavedList) -> None:
        self._session_id = session_id
        self._proposals = proposals
        self._file = file
        self._timer: asyncio.TimerHandle | None = None

    async def load(self) -> None:
        saved = self._file.load() if self._proposals is not None else []
        if self._proposals is not None and saved:
            await self._proposals.load(self._session_id, saved)

    def changed(self) -> None:
        if self._timer is None:
            with contextlib.suppress(RuntimeError):  # no loop any more: the process is ending, `shut` has saved them
                self._timer = asyncio.get_running_loop().call_later(REST_SECONDS, self.save)

    def save(self) -> None:
        """If anything has changed since the last time."""
        if self._timer is not None:
            self.save_now()

    def save_now(self) -> None:
        if self._proposals is None:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._file.save(self._proposals.dump(self._session_id))
