"""What the fake says next: blocks, replies and failures, written by tests in one line each.

A reply is a list of parts. A part is a content block or a `Hold`, a named gate at which the stream waits until the
test opens it; nothing here waits for the clock. Not aware of HTTP: `frames` turns a reply into events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fakeapi.body import Json


@dataclass(frozen=True, slots=True)
class Hold:
    """The stream stops here until `api.release(name)`; `await api.reached(name)` waits for it to get here."""

    name: str


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes put on the stream as they are: pings, comments, unknown events, garbage."""

    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One content block: how it starts, the deltas that fill it, and what it is when whole."""

    start: Json
    deltas: tuple[Json | Hold, ...] = ()
    whole: Json = field(default_factory=dict[str, Any])
    unclosed: bool = False


Part = Block | Hold | Raw


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Where and how the connection breaks while the reply is on its way."""

    at_byte: int | None = None  # of the event stream, before transfer encoding
    at_event: int | None = None  # this many events go out whole
    extra_bytes: int = 0  # may be negative: cut inside the last of those events
    how: Literal["close", "reset", "clean", "stall"] = "close"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    parts: tuple[Part, ...]
    stop_reason: str | None = None  # None: tool_use when there is a tool call, end_turn otherwise
    stop_sequence: str | None = None
    stop_details: Json | None = None
    output_tokens: int | None = None
    usage: Mapping[str, Any] | None = None  # laid over the computed one
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cut: Cut | None = None
    error: Json | None = None  # an `error` event instead of the end of the message
    delay: float = 0.0  # seconds before the first byte
    every: float = 0.0  # seconds between events
    chunking: Literal["event", "whole", "byte"] = "event"
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    status: int
    type: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    details: Json | None = None
    body: bytes | None = None  # sent as it is, for errors that are not JSON
    hold: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """The connection breaks before any answer."""

    how: Literal["close", "reset"] = "reset"


Answer = Reply | Failure | Drop


def text(*parts: str | Hold, piece: int = 24, citations: Sequence[Json] = ()) -> Block:
    """A text block. One string is cut into deltas of `piece` characters; several strings are one delta each."""
    cut: list[str | Hold] = list(parts)
    if len(parts) == 1 and isinstance(parts[0], str):
        cut = [parts[0][at : at + piece] for at in range(0, len(parts[0]), piece)]
    deltas: list[Json | Hold] = [
        each if isinstance(each, Hold) else {"type": "text_delta", "text": each} for each in cut
    ]
    deltas += [{"type": "citations_delta", "citation": each} for each in citations]
    whole: Json = {"type": "text", "text": "".join(each for each in parts if isinstance(each, str))}
    if citations:
        whole["citations"] = list(citations)
    return Block(start={"type": "text", "text": ""}, deltas=tuple(deltas), whole=whole)


def thinking(*parts: str | Hold, signature: str | None = None) -> Block:
    """A thinking block. Its signature is made when it is sent, and checked when it comes back."""
    deltas: list[Json | Hold] = [
        each if isinstance(each, Hold) else {"type": "thinking_delta", "thinking": each} for each in parts
    ]
    whole: Json = {"type": "thinking", "thinking": "".join(each for each in parts if isinstance(each, str))}
    if signature is not None:
        whole["signature"] = signature
    return Block(start={"type": "thinking", "thinking": "", "signature": ""}, deltas=tuple(deltas), whole=whole)


def redacted_thinking(data: str = "secret") -> Block:
    block: Json = {"type": "redacted_thinking", "data": f"redacted:{data}"}
    return Block(start=block, whole=block)


