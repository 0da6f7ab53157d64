"""Bytes to JSON-RPC messages, one a line. Pure: whatever comes in, nothing raises and the stream goes on.

The library takes decoded messages and trusts their shape; a reply to an id that cannot be one, or an error that is no
object, would end its loop. So what is no JSON-RPC message becomes a `Refusal` here and never reaches it. A reply that
is both a result and an error, or neither, reaches it as an error: whoever asked does not wait, and it allows nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from assent.text import lenient_json
from assent.types.blocks import Json

MAX_LINE = 64 * 1024 * 1024
PARSE_ERROR, INVALID_REQUEST = -32700, -32600


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The answer to a line that cannot be handled."""

    id: str | int | None = None
    code: int
    text: str


class LineDecoder:
    def __init__(self, *, max_line: int = MAX_LINE) -> None:
        self._max_line = max_line
        self._half = bytearray()
        self._skipping = False  # the rest of a line that is too long

    def feed(self, chunk: bytes) -> Iterator[Json | Refusal]:
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line, self._half = bytes(self._half) + end, bytearray()
            if self._skipping:
                self._skipping = False
            elif len(line) > self._max_line:
                yield self._too_long()
            elif line.strip():
                yield from _read(line)
        if self._skipping:
            return
        self._half += rest
        if len(self._half) > self._max_line:
            self._half.clear()
            self._skipping = True
            yield self._too_long()

    def _too_long(self) -> Refusal:
        return Refusal(code=INVALID_REQUEST, text=f"the message is longer than {self._max_line:,} bytes")


def _read(line: bytes) -> Iterator[Json | Refusal]:
    try:
        message: Any = lenient_json.loads(line)
    except (ValueError, RecursionError):
        yield Refusal(code=PARSE_ERROR, text="this line is not JSON")
        return
    if not isinstance(message, dict):
        yield Refusal(code=INVALID_REQUEST, text="a message must be one JSON object")
        return
    body = cast("Json", message)
    if "method" not in body and "id" in body:
        if _is_id(body["id"]):  # else it answers nothing and is dropped: nobody may answer an answer
            yield _reply(body)
        return
    wrong = _wrong_with_call(body) if "method" in body else "a message needs a method or an id"
    if wrong is None:
        yield body
    else:
        id = body.get("id")
        yield Refusal(id=id if isinstance(id, str | int) else None, code=INVALID_REQUEST, text=wrong)


def _wrong_with_call(body: Json) -> str | None:
    if not isinstance(body["method"], str):
        return "method must be a string"
    if not _is_id(body.get("id")):
        return "id must be a string or a number"
    if not isinstance(body.get("params"), dict | None):
        return "params must be an object"
    return None


def _reply(body: Json) -> Json:
    """A result or an error, never both. A member that is null counts as absent beside the other one."""
    error: Any = body.get("error")
    if error is None and "result" in body:
        return {"jsonrpc": "2.0", "id": body["id"], "result": body["result"]}
    code, text = (error.get("code"), error.get("message")) if isinstance(error, dict) else (None, None)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(code, int) or not isinstance(text, str):
        error = {"code": INVALID_REQUEST, "message": "the reply is neither a result nor an error"}
    return {"jsonrpc": "2.0", "id": body["id"], "error": error}


def _is_id(id: object) -> bool:
    return isinstance(id, str | int | float | None)
