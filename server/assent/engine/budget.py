"""What a session has used and spent, and the limits on it: dollars (Q9), tokens (L12), the server-side task budget.

Usage counts once per API message: it resets at message_start, follows message_delta, and is booked when the final
arrives. A stream that was cut or aborted books the last it said.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from assent.engine.state import BudgetTracking
from assent.model.catalog import cost
from assent.types.blocks import Json
from assent.types.messages import AssistantFinal, Result, Spent
from assent.types.ports import ModelInfo
from assent.types.usage import ModelUsage, Usage

COMPLETION_SHARE = 0.9
DIMINISHING_TOKENS = 500
DIMINISHING_AFTER = 3

OnSpend = Callable[[str, Usage, float], None]


@dataclass(slots=True, kw_only=True)
class Ledger:
    """Session totals: every call of every kind, subagents and background calls included."""

    model_info: Callable[[str], ModelInfo]
    on_spend: OnSpend | None = None
    usage: Usage = field(default_factory=Usage)
    by_model: dict[str, ModelUsage] = field(default_factory=dict[str, ModelUsage])
    cost_usd: float = 0.0

    def restore(self, totals: Result | Spent) -> None:
        """What was spent before; of two records the larger one, for spend only grows."""
        if totals.total_cost_usd >= self.cost_usd:
            self.usage = totals.usage
            self.by_model = dict(totals.model_usage)
            self.cost_usd = totals.total_cost_usd

    def book(self, model: str, usage: Usage, cost_usd: float) -> None:
        self.usage += usage
        before = self.by_model.get(model, ModelUsage())
        self.by_model[model] = ModelUsage(usage=before.usage + usage, cost_usd=before.cost_usd + cost_usd)
        self.cost_usd += cost_usd
        if self.on_spend is not None:
            self.on_spend(model, usage, cost_usd)

    def meter(self, model: str) -> Meter:
        return Meter(ledger=self, model=model)

    def spent(self, limit: float | None) -> bool:
        """Whether the dollar limit is reached. A limit that is no number at all counts as reached: it limits."""
        return limit is not None and not self.cost_usd < limit


@dataclass(slots=True, kw_only=True)
class Meter:
    """Watches one model call and books each of its API messages exactly once."""

    ledger: Ledger
    model: str
    usage: Usage = field(default_factory=Usage)

    def watch(self, event: Json) -> None:
        match event.get("type"):
            case "message_start":
                self.close()
                message = cast("Json", event.get("message") or {})
                self.usage = Usage().updated(cast("Json", message.get("usage") or {}))
            case "message_delta":
                self.usage = self.usage.updated(cast("dict[str, Any]", event.get("usage") or {}))
            case _:
                pass

    def final(self, final: AssistantFinal) -> None:
        self.usage = Usage()
        price = final.cost_usd or cost(self.ledger.model_info(final.model), final.usage)
        self.ledger.book(final.model, final.usage, price)

    def close(self) -> None:
        """The stream is over; what it said without a final is booked."""
        if self.usage != Usage():
            usage, self.usage = self.usage, Usage()
            self.ledger.book(self.model, usage, cost(self.ledger.model_info(self.model), usage))


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """The token budget is not used up: go on, with this nudge."""

    nudge: str
    tracking: BudgetTracking


def check_token_budget(budget: int | None, used: int, tracking: BudgetTracking) -> Continuation | bool | None:
    """A `Continuation` to go on, True when the budget ends the turn, None when there is none (L12)."""
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
