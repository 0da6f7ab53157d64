"""A session's file while we own it: the lock, the journal, and the session's own records beside the engine's.

`session/state` holds everything a later process must know besides the conversation; the newest one counts, so it is
written whole whenever something in it changes.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from assent.storage import transcript
from assent.storage.journal import Disk, Journal
from assent.storage.lines import Secrets
from assent.storage.lock import SessionLock, acquire
from assent.storage.paths import SessionPaths
from assent.types import codec
from assent.types.blocks import Json
from assent.types.messages import Message, UserMessage

VERSION = 1  # of the header; `session/format` says what the rest of the file is


class Record:
    """Implements the engine's `Transcript` port. Opening it takes the session's lock or raises ownedElsewhere."""

    def __init__(
        self,
        paths: SessionPaths,
        *,
        secrets: Secrets = lambda: (),
        on_trouble: Callable[[OSError | None], None] = lambda _error: None,
        disk: Disk | None = None,
    ) -> None:
        self.paths = paths
        self._lock: SessionLock = acquire(paths.lock)
        self._journal = Journal(paths.transcript, secrets=secrets, on_trouble=on_trouble, disk=disk)
        self._state: Json = {}
        self.unanswered: frozenset[str] = frozenset()  # calls whose results are not to be written: they are asked again
        self.on_append: Callable[[Message], None] = lambda _message: None

    @property
    def path(self) -> Path:
        return self.paths.transcript

    @property
    def end(self) -> int:
        return self._journal.end

    @property
    def torn(self) -> bool:
        return self._journal.torn

    @property
    def saved(self) -> bool:
        """False while the disk refuses: then nothing is claimed to be saved."""
        return self._journal.trouble is None

    def append(self, message: Message) -> None:
        if self.unanswered and isinstance(message, UserMessage):
            kept = tuple(block for block in message.content if block.get("tool_use_id") not in self.unanswered)
            if not kept:
                return
            message = replace(message, content=kept)
        if transcript.keep(message):
            self._journal.append(codec.to_json(message))
            self.on_append(message)

    async def flush(self, *, durable: bool) -> None:
        if durable:
            await self._journal.flush()

    async def durable(self) -> bool:
        return await self._journal.flush()

    def begin(self, **header: Any) -> None:
        """The first two records of a new session."""
        self.note("header", version=VERSION, **header)
        self.note("format", version=transcript.FORMAT)

    def note(self, kind: str, **fields: Any) -> int:
        """One of the session's own records; its offset."""
        return self._journal.append({"type": f"session/{kind}", **fields})

    def state(self, state: Json) -> None:
        """Write the state if it changed."""
        if state != self._state:
            self._state = state
            self.note("state", format=transcript.FORMAT, **state)

    def busy(self, now: bool) -> None:
        """Mark in the lock file, for other processes, whether a turn is running."""
        self._lock.busy(now)

    def close(self) -> bool:
        saved = self._journal.close()
        self._lock.release()
        return saved


def saved_state(path: Path) -> Json:
    entry = transcript.last_entry(path, "session/state")
    return entry.record if entry else {}
