"""For endpoints that do not stream: one whole message, or one error, as the events a stream would have been."""

from collections.abc import Iterator
from typing import cast

import orjson

from assent.model.failures import CallFailed
from assent.types.blocks import Json


def replayed(body: bytes, content_type: str) -> bytes:
    """The bytes of an event stream with the same content. Raises `CallFailed` for what is no answer of this API."""
    try:
        value: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        value = None
    message = cast("Json", value) if isinstance(value, dict) else {}
    match message.get("type"):
        case "message":
            events = _events(message)
        case "error":
            events = iter([message])
        case _:
            said = f"The endpoint answered with {content_type.partition(';')[0]} instead of events: is the URL right?"
            raise CallFailed(message=said, kind="not_the_api", status=200, should_retry=False)
    return b"".join(b"data: " + orjson.dumps(event) + b"\n\n" for event in events)


def _events(message: Json) -> Iterator[Json]:
    yield {"type": "message_start", "message": {**message, "content": []}}
    for index, block in enumerate(cast("list[Json]", message.get("content") or [])):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_stop", "index": index}
    delta = {key: message.get(key) for key in ("stop_reason", "stop_sequence", "stop_details")}
    yield {"type": "message_delta", "delta": delta, "usage": message.get("usage") or {}}
    yield {"type": "message_stop"}
