"""The ledger of a session (usage and cost) and its limits: dollars (Q9), tokens (L12), the server-side task budget.

Usage counts once per API message, and as soon as it is reported: what message_start says is booked at once, what
message_delta and the final add, when they come. A call that was sent and has reported nothing is counted as open, so
that after a crash it is known that something more may have been paid for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from assent.engine.state import BudgetTracking
from assent.model.catalog import cost, info
from assent.types.blocks import Json
from assent.types.messages import AssistantFinal, Result, Spent
from assent.types.ports import ModelInfo
from assent.types.usage import Book, ModelUsage, Usage

COMPLETION_SHARE = 0.9
DIMINISHING_TOKENS = 500
DIMINISHING_AFTER = 3


@dataclass(slots=True, kw_only=True)
class Ledger:
    """Session totals: every call of every kind, subagents and background calls included."""

    model_info: Callable[[str], ModelInfo]
    on_spend: Book | None = None
    usage: Usage = field(default_factory=Usage)
    by_model: dict[str, ModelUsage] = field(default_factory=dict[str, ModelUsage])
    cost_usd: float = 0.0
    open_calls: int = 0  # sent, and nothing reported yet
    unreported: int = 0  # calls that were open when a process died: nobody knows what they cost

    def restore(self, totals: Result | Spent) -> None:
        """What was spent before; of two records the larger one, for spend only grows."""
        if totals.total_cost_usd >= self.cost_usd:
            self.usage = totals.usage
            self.by_model = dict(totals.model_usage)
            self.cost_usd = totals.total_cost_usd
        if isinstance(totals, Spent):
            self.unreported = totals.unreported

    def book(self, model: str, usage: Usage, cost_usd: float, opened: int = 0) -> None:
        if usage != Usage() or cost_usd:
            self.usage += usage
            before = self.by_model.get(model, ModelUsage())
            self.by_model[model] = ModelUsage(usage=before.usage + usage, cost_usd=before.cost_usd + cost_usd)
            self.cost_usd += cost_usd
            if self.by_model[model].usage == Usage() != usage:
                del self.by_model[model]  # taken back: another model answered
        self.open_calls = max(0, self.open_calls + opened)
        if self.on_spend is not None:
            self.on_spend(model, usage, cost_usd, opened)

    def meter(self, model: str) -> Meter:
        return Meter(book=self.book, model=model, model_info=self.model_info)

    def spent(self, limit: float | None) -> bool:
        """Whether the dollar limit is reached. A limit that is not a number counts as reached."""
        return limit is not None and not self.cost_usd < limit


@dataclass(slots=True, kw_only=True)
class Meter:
    """Watches one model call and books each of its API messages exactly once: `open`, then what comes, then `close`."""

    book: Book
    model: str
    model_info: Callable[[str], ModelInfo] = info
    opened: bool = False  # sent, and nothing reported yet
    booked: Usage = field(default_factory=Usage)  # of the message that is coming
    booked_usd: float = 0.0

    def open(self) -> None:
        """The request is about to be sent."""
        self.opened = True
        self.book(self.model, Usage(), 0.0, 1)

    def watch(self, event: Json) -> None:
        match event.get("type"):
            case "message_start":
                self._next_message()
                message = cast("Json", event.get("message") or {})
                self._reported(Usage().updated(cast("Json", message.get("usage") or {})))
            case "message_delta":
                self._reported(self.booked.updated(cast("dict[str, Any]", event.get("usage") or {})))
            case _:
                pass

    def final(self, final: AssistantFinal) -> None:
        if final.model != self.model and self.booked != Usage():  # another model answered than was asked
            self.book(self.model, Usage() - self.booked, -self.booked_usd, 0)
            self._next_message()
        self._book(final.model, final.usage, final.cost_usd or cost(self.model_info(final.model), final.usage))
        self._next_message()

    def close(self) -> None:
        """The stream is over."""
        self._next_message()
        if self.opened:
            self.opened = False
            self.book(self.model, Usage(), 0.0, -1)

    def _next_message(self) -> None:
        self.booked, self.booked_usd = Usage(), 0.0

    def _reported(self, usage: Usage) -> None:
        self._book(self.model, usage, cost(self.model_info(self.model), usage))

    def _book(self, model: str, usage: Usage, cost_usd: float) -> None:
        """What this says beyond what was booked."""
        closes, self.opened = -int(self.opened), False
        more, price = usage - self.booked, cost_usd - self.booked_usd
        self.booked, self.booked_usd = usage, cost_usd
        if closes or more != Usage() or price:
            self.book(model, more, price, closes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """The token budget is not used up: go on, with this nudge."""

    nudge: str
    tracking: BudgetTracking


def check_token_budget(budget: int | None, used: int, tracking: BudgetTracking) -> Continuation | bool | None:
    """A `Continuation` to go on, True when the budget ends the turn, None without a budget (L12)."""
    if budget is None or budget <= 0:
        return None
    delta = used - tracking.tokens_at_last_check
    spinning = (
        tracking.continuations >= DIMINISHING_AFTER
        and delta < DIMINISHING_TOKENS
        and tracking.last_delta < DIMINISHING_TOKENS
    )
    if spinning or used >= budget * COMPLETION_SHARE:
        return True
    share = round(100 * used / budget)
    return Continuation(
        nudge=(
            f"You stopped at {share}% of the token target ({used:,} of {budget:,}). "
            "There is room to go further: keep working on the task. Do not summarise."
        ),
        tracking=BudgetTracking(continuations=tracking.continuations + 1, last_delta=delta, tokens_at_last_check=used),
    )


def task_budget_after_compaction(remaining: int, context_tokens: int) -> int:
    """The server cannot see what a summary replaced, so what it had counted is taken off here (L12)."""
    return max(0, remaining - context_tokens)
