"""The roster: every session of this process, what it is doing, and which asks wait for an answer."""

from typing import Literal

from assent.wire.shapes import Path, Wire


class RosterRequest(Wire):
    cwd: Path | None = None  # only sessions of this folder


class RosterAsk(Wire):
    ask_id: str
    title: str
    tool: str


class RosterEntry(Wire):
    session_id: str
    title: str
    cwd: str
    state: Literal["running", "waiting", "idle", "finished", "queued"]  # queued: as many turns run as may
    cost_usd: float
    clients: int
    asks: list[RosterAsk]
    background: bool | None = None  # its turn goes on when the last window has gone


class Roster(Wire):
    sessions: list[RosterEntry]


class MissedSession(Wire):
    """A session that went on without a window. `epoch` and `afterSeq`: attach with them to get what was missed."""

    session_id: str
    title: str
    state: Literal["running", "waiting", "finished", "interrupted"]
    since: float  # seconds since 1970: when the last window left
    epoch: str
    after_seq: int
    ask: str | None = None
    text: str | None = None  # the same as one sentence for people


class Missed(Wire):
    sessions: list[MissedSession]
