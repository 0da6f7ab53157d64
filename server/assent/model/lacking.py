"""What an endpoint turned out not to take: references to tools, caching, thinking, effort, betas. Learnt by refusals.

Local servers and gateways speak the Messages API in part. A refusal that names one of these features means that calls
to that model go on without it; it is said once, and `doctor` repeats it from the file that `app.py` keeps.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

from assent.model.failures import CallFailed

Feature = Literal["references", "cache", "thinking", "effort", "betas"]
FEATURES: tuple[Feature, ...] = get_args(Feature)
WORDS: dict[Feature, str] = {
    "references": "references to tools",
    "cache": "prompt caching",
    "thinking": "thinking",
    "effort": "effort",
    "betas": "beta features",
}
_NAMES: dict[Feature, re.Pattern[str]] = {
    "references": re.compile(r"defer_loading|tool_reference", re.IGNORECASE),
    "cache": re.compile(r"cache_control|prompt.?caching", re.IGNORECASE),
    "thinking": re.compile(r"\bthinking\b", re.IGNORECASE),
    "effort": re.compile(r"output_config|\beffort\b", re.IGNORECASE),
    "betas": re.compile(r"anthropic-beta|context_management", re.IGNORECASE),
}
_UNKNOWN = re.compile(
    r"unknown|unsupported|unrecogni[sz]ed|unexpected|not (?:been )?(?:support|permit|allow|implement|recogni[sz]e)|"
    r"(?:does|do|can)(?:n't| not|not) support|extra (?:inputs|fields)",
    re.IGNORECASE,
)
_REFUSALS = frozenset({400, 422, 501})


@dataclass(slots=True)
class Lacking:
    """By model; shared by all calls of a client."""

    by_model: dict[str, frozenset[Feature]] = field(default_factory=dict[str, frozenset[Feature]])
    on_change: Callable[[], None] = lambda: None

    def of(self, model: str) -> frozenset[Feature]:
        return self.by_model.get(model, frozenset())

    def learn(self, model: str, failure: CallFailed, tried: frozenset[Feature]) -> Feature | None:
        """The feature to go on without after this failure of a call that lacked `tried`; None if it is about none."""
        if failure.status not in _REFUSALS or _UNKNOWN.search(failure.message) is None:
            return None
        for feature in FEATURES:
            if feature not in tried and _NAMES[feature].search(failure.message):
                self.by_model[model] = self.of(model) | frozenset[Feature]((feature,))
                self.on_change()
                return feature
        return None
