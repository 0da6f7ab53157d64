"""What a session has cost and what fills its context, for people."""

from assent.sessions.live.session import Session
from assent.sessions.stream.translate import wire_usage
from assent.types.blocks import Json
from assent.types.usage import Usage


async def context(session: Session) -> Json:
    """`assent/session/context`: tokens by category, the window, where compaction would begin (C8)."""
    return (await session.turns.engine()).context()


def cost(session: Session) -> Json:
    """`assent/session/cost`: spend by model and how much of the input came from the cache, as of the last call."""
    totals = session.spent or session.turns.last_result
    used = totals.model_usage if totals else {}
    total = sum((entry.usage for entry in used.values()), Usage())
    read = total.cache_read_input_tokens
    all_input = read + total.cache_creation_input_tokens + total.input_tokens
    return {
        "totalCostUsd": totals.total_cost_usd if totals else 0.0,
        "models": [
            {"model": model, **wire_usage(entry.usage), "costUsd": entry.cost_usd} for model, entry in used.items()
        ],
        "cacheShare": read / all_input if all_input else 0.0,
    }