def tool(
    name: str,
    input: Mapping[str, Any] | None = None,
    /,
    *,
    id: str | None = None,
    raw_json: str | None = None,
    unclosed: bool = False,
    pieces: int = 3,
    **fields: Any,
) -> Block:
    """A tool call: `tool("Read", file_path="a.py")`. `raw_json` sends that very text as the input, valid or not."""
    import orjson

    value = {**(input or {}), **fields}
    written = orjson.dumps(value).decode() if raw_json is None else raw_json
    size = max(1, -(-len(written) // pieces))
    deltas = [{"type": "input_json_delta", "partial_json": ""}]
    deltas += [
        {"type": "input_json_delta", "partial_json": written[at : at + size]} for at in range(0, len(written), size)
    ]
    start: Json = {"type": "tool_use", "id": id or "", "name": name, "input": {}}
    return Block(start=start, deltas=tuple(deltas), whole={**start, "input": value}, unclosed=unclosed)


def server_tool(name: str, input: Mapping[str, Any], result: Json, *, id: str = "srvtoolu_1") -> tuple[Block, Block]:
    """A tool the endpoint ran itself: the call and its result, e.g. `*server_tool("web_search", {...}, {...})`."""
    call: Json = {"type": "server_tool_use", "id": id, "name": name, "input": {}}
    import orjson

    delta = {"type": "input_json_delta", "partial_json": orjson.dumps(dict(input)).decode()}
    answer: Json = {**result, "tool_use_id": id}
    return (
        Block(start=call, deltas=(delta,), whole={**call, "input": dict(input)}),
        Block(start=answer, whole=answer),
    )


def block(value: Mapping[str, Any]) -> Block:
    """Any block at all, sent whole in its start event; of an unknown kind too."""
    return Block(start=dict(value), whole=dict(value))


def hold(name: str) -> Hold:
    return Hold(name)


def ping() -> Raw:
    return Raw(b'event: ping\ndata: {"type": "ping"}\n\n')


def event(name: str, data: Mapping[str, Any]) -> Raw:
    import orjson

    return Raw(b"event: " + name.encode() + b"\ndata: " + orjson.dumps(dict(data)) + b"\n\n")


def raw(data: bytes) -> Raw:
    return Raw(data)


ERROR_TYPES: dict[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    503: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def failure(
    status: int,
    message: str | None = None,
    *,
    type: str | None = None,
    headers: Mapping[str, str] | None = None,
    retry_after: float | str | None = None,
    details: Json | None = None,
    body: bytes | None = None,
    hold: str | None = None,
) -> Failure:
    kind = type or ERROR_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
    extra = dict(headers or {})
    if retry_after is not None:
        extra["retry-after"] = str(retry_after)
    said = message or {"overloaded_error": "Overloaded", "rate_limit_error": "Rate limited"}.get(kind, f"HTTP {status}")
    return Failure(status=status, type=kind, message=said, headers=extra, details=details, body=body, hold=hold)


def answer_from_json(value: Mapping[str, Any]) -> Answer:
    """The same script as data, for `python -m fakeapi`. See the package docstring for the shape."""
    if "error" in value and "blocks" not in value:
        return failure(
            int(value["error"]),
            value.get("message"),
            type=value.get("type"),
            headers=value.get("headers"),
            retry_after=value.get("retry_after"),
            body=value["body"].encode() if "body" in value else None,
        )
    if "drop" in value:
        return Drop(how=value["drop"])
    options = {key: value[key] for key in ("stop_reason", "stop_details", "delay", "every", "chunking") if key in value}
    cut = Cut(**value["cut"]) if "cut" in value else None
    return Reply(parts=tuple(_part_from_json(each) for each in value["blocks"]), cut=cut, **options)


def _part_from_json(value: Mapping[str, Any] | str) -> Part:
    if isinstance(value, str):
        return text(value)
    if "deltas" in value:
        return text(*[str(each) for each in value["deltas"]])
    match value:
        case {"text": str() as words}:
            return text(words, piece=int(value.get("piece", 24)))
        case {"repeat": str() as words, "times": int() as times}:
            return text(*[words] * times)
        case {"thinking": str() as words}:
            return thinking(words)
        case {"tool": str() as name}:
            return tool(name, value.get("input", {}), id=value.get("id"), raw_json=value.get("raw_json"))
        case {"hold": str() as name}:
            return Hold(name)
        case {"ping": _}:
            return ping()
        case {"event": str() as name}:
            return event(name, value["data"])
        case _:
            return block(value)
