"""The wire as types: every method, its parameters and its result, and every event.

This package is the single source; `schema()` describes it for the TypeScript and Lua mirrors and for documentation.
It knows names and shapes only: no handler, no pygls, no I/O.
"""

from assent.wire.methods import (
    CLIENT_NOTIFICATIONS,
    CLIENT_REQUESTS,
    FEATURES,
    PROTOCOL_VERSION,
    SERVER_NOTIFICATIONS,
    SERVER_REQUESTS,
    Method,
)
from assent.wire.schema import schema

__all__ = [
    "CLIENT_NOTIFICATIONS",
    "CLIENT_REQUESTS",
    "FEATURES",
    "PROTOCOL_VERSION",
    "SERVER_NOTIFICATIONS",
    "SERVER_REQUESTS",
    "Method",
    "schema",
]
