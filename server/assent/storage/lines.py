"""One record, one line of JSON: how records become bytes and come back.

Lines end at \\n bytes only; JSON escapes every other line end a string may hold or leaves it harmless (U+2028).
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

import orjson

from assent.types.blocks import Json

REDACTED = "[redacted]"
Secrets = Callable[[], Sequence[str]]


def encode(record: Json, secrets: Sequence[str] = ()) -> bytes:
    """The record as one line. What JSON or UTF-8 cannot hold is replaced, never a reason to lose the record."""
    try:
        line = orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    except (TypeError, orjson.JSONEncodeError):
        line = orjson.dumps(sanitised(record), option=orjson.OPT_APPEND_NEWLINE, default=str)
    for secret in secrets:
        needle = secret.encode()
        if len(needle) >= 8 and needle in line:
            line = line.replace(needle, REDACTED.encode())
    return line


def decode(line: bytes) -> Json | None:
    """The record, or None for a line that is damaged."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return cast("Json", value) if isinstance(value, dict) else None


def redacted(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        if len(secret) >= 8:
            text = text.replace(secret, REDACTED)
    return text


def clean(text: str) -> str:
    """Text that any UTF-8 reader and the API take: lone surrogates and NUL become U+FFFD."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        # Pairs that were split over two strings and met again are a real character; the rest is not text.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def sanitised(value: Any) -> Any:
    """The same JSON with every string cleaned; unchanged parts are shared."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {str(sanitised(key)): sanitised(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [sanitised(item) for item in cast("Sequence[Any]", value)]
    return value
