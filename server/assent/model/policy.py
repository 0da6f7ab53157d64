"""How patient we are: the numbers behind `retry` and `watch`. Data only, and cheap to import."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    max_retries: int = 10
    base_delay: float = 0.5
    max_delay: float = 32.0
    jitter: float = 0.25
    persistent_max_delay: float = 30 * 60.0
    heartbeat: float = 30.0
    overloads_before_fallback: int = 3
    fast_mode_rest: float = 10 * 60.0
    overflow_margin: int = 1_000  # the endpoint's count and ours of the same prompt may differ a little
    least_output: int = 3_000  # below this an answer is not worth asking for: the prompt is too long

    def delay(self, retry: int, *, retry_after: float | None, chance: float, persistent: bool = False) -> float:
        """Seconds before this retry (1 is the first); `chance` is between 0 and 1."""
        cap = self.persistent_max_delay if persistent else self.max_delay
        backoff = min(cap, self.base_delay * 2 ** min(retry - 1, 30))
        return max(backoff * (1 + self.jitter * chance), retry_after or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Seconds without an event until a person is told, and until the stream is given up."""

    notice: float = 15.0
    stall: float = 90.0
