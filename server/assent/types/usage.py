"""Token usage of one API message, and sums of it."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass, field
else:
    from assent.types.late_dataclass import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    web_search_requests: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_creation_input_tokens=self.cache_creation_input_tokens + other.cache_creation_input_tokens,
            cache_read_input_tokens=self.cache_read_input_tokens + other.cache_read_input_tokens,
            web_search_requests=self.web_search_requests + other.web_search_requests,
        )

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens - other.input_tokens,
            output_tokens=self.output_tokens - other.output_tokens,
            cache_creation_input_tokens=self.cache_creation_input_tokens - other.cache_creation_input_tokens,
            cache_read_input_tokens=self.cache_read_input_tokens - other.cache_read_input_tokens,
            web_search_requests=self.web_search_requests - other.web_search_requests,
        )

    @property
    def context_tokens(self) -> int:
        """What the next request will hold at least: everything read plus what was written."""
        return self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens + self.output_tokens

    def updated(self, raw: Mapping[str, Any]) -> "Usage":
        """This usage with the counts of one stream event laid over it; absent or null counts keep their value."""

        def pick(name: str, old: int) -> int:
            value = raw.get(name)
            return value if isinstance(value, int) else old

        server: object = raw.get("server_tool_use")
        searches = self.web_search_requests
        if isinstance(server, Mapping):
            found: object = server.get("web_search_requests")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- an untyped mapping from the wire
            searches = found if isinstance(found, int) else searches
        return Usage(
            input_tokens=pick("input_tokens", self.input_tokens),
            output_tokens=pick("output_tokens", self.output_tokens),
            cache_creation_input_tokens=pick("cache_creation_input_tokens", self.cache_creation_input_tokens),
            cache_read_input_tokens=pick("cache_read_input_tokens", self.cache_read_input_tokens),
            web_search_requests=searches,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage:
    """What one model has cost so far in a session."""

    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0


Book = Callable[[str, Usage, float, int], None]
"""(model, usage, dollars, by how many the calls that have reported nothing yet change): counts for a conversation."""
