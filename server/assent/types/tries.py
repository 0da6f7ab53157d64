"""How far the tries of one model call have come (M3). Handed back with the next try of an answer that broke in the
middle, so that waits, counts and limits go on as if nothing had been shown."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """What to say and how long to wait before the next try."""

    seconds: float
    status: int | None
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tries:
    retries: int = 0
    overloads: int = 0  # in a row
    renewed: bool = False  # credentials
    cap: int | None = None  # of max_tokens
    wait: Wait | None = None  # None: at once
