"""Events from Bedrock: the Messages API's events inside AWS's binary frames. The same interface as `sse`.

A frame: total length, length of headers, checksum of these two; headers; payload; checksum of all before it.
"""

import base64
import binascii
import struct
import zlib
from typing import cast

import orjson

from assent.types.blocks import Json
from assent.types.errors import StreamInterrupted

MAX_FRAME_BYTES = 32 * 1024 * 1024
_PRELUDE = struct.Struct(">III")
_FIXED_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # bytes of each header value type


class EventStreamDecoder:
    def __init__(self, *, limit: int = MAX_FRAME_BYTES) -> None:
        self._limit = limit
        self._buffer = bytearray()

    def feed(self, chunk: bytes) -> list[Json]:
        self._buffer += chunk
        events: list[Json] = []
        while len(self._buffer) >= _PRELUDE.size:
            total, header_size, checksum = _PRELUDE.unpack_from(self._buffer)
            if zlib.crc32(self._buffer[:8]) != checksum or total > self._limit or header_size + 16 > total:
                raise StreamInterrupted("A frame that is damaged", kind="malformed")
            if len(self._buffer) < total:
                break
            frame = bytes(self._buffer[:total])
            del self._buffer[:total]
            if zlib.crc32(frame[:-4]) != int.from_bytes(frame[-4:], "big"):
                raise StreamInterrupted("A frame that is damaged", kind="malformed")
            event = _decoded(frame[12 : 12 + header_size], frame[12 + header_size : -4])
            if event is not None:
                events.append(event)
        return events


def encode(event: Json) -> bytes:
    """One frame around an event; what the endpoint does, here for tests and tools."""
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for name, value in ((":event-type", "chunk"), (":message-type", "event"))
    )
    payload = orjson.dumps({"bytes": base64.b64encode(orjson.dumps(event)).decode()})
    head = struct.pack(">II", len(headers) + len(payload) + 16, len(headers))
    body = head + struct.pack(">I", zlib.crc32(head)) + headers + payload
    return body + struct.pack(">I", zlib.crc32(body))


def _decoded(raw_headers: bytes, payload: bytes) -> Json | None:
    headers = _headers(raw_headers)
    try:
        outer: object = orjson.loads(payload) if payload else {}
        if headers.get(":message-type") in ("exception", "error"):
            kind = headers.get(":exception-type") or headers.get(":error-code") or "api_error"
            said = str(cast("Json", outer).get("message") or kind) if isinstance(outer, dict) else kind
            return {"type": "error", "error": {"type": _kind(kind), "message": said}}
        inner: object = cast("Json", outer).get("bytes") if isinstance(outer, dict) else None
        event: object = orjson.loads(base64.b64decode(inner)) if isinstance(inner, str) else None
    except (orjson.JSONDecodeError, binascii.Error) as problem:
        raise StreamInterrupted(f"An event that is not JSON: {problem}", kind="malformed") from None
    return cast("Json", event) if isinstance(event, dict) else None


def _headers(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    try:
        while at < len(data):
            size = data[at]
            name = data[at + 1 : at + 1 + size].decode("utf-8", "replace")
            kind = data[at + 1 + size]
            at += 2 + size
            if kind in (6, 7):
                length = int.from_bytes(data[at : at + 2], "big")
                found[name] = data[at + 2 : at + 2 + length].decode("utf-8", "replace")
                at += 2 + length
            else:
                at += _FIXED_SIZES[kind]
    except (IndexError, KeyError):
        raise StreamInterrupted("A frame with damaged headers", kind="malformed") from None
    return found


def _kind(exception: str) -> str:
    """AWS's names for what the Messages API calls otherwise."""
    named = {
        "throttlingException": "rate_limit_error",
        "validationException": "invalid_request_error",
        "modelTimeoutException": "timeout_error",
        "serviceUnavailableException": "overloaded_error",
    }
    return named.get(exception, "api_error" if exception.endswith("Exception") else exception)
