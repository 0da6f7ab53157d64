"""What a session has cost and what fills its context, for people."""

import msgspec
from msgspec.structs import asdict

from assent.sessions.live.session import Session
from assent.sessions.stream.translate import model_usage
from assent.types.usage import Usage
from assent.wire.results import ContextUsage, Cost, ModelCost


async def context(session: Session) -> ContextUsage:
    """`assent/session/context`: tokens by category, the window, where compaction would begin (C8)."""
    return msgspec.convert((await session.turns.ready_engine()).context(), ContextUsage)


def cost(session: Session) -> Cost:
    """`assent/session/cost`: spend by model and how much of the input came from the cache, as of the last call."""
    totals = session.spent or session.turns.last_result
    used = totals.model_usage if totals else {}
    total = sum((entry.usage for entry in used.values()), Usage())
    read = total.cache_read_input_tokens
    all_input = read + total.cache_creation_input_tokens + total.input_tokens
    return Cost(
        total_cost_usd=totals.total_cost_usd if totals else 0.0,
        models=[
            ModelCost(model=model, **asdict(model_usage(entry.usage, entry.cost_usd))) for model, entry in used.items()
        ],
        cache_share=read / all_input if all_input else 0.0,
        unreported=(session.spent.unreported or None) if session.spent else None,
    )
