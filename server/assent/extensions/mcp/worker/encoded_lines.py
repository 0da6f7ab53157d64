"""JSON of what servers sent: numbers may be longer, and lists deeper, than the fast encoder takes."""

import json
from typing import Any

import orjson


def encoded(value: Any) -> bytes:
    """Raises ValueError, RecursionError."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
