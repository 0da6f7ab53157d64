"""Whether a session waits for people (asks, edits under review), since when, and for how long in all."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Literal

import msgspec

from assent.sessions.live.owning_session import OwningSession
from assent.sessions.live.turns import SessionTurns
from assent.types.blocks import Json
from assent.wire.events import ReviewPending, Status
from assent.wire.results import WaitingReview


class WaitingState:
    def __init__(self, session: OwningSession, turns: SessionTurns, *, began: Callable[[], None]) -> None:
        """`began` is called whenever the session begins to wait."""
        self.reviews: list[WaitingReview] = []  # edits whose hunks are to be decided without an ask
        self._session = session
        self._turns = turns
        self._began = began
        self._total = 0.0  # seconds, up to `_since`
        self._since: float | None = None

    @property
    def status(self) -> Literal["idle", "running", "waiting"]:
        running = self._turns.current is not None
        if self.reviews or (self._session.asks if running else self._session.asks.of_someone_at_work()):
            return "waiting"
        return "running" if running else "idle"

    def seconds(self) -> float:
        return self._total + (time.monotonic() - self._since if self._since is not None else 0.0)

    @contextmanager
    def reviewing(self, waiting: Sequence[Json]) -> Generator[None]:
        """These edits are under review: the status says that the session waits."""
        reviews = msgspec.convert(waiting, list[WaitingReview])
        self.reviews += reviews
        for each in reviews:
            self._session.publish(ReviewPending(each.proposal_id, each.tool_use_id, each.hunks))
        self.changed()
        try:
            yield
        finally:
            self.reviews = [each for each in self.reviews if each not in reviews]
            self.changed()

    def changed(self) -> None:
        """An ask or a review was added or is gone."""
        waiting = self.status == "waiting"
        if waiting and self._since is None:
            self._since = time.monotonic()
            self._turns.make_room()
            self._began()
        elif not waiting and self._since is not None:
            self._total, self._since = self.seconds(), None
        elif self._turns.current is None:
            return  # between turns only a background agent asks: clients know the state already
        self._session.publish(Status(self.status))
