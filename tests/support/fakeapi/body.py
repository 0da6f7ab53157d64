"""Getting at the parts of a request body without tripping over what is not there."""

from __future__ import annotations

from typing import Any, cast

Json = dict[str, Any]


class Refused(Exception):
    """The endpoint would not take this request; the words are its error message."""


def field(body: Json, name: str) -> Json:
    """An object, empty when absent or null."""
    return cast("Json", body.get(name) or {})


def items(body: Json, name: str) -> list[Json]:
    """A list of objects; a string (the short form of a text block) counts as one block."""
    value: object = body.get(name) or []
    return [{"type": "text", "text": value}] if isinstance(value, str) else cast("list[Json]", value)


def blocks_of(message: Json) -> list[Json]:
    return items(message, "content")


def merged(messages: list[Json]) -> list[Json]:
    """Consecutive turns of one role are one turn to the endpoint."""
    out: list[Json] = []
    for message in messages:
        blocks = blocks_of(message)
        if out and out[-1]["role"] == message["role"]:
            out[-1]["content"].extend(blocks)
        else:
            out.append({"role": message["role"], "content": list(blocks)})
    return out
