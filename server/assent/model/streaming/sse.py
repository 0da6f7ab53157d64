"""Server-sent events from raw bytes, cut anywhere: CR, LF and CRLF, comments, several data lines.

Owns the framing and nothing else: it does not know what the events mean or where the bytes come from. A frame that
should be JSON and is not means the stream cannot be trusted any more: `StreamInterrupted`.
"""

from typing import cast

import orjson

from assent.types.blocks import Json
from assent.types.errors import StreamInterrupted

MAX_FRAME_BYTES = 32 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"
# What the Messages API calls its events; anything else may carry data that is not ours to judge.
_OURS = frozenset(
    {
        "",
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "error",
    }
)


class SseDecoder:
    """Feed it bytes; it gives back the events that are complete, each as the object in its data."""

    __slots__ = ("_after_cr", "_limit", "_pending", "_pending_size", "_started")

    def __init__(self, *, limit: int = MAX_FRAME_BYTES) -> None:
        self._limit = limit
        self._pending: list[bytes] = []  # pieces of the frame that is not complete yet
        self._pending_size = 0
        self._after_cr = False
        self._started = False

    @property
    def pending(self) -> bool:
        """Whether the bytes so far end inside a frame."""
        return any(piece.strip(b"\n") for piece in self._pending)

    def feed(self, chunk: bytes) -> list[Json]:
        if not self._started:
            chunk = self._without_bom(chunk)
        if self._after_cr or b"\r" in chunk:
            chunk = self._with_plain_line_ends(chunk)
        if not chunk:
            return []
        if self._pending:
            # A blank line may be split between the last piece and this one.
            if b"\n\n" not in chunk and not (self._pending[-1].endswith(b"\n") and chunk.startswith(b"\n")):
                self._keep(chunk)
                return []
            chunk = b"".join([*self._pending, chunk])
            self._pending.clear()
            self._pending_size = 0
        *frames, rest = chunk.split(b"\n\n")
        if rest:
            self._keep(rest)
        return [event for frame in frames if (event := _decoded(frame)) is not None]

    def _keep(self, piece: bytes) -> None:
        self._pending.append(piece)
        self._pending_size += len(piece)
        if self._pending_size > self._limit:
            raise StreamInterrupted(f"An event of more than {self._limit} bytes", kind="malformed")

    def _with_plain_line_ends(self, chunk: bytes) -> bytes:
        """A line end is given on as soon as its CR is seen; the LF that may follow in the next chunk is dropped."""
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            if not chunk:
                self._after_cr = False
                return chunk
        self._after_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _without_bom(self, chunk: bytes) -> bytes:
        head = b"".join(self._pending) + chunk
        self._pending.clear()
        self._pending_size = 0
        if len(head) < len(_BOM) and _BOM.startswith(head):
            self._keep(head)
            return b""
        self._started = True
        return head.removeprefix(_BOM)


def _decoded(frame: bytes) -> Json | None:
    # Nearly every frame is `event: name`, one line end, `data: {…}`: no need to look at lines one by one.
    if frame.startswith(b"event: "):
        end = frame.find(b"\n")
        if end > 0 and frame.startswith(b"data: {", end + 1) and frame.find(b"\n", end + 1) < 0:
            return _parsed(frame[end + 7 :], frame[7:end])
    name = b""
    data: list[bytes] = []
    for line in frame.split(b"\n"):
        if not line or line.startswith(b":"):
            continue
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
    if not data:
        return None
    return _parsed(b"\n".join(data), name)


def _parsed(data: bytes, name: bytes) -> Json | None:
    try:
        value: object = orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        if data == b"[DONE]" or name.decode("utf-8", "replace") not in _OURS:
            return None
        raise StreamInterrupted(f"An event that is not JSON: {problem}", kind="malformed") from None
    if not isinstance(value, dict):
        if name.decode("utf-8", "replace") not in _OURS:
            return None
        raise StreamInterrupted("An event that is not a JSON object", kind="malformed")
    event = cast("Json", value)
    if "type" not in event and name:
        event["type"] = name.decode("utf-8", "replace")
    return event
