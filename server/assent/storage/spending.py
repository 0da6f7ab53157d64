"""What a session has spent, from its file (Q6, Q9).

The newest `spent` record says it all, and is found from the end; calls that it has as open died with the process.
Files of version 0.1 have none: there the answers are added up, and a result counts where it knows more (it counted
subagents, too). Rewound parts were paid for as well.
"""

from dataclasses import replace
from pathlib import Path

from assent.storage.lines import decode
from assent.storage.transcript import last_entry, revive
from assent.types.messages import AssistantFinal, Result, Spent
from assent.types.usage import ModelUsage

_COUNTED = (b'{"type":"assistant_final"', b'{"type":"result"')


def spent(path: Path) -> Spent | None:
    """The totals so far; None when nothing was spent."""
    newest = last_entry(path, "spent")
    known = revive(newest.record) if newest else None
    if not isinstance(known, Spent):
        return _added_up(path)
    return replace(known, open_calls=0, unreported=known.unreported + known.open_calls)


def _added_up(path: Path) -> Spent | None:
    total: Spent | None = None
    with path.open("rb") as file:
        for line in file:
            if not line.startswith(_COUNTED):
                continue
            record = decode(line)
            message = revive(record) if record else None
            if isinstance(message, AssistantFinal):
                total = _with(total or Spent(), message)
            elif isinstance(message, Result) and message.total_cost_usd >= (total or Spent()).total_cost_usd:
                total = Spent(
                    total_cost_usd=message.total_cost_usd, usage=message.usage, model_usage=message.model_usage
                )
    return total


def _with(total: Spent, final: AssistantFinal) -> Spent:
    before = total.model_usage.get(final.model, ModelUsage())
    used = ModelUsage(usage=before.usage + final.usage, cost_usd=before.cost_usd + final.cost_usd)
    return Spent(
        total_cost_usd=total.total_cost_usd + final.cost_usd,
        usage=total.usage + final.usage,
        model_usage={**total.model_usage, final.model: used},
    )
