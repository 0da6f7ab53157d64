"""JSON-RPC messages, read and written by ourselves: every request can be answered, however broken it came.

Owns the shape of requests, notifications and responses, and of errors (`data: {kind, hint}`, never a traceback).
Not aware of methods, their parameters, or the life of the connection.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, cast

import orjson

from assent.lsp.rpc.framing import Fault
from assent.text import lenient_json
from assent.types.blocks import Json
from assent.types.errors import ProtocolError

Id = int | str | float | None

_ID = re.compile(rb'"id"\s*:\s*(-?[0-9]{1,18}(?![0-9.eE])|"[^"\\\x00-\x1f]{0,256}")')
_RESPONSE = re.compile(rb'"(?:result|error)"\s*:')
_METHOD = re.compile(rb'"method"\s*:')


@dataclass(frozen=True, slots=True)
class Request:
    id: Id
    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Notification:
    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Response:
    id: Id
    result: Any = None
    error: Json | None = None


@dataclass(frozen=True, slots=True)
class Malformed:
    """Not a message; to be answered with this error, under the id it was sent with where we could make that out."""

    id: Id
    error: ProtocolError


Message = Request | Notification | Response | Malformed


def read(body: bytes) -> list[Message]:
    """The message in a body; several only for a batch, which LSP does not have and we refuse one by one."""
    try:
        value = lenient_json.loads(body)
    except (ValueError, RecursionError):
        error = ProtocolError("invalidRequest", "the body is not JSON", hint="Send one UTF-8 JSON object per frame.")
        return [Malformed(_sniffed_id(body), error)]
    if isinstance(value, list) and value:
        error = ProtocolError("invalidRequest", "batches are not part of LSP", hint="Send one message per frame.")
        items = cast("list[Any]", value)
        ids = [cast("Json", item).get("id") for item in items if isinstance(item, dict) and "method" in item]
        return [Malformed(_echo(id), error) for id in ids if id is not None] or [Malformed(None, error)]
    return [message(value)]


def of_fault(fault: Fault) -> Malformed:
    kind = "tooLarge" if fault.kind == "tooLarge" else "invalidRequest"
    hint = "Send less at once." if kind == "tooLarge" else "Frames are `Content-Length: N`, an empty line, N bytes."
    return Malformed(_sniffed_id(fault.start), ProtocolError(kind, f"not a message: {fault.reason}", hint=hint))


def result_body(id: Id, result: Any) -> bytes:
    return dumps({"jsonrpc": "2.0", "id": id, "result": result})


def error_body(id: Id, error: ProtocolError) -> bytes:
    data = {**error.data, "kind": error.kind, "hint": error.hint}
    return dumps(
        {"jsonrpc": "2.0", "id": id, "error": {"code": error.code, "message": str(error) or error.kind, "data": data}}
    )


def request_body(id: Id, method: str, params: Any) -> bytes:
    return dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def notification_body(method: str, params: Any) -> bytes:
    return dumps({"jsonrpc": "2.0", "method": method, "params": params})


def event_body(params: bytes) -> bytes:
    """A session's event, whose parameters are JSON already."""
    return b'{"jsonrpc":"2.0","method":"assent/session/event","params":' + params + b"}"


def dumps(value: Any) -> bytes:
    """Compact JSON. Invalid Unicode is replaced, since writing a frame must never fail."""
    try:
        return orjson.dumps(value, default=lenient_json.plain, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, ValueError, RecursionError):
        text = json.dumps(lenient_json.cleaned(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        return text.encode()


def internal(error: BaseException) -> ProtocolError:
    """What a bug looks like from outside: its kind, and where to look."""
    return ProtocolError(
        "internal", f"something went wrong inside the server ({type(error).__name__})", hint="The server log says more."
    )


def message(value: Any) -> Message:
    """A decoded body as a message, or what is wrong with it."""
    if not isinstance(value, dict):
        return Malformed(None, _invalid("a message is a JSON object"))
    raw = cast("Json", value)
    id = raw.get("id")
    if raw.get("jsonrpc") != "2.0":
        return Malformed(_echo(id), _invalid('`jsonrpc` must be "2.0"'))
    if "method" not in raw:
        return _response(raw, id)
    method = raw["method"]
    if not isinstance(method, str):
        return Malformed(_echo(id), _invalid("`method` must be a string"))
    params = raw.get("params")
    if "id" not in raw:
        return Notification(method, params)
    if not _is_id(id):
        return Malformed(_echo(id), _invalid("`id` must be an integer or a string"))
    if params is not None and not isinstance(params, dict | list):
        return Malformed(id, ProtocolError("invalidParams", "`params` must be an object", hint=f"See {method}."))
    return Request(id, method, cast("Any", params))


def _response(raw: Json, id: Any) -> Message:
    if not _is_id(id) or ("result" not in raw and "error" not in raw):
        return Malformed(_echo(id), _invalid("a message has a `method`, or an `id` with a `result` or an `error`"))
    error = raw.get("error")
    if error is None:
        return Response(id, raw.get("result"))
    return Response(id, None, cast("Json", error) if isinstance(error, dict) else {"code": 0, "message": str(error)})


def _is_id(value: Any) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _echo(value: Any) -> Id:
    return cast("Id", value) if isinstance(value, int | str | float) and not isinstance(value, bool) else None


def _invalid(message: str) -> ProtocolError:
    return ProtocolError("invalidRequest", message, hint="See the JSON-RPC 2.0 base of LSP.")


def _sniffed_id(text: bytes) -> Id:
    """The id of a request we could not parse; None when it looks like anything else, so a response gets no answer."""
    head = text[:4096]
    found = _ID.search(head) or _ID.search(text[-512:])
    if found is None or not _METHOD.search(text):
        return None
    return cast("Id", orjson.loads(found.group(1)))
