"""The events that no client saw: one pointer per session, kept for some hours and sent to the next window.

A pointer is made when the last client leaves a session whose turn runs, and dropped when one attaches to it. It says
where the stream stood (`epoch`, `afterSeq`), so attaching with it brings exactly what was missed, as long as the
process lives; afterwards attaching brings the conversation as always.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assent.storage.files import write_atomically
from assent.text.visible import readable
from assent.types.regular_files import read_regular
from assent.wire.roster import Missed, MissedSession

if TYPE_CHECKING:
    from assent.sessions.live.session import Session

_LARGEST = 1 << 20
_WORDS = {
    "running": "is still running",
    "waiting": "waits for your answer",
    "finished": "has finished",
    "interrupted": "was cut off when its engine ended, and can be resumed",
}


class MissedBoard:
    """`hours` is how long a pointer is kept; `sessions` gives those that are live."""

    def __init__(
        self,
        file: Path,
        sessions: Callable[[], Iterable[Session]],
        *,
        hours: Callable[[], float],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._file = file
        self._sessions = sessions
        self._hours = hours
        self._clock = clock
        self._closed = False
        self._kept = {entry.session_id: _cut(entry) for entry in self._load()}

    def someone_left(self) -> None:
        for session in self._sessions():
            if not session.events.subscriptions and session.running and session.id not in self._kept:
                self._kept[session.id] = MissedSession(
                    session_id=session.id,
                    title=readable(session.title),
                    state="running",
                    since=self._clock(),
                    epoch=session.events.epoch,
                    after_seq=session.events.last_seq,
                )
        self.changed()

    def close(self) -> None:
        """The process ends, and its turns with it: the pointers stay as they are."""
        self._closed = True

    def changed(self) -> None:
        """A session changed its state, or a window shows it again."""
        if self._closed:
            return
        before = dict(self._kept)
        for session in self._sessions():
            known = self._kept.get(session.id)
            if known is None:
                continue
            if session.events.subscriptions:
                del self._kept[session.id]
                continue
            asks = session.asks.permissions()
            self._kept[session.id] = msgspec.structs.replace(
                known,
                state=session.waiting.status if session.waiting.status != "idle" else "finished",
                ask=asks[0].title if asks else None,
            )
        self._forget()
        if self._kept != before:
            self._save()

    def current(self) -> Missed:
        self._forget()
        told = [msgspec.structs.replace(entry, text=_words(entry)) for entry in self._kept.values()]
        return Missed(sessions=told)

    def _forget(self) -> None:
        oldest = self._clock() - self._hours() * 3600
        self._kept = {key: entry for key, entry in self._kept.items() if entry.since >= oldest}

    def _save(self) -> None:
        with contextlib.suppress(OSError):  # a courtesy: the sessions themselves are saved elsewhere
            write_atomically(self._file, msgspec.json.encode(self.current()))

    def _load(self) -> list[MissedSession]:
        try:
            data = read_regular(self._file, limit=_LARGEST, follow=False).data
            return msgspec.json.decode(data, type=Missed).sessions
        except (OSError, ValueError, msgspec.MsgspecError):
            return []


def _words(entry: MissedSession) -> str:
    about = f": {entry.ask}" if entry.ask else ""
    return f"While no window was open: “{entry.title or entry.session_id}” {_WORDS[entry.state]}{about}."


def _cut(entry: MissedSession) -> MissedSession:
    """An entry of an earlier process: a turn that was not finished then is marked as interrupted."""
    unfinished = entry.state in ("running", "waiting")
    return msgspec.structs.replace(entry, state="interrupted", ask=None) if unfinished else entry
