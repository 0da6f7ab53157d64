"""JSON as clients write it and can read it: half a surrogate pair is legal JSON, and editors send it. Pure."""

import json
import math
import re
from typing import Any, cast

import orjson

from assent.types.blocks import Json

_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def loads(body: bytes) -> Any:
    """Raises ValueError, or RecursionError for what is nested too deeply."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        if not _ESCAPED_SURROGATE.search(body):
            raise
        # Half a pair is one UTF-16 unit, and so is U+FFFD: positions stay as the client counts them.
        return cleaned(json.loads(body, parse_constant=_no_constant))


def cleaned(value: Any) -> Any:
    """Lists, dicts and what JSON can say; invalid Unicode is replaced, and what is no number is null."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {cleaned(str(key)): cleaned(item) for key, item in cast("Json", value).items()}
    if isinstance(value, list | tuple):
        return [cleaned(item) for item in cast("list[Any]", value)]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, int):
        return value
    try:
        return cleaned(plain(value))
    except TypeError:
        return str(value)


def plain(value: Any) -> Any:
    """What orjson does not know by itself: msgspec structs, sets."""
    import msgspec

    return msgspec.to_builtins(value)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
