"""What a question was about, to be looked at again when its answer comes.

Between the two a person thinks, a hook runs or a model is asked. Meanwhile a rule may be written, or a file that was
named may become a link to another one. The answer counts for what was asked about; anything else is judged anew.
"""

import os
from dataclasses import dataclass, replace
from typing import Self

from assent.types.permissions import Ask, Decision, Deny
from assent.types.ports import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The chain's decision on a call at one moment, and where the files that it names lead."""

    decision: Decision
    places: tuple[tuple[str, str], ...]  # path → where it leads

    @classmethod
    def of(cls, call: ToolCall, decision: Decision, *, cwd: str) -> Self:
        """A planned edit is bound to its place already: what lands there follows no link."""
        named = call.action.reads if call.plan is None else ()
        return cls(decision=decision, places=tuple((path, _leads_to(path, cwd)) for path in named))


def changed_since(before: Standing, now: Standing, ask: Ask) -> Deny | Ask | None:
    """What counts instead of an answer to `ask`: nothing, a refusal, or a question about what is so now."""
    if isinstance(now.decision, Deny):
        return now.decision
    for (path, led), (_, leads) in zip(before.places, now.places, strict=True):
        if led != leads:
            reason = f"{path} led to {led} when this was asked, and leads to {leads} now"
            return replace(now.decision if isinstance(now.decision, Ask) else ask, reason=reason)
    if isinstance(now.decision, Ask) and _grounds(now.decision) != _grounds(before.decision):
        return now.decision
    return None


def _grounds(decision: Decision) -> tuple[object, ...]:
    return (type(decision), decision.step, decision.reason, isinstance(decision, Ask) and decision.iron)


def _leads_to(path: str, cwd: str) -> str:
    return os.path.realpath(os.path.join(cwd, os.path.expanduser(path)))  # noqa: PTH111, PTH118 -- as the tools do
