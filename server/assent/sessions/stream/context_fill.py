"""What a conversation fills and has cost: one source for the snapshot on attach and for the event `usage`."""

from pathlib import Path
from typing import Protocol

from assent.sessions.deps import EngineOptions, SessionDeps
from assent.storage import transcript
from assent.types.ports import ModelInfo
from assent.wire.events import UsageEvent
from assent.wire.results import ContextAndCost


class Spending(Protocol):
    @property
    def cost_usd(self) -> float: ...


class UsedSession(Protocol):
    @property
    def transcript(self) -> Path: ...
    @property
    def deps(self) -> SessionDeps: ...
    @property
    def options(self) -> EngineOptions: ...
    @property
    def turns(self) -> Spending: ...


def filled(path: Path, model: ModelInfo, cost_usd: float) -> ContextAndCost:
    return ContextAndCost(
        context_tokens=transcript.context_tokens(path), context_window=model.context_window, cost_usd=cost_usd
    )


def usage(session: UsedSession) -> ContextAndCost:
    """What the conversation fills and has cost by now."""
    return filled(session.transcript, session.deps.model_info(session.options.model), session.turns.cost_usd)


def usage_event(session: UsedSession) -> UsageEvent:
    """The same for who listens already: no model call was made, but what the figures depend on has changed."""
    now = usage(session)
    return UsageEvent(
        input=0,
        output=0,
        cache_read=0,
        cache_write=0,
        context_tokens=now.context_tokens,
        context_window=now.context_window,
        cost_usd=0.0,
        total_cost_usd=now.cost_usd,
    )
