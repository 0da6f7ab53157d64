"""The roster: every live session, what it is doing, and the asks that can be answered from the list.

Listeners get it whole whenever it changed, at most once per turn of the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

from assent.text.visible import readable
from assent.types.errors import ProtocolError
from assent.wire.roster import Roster, RosterAsk, RosterEntry
from assent.wire.rules import PermissionReply

if TYPE_CHECKING:
    from assent.sessions.live.session import Session

Listener = Callable[[Roster], None]


class RosterBoard:
    """`sessions` gives those that are live and listed."""

    def __init__(self, sessions: Callable[[], Iterable[Session]]) -> None:
        self._sessions = sessions
        self._listeners: list[Listener] = []
        self._sent: Roster | None = None
        self._due = False

    def listen(self, listener: Listener) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def current(self, cwd: str | None = None) -> Roster:
        entries = [_entry(session) for session in self._sessions() if cwd is None or session.cwd == cwd]
        return Roster(sessions=entries)

    def changed(self) -> None:
        """Something about a session changed; the listeners are notified once the caller is done."""
        if self._listeners and not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self._notify)

    def answer(self, reply: PermissionReply, *, who: str = "") -> None:
        """Answer an ask of any live session, for the client of this name. Raises unknownAsk when it is closed."""
        answer = {
            name: value
            for name, value in (
                ("decision", reply.decision),
                ("scope", reply.scope),
                ("rule", reply.rule),
                ("message", reply.message),
            )
            if value is not None
        }
        for session in self._sessions():
            if session.asks.answer(reply.ask_id, answer, by="roster", who=who):
                return
        raise ProtocolError("unknownAsk", "that question is no longer open", hint="It was answered, or its turn ended.")

    def _notify(self) -> None:
        self._due = False
        now = self.current()
        if now != self._sent:
            self._sent = now
            for listener in list(self._listeners):
                listener(now)


def _state(session: Session) -> Literal["running", "waiting", "idle", "finished", "queued"]:
    if session.turns.waits_for_room:
        return "queued"
    status = session.waiting.status
    return "finished" if status == "idle" and session.turns.count else status


def _entry(session: Session) -> RosterEntry:
    return RosterEntry(
        session_id=session.id,
        title=readable(session.title),
        cwd=session.cwd,
        state=_state(session),
        cost_usd=session.turns.cost_usd,
        clients=len(session.events.subscriptions),
        background=session.keeps_running or None,
        asks=[RosterAsk(ask_id=ask.ask_id, title=ask.title, tool=ask.tool) for ask in session.asks.permissions()],
    )
