"""How one call failed, and which `ModelError` that is for everyone above.

`CallFailed` never leaves this package: `retry` either tries again or raises what `as_model_error` makes of it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from assent.types.errors import MediaTooLarge, ModelError, NoCredentials, PromptTooLong, StreamInterrupted

OVERLOADED = 529
RETRIED = frozenset({408, 409, 429})

# What an `error` event in the middle of a stream would have been as a status.
STATUS_OF_KIND: dict[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": OVERLOADED,
}


@dataclass(slots=True, kw_only=True)
class CallFailed(Exception):
    """One try failed. `status` is None when there was no answer at all."""

    message: str
    kind: str = "api_error"
    status: int | None = None
    retry_after: float | None = None  # seconds
    should_retry: bool | None = None  # what the endpoint itself says of trying again
    stale_connection: bool = False  # reset or broken pipe: the next try needs a fresh connection
    request_id: str | None = None
    has_media: bool = False
    shown: bool = False  # blocks of the answer had been shown: whether to take them back is for the engine to say
    partial: str = ""

    def __str__(self) -> str:
        return self.message

    def advised(self, headers: Mapping[str, str], now: float) -> None:
        """Take over what the head of the answer says of trying again, where the failure itself says nothing."""
        verdict = {"true": True, "false": False}.get(headers.get("x-should-retry", ""))
        self.should_retry = verdict if self.should_retry is None else self.should_retry
        self.retry_after = retry_after(headers, now) if self.retry_after is None else self.retry_after
        self.request_id = self.request_id or headers.get("request-id")

    @property
    def overloaded(self) -> bool:
        return self.status == OVERLOADED or self.kind == "overloaded_error"

    @property
    def retryable(self) -> bool:
        if self.should_retry is not None:
            return self.should_retry
        return self.status is None or self.status in RETRIED or self.status >= 500


def from_answer(status: int, headers: Mapping[str, str], body: object, now: float) -> CallFailed:
    """An answer with an error status. The body is the parsed JSON, or text when it was none."""
    error = _error_object(body)
    said = str(error.get("message") or "").strip() or _plain_text(body) or f"HTTP {status}"
    failure = CallFailed(message=said, kind=str(error.get("type") or _kind_of_status(status)), status=status)
    failure.advised(headers, now)
    return failure


def from_event(error: Mapping[str, Any]) -> CallFailed:
    """An `error` event inside a stream that had begun with 200."""
    kind = str(error.get("type") or "api_error")
    return CallFailed(message=str(error.get("message") or kind), kind=kind, status=STATUS_OF_KIND.get(kind, 500))


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` as seconds or a date; nonsense counts as absent."""
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return max(0.0, float(milliseconds) / 1000)
        value = headers.get("retry-after")
        if value is None:
            return None
        try:
            seconds = float(value)
        except ValueError:
            from email.utils import parsedate_to_datetime  # slow to import, and dates are rare here

            when = parsedate_to_datetime(value)
            seconds = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - now
        return max(0.0, seconds) if seconds == seconds and seconds != float("inf") else None
    except (TypeError, ValueError, OverflowError):
        return None


def wall_clock() -> float:
    return datetime.now(UTC).timestamp()


_PROMPT_TOO_LONG = re.compile(r"prompt is too long(?::\s*(\d[\d,]*)\s*tokens?\s*>\s*(\d[\d,]*))?", re.IGNORECASE)
_OVERFLOW = re.compile(
    r"input length and `?max_tokens`? exceed context limit:\s*(\d[\d,]*)\s*\+\s*(\d[\d,]*)\s*>\s*(\d[\d,]*)",
    re.IGNORECASE,
)
_MEDIA = re.compile(
    r"(image|pdf|document)\b.*?(exceeds?|too large|too many|maximum|at most|password|could not process)", re.IGNORECASE
)
_SIGNATURE = re.compile(
    r"signature.{0,20}thinking|thinking.{0,40}(cannot be modified|bound to a different)", re.I | re.S
)
_FAST = re.compile(r"\bspeed\b|fast[- ]mode", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """The numbers of "input length and max_tokens exceed context limit"."""

    input_tokens: int
    max_tokens: int
    limit: int


def overflow(failure: CallFailed) -> Overflow | None:
    found = _OVERFLOW.search(failure.message) if failure.status == 400 else None
    if found is None:
        return None
    given, asked, limit = (_number(each) for each in found.groups())
    return Overflow(input_tokens=given, max_tokens=asked, limit=limit)


def rejects_fast_mode(failure: CallFailed) -> bool:
    """Fast mode has limits of its own: out of capacity or quota, or not offered for this account or model."""
    if failure.status in (429, OVERLOADED):
        return True
    return failure.status in (400, 403) and _FAST.search(failure.message) is not None


def rejects_thinking(failure: CallFailed) -> bool:
    """A thinking block in the history is not taken: what stood before it changed, or another account made it."""
    return failure.status == 400 and _SIGNATURE.search(failure.message) is not None


def as_model_error(failure: CallFailed) -> ModelError:
    said, status = failure.message, failure.status
    if status in (400, 413):
        if (too_long := _PROMPT_TOO_LONG.search(said)) is not None:
            actual, limit = (_number(each) if each else None for each in too_long.groups())
            return PromptTooLong(said, status=status, actual=actual, limit=limit)
        if (numbers := overflow(failure)) is not None:
            return PromptTooLong(
                said, status=status, actual=numbers.input_tokens + numbers.max_tokens, limit=numbers.limit
            )
        if _MEDIA.search(said) is not None or (status == 413 and failure.has_media):
            return MediaTooLarge(said, status=status)
        if status == 413:
            return PromptTooLong(said, status=status)
    if status == 401:
        return NoCredentials(
            f"The endpoint did not accept the credentials ({said}). Check ANTHROPIC_API_KEY, or sign in again."
        )
    if status is None and failure.kind in ("stalled", "malformed", "stream_interrupted"):
        return StreamInterrupted(said, kind=failure.kind, partial=failure.partial, again=False)
    return ModelError(said, kind=failure.kind, status=status, request_id=failure.request_id)


def _error_object(body: object) -> Mapping[str, Any]:
    inner: object = cast("Mapping[str, object]", body).get("error") if isinstance(body, dict) else None
    return cast("Mapping[str, Any]", inner) if isinstance(inner, dict) else {}


def _kind_of_status(status: int) -> str:
    named = {value: kind for kind, value in STATUS_OF_KIND.items()}
    return named.get(status, "api_error" if status >= 500 else "invalid_request_error")


def _plain_text(body: object) -> str:
    """The first words of an error page that is not JSON."""
    if not isinstance(body, str):
        return ""
    return " ".join(re.sub(r"<[^>]*>", " ", body).split())[:200]


def _number(text: str) -> int:
    return int(text.replace(",", ""))
