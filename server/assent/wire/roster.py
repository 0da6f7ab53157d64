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
    state: Literal["running", "waiting", "idle", "finished"]
    cost_usd: float
    clients: int
    asks: list[RosterAsk]


class Roster(Wire):
    sessions: list[RosterEntry]
