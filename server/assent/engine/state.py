"""The state that a turn carries from one model call to the next (L1).

The state is frozen and replaced whole at each continue site by `State.proceed`, which also records why we looped.
What each reason resets is this table and nothing else; what is not listed is kept.

    field                      next_turn  structured  stop_hook  token_budget  all recoveries, fallback, pause
    output_recovery_count      reset      reset       reset      reset         kept
    reactive_compact_attempted reset      reset       kept       reset         kept
    max_tokens_override        reset      reset       reset      reset         kept
    stream_retry_count         reset      reset       reset      reset         kept
    pause_count                reset      reset       reset      reset         kept
    tries                      reset*     reset       reset      reset         reset, set by stream_retry
    stop_hook_active           kept       kept        set        kept          kept
    worked_since_block         set        set         reset      kept          kept
    turn_count                 + 1        kept        kept       kept          kept

* `next_turn` sets `tries` after a stream that broke once an unsafe call of it had started: its answer is kept, and the
next call waits and counts as a retry would (M3, L10).

`stop_hook_blocking` keeps `reactive_compact_attempted`: a hook that adds context to a conversation that only just
fitted must not buy another compaction each time round.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from assent.types.messages import ContinueReason, ConversationMessage, TerminalReason
from assent.types.tries import Tries

if TYPE_CHECKING:
    import asyncio

_RECOVERY = ("output_recovery_count", "max_tokens_override", "stream_retry_count", "pause_count", "tries")

RESETS: dict[ContinueReason, tuple[str, ...]] = {
    "next_turn": (*_RECOVERY, "reactive_compact_attempted"),
    "structured_output_retry": (*_RECOVERY, "reactive_compact_attempted"),
    "token_budget_continuation": (*_RECOVERY, "reactive_compact_attempted"),
    "stop_hook_blocking": _RECOVERY,
    "max_output_tokens_escalate": ("tries",),
    "max_output_tokens_recovery": ("tries",),
    "reactive_compact_retry": ("tries",),
    "collapse_drain_retry": ("tries",),
    "fallback_model_retry": ("tries",),
    "stream_retry": ("tries",),
    "pause_turn": ("tries",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """Why we looped, with the one number some reasons carry: the attempt, or how many collapses were committed."""

    reason: ContinueReason
    attempt: int = 0
    committed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactTracking:
    """The circuit breaker of autocompact (C5), kept across turns by the engine."""

    failures: int = 0
    just_compacted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetTracking:
    """How the token budget went so far (L12)."""

    continuations: int = 0
    last_delta: int = 0
    tokens_at_last_check: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    messages: tuple[ConversationMessage, ...]  # the model's view, already reduced
    model: str
    tracking: CompactTracking = field(default_factory=CompactTracking)
    budget: BudgetTracking = field(default_factory=BudgetTracking)
    output_recovery_count: int = 0
    reactive_compact_attempted: bool = False
    max_tokens_override: int | None = None
    stream_retry_count: int = 0
    tries: Tries | None = None  # of the call that is made again, as the model layer counts them (M3)
    pause_count: int = 0
    structured_retries: int = 0
    pending_summary: asyncio.Task[Any] | None = None
    stop_hook_active: bool = False
    stop_hook_rounds: int = 0  # how often hooks have sent the model back to work
    worked_since_block: bool = False  # a tool was used since the last time
    turn_count: int = 1
    transition: Transition | None = None

    def proceed(self, reason: ContinueReason, *, attempt: int = 0, committed: int = 0, **changes: Any) -> State:
        """The state of the next iteration: the table's resets, then the site's own changes."""
        resets = {name: _DEFAULTS[name] for name in RESETS[reason]}
        transition = Transition(reason=reason, attempt=attempt, committed=committed)
        return replace(self, **{**resets, **changes, "transition": transition})


_DEFAULTS: dict[str, Any] = {
    "output_recovery_count": 0,
    "reactive_compact_attempted": False,
    "max_tokens_override": None,
    "stream_retry_count": 0,
    "pause_count": 0,
    "tries": None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd:
    """Why the turn ended. `error` is shown to the user when the turn failed."""

    reason: TerminalReason
    error: str = ""
    structured_output: object = None
    structured_failed: bool = False


Step = State | TurnEnd
