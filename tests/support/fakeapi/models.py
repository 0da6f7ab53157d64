"""What the endpoint knows of each model: limits, and which parameters it refuses. Names come from the installed SDK."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, get_args


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    window: int = 1_000_000
    max_output: int = 128_000
    thinking: frozenset[str] = frozenset({"adaptive", "disabled"})
    forced_tools: bool = True  # tool_choice any / tool
    prefill: bool = False
    bound_thinking: bool = False  # thinking blocks are tied to what came before them


MANUAL = Limits(
    window=200_000, max_output=64_000, thinking=frozenset({"enabled", "disabled"}), prefill=True
)  # the last ones with budgets
ADAPTIVE = Limits()
ALWAYS_ON = Limits(thinking=frozenset({"adaptive"}))
BOUND = replace(ALWAYS_ON, forced_tools=False, bound_thinking=True)

_KNOWN: dict[str, Limits] = {
    "claude-haiku-4-5": MANUAL,
    "claude-opus-4-5": MANUAL,
    "claude-sonnet-4-5": MANUAL,
    "claude-opus-4-6": replace(ADAPTIVE, thinking=frozenset({"adaptive", "enabled", "disabled"})),
    "claude-sonnet-4-6": replace(ADAPTIVE, thinking=frozenset({"adaptive", "enabled", "disabled"})),
    "claude-opus-4-7": ADAPTIVE,
    "claude-opus-4-8": ADAPTIVE,
    "claude-opus-5": ADAPTIVE,
    "claude-sonnet-5": ADAPTIVE,
    "claude-mythos-preview": replace(ALWAYS_ON, thinking=frozenset({"adaptive", "enabled"})),
    "claude-fable-5": ALWAYS_ON,
    "claude-mythos-5": ALWAYS_ON,
    "claude-fable-5-1": BOUND,
    "claude-mythos-5-1": BOUND,
    "claude-fable-5-2": BOUND,
    "claude-mythos-5-2": BOUND,
    "claude-opus-5-5": BOUND,
    "claude-sonnet-5-5": replace(BOUND, thinking=frozenset({"adaptive", "between_tools"})),
    "claude-haiku-5-5": replace(BOUND, thinking=frozenset({"adaptive", "disabled"})),
}


@functools.cache
def names() -> frozenset[str]:
    from anthropic.types import model

    found: set[str] = set()
    for alternative in get_args(model.Model):
        found.update(name for name in _literals(alternative))
    return frozenset(found)


def limits(name: str) -> Limits:
    """The limits of a model the SDK names; dated names share those of the plain one."""
    known = _KNOWN.get(name)
    if known is None:
        known = next((each for plain, each in _KNOWN.items() if name.startswith(plain + "-2")), ADAPTIVE)
    return known


def _literals(alternative: Any) -> list[str]:
    return [value for value in get_args(alternative) if isinstance(value, str)]
