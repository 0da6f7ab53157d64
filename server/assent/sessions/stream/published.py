"""One event as it was published: the struct, and its bytes, which are made once for the ring and for every front.

Not aware of numbers or subscriptions; `event_log` gives the event its number.
"""

from dataclasses import dataclass
from typing import cast

import msgspec
import orjson

from assent.storage.lines import sanitised
from assent.types.blocks import Json
from assent.wire.events import SessionEvent, TextDelta, ThinkingDelta, ToolInputDelta

Piece = TextDelta | ThinkingDelta | ToolInputDelta

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(SessionEvent)


@dataclass(frozen=True, slots=True)
class Published:
    params: SessionEvent
    line: bytes  # the same as JSON

    @property
    def is_delta(self) -> bool:
        return isinstance(self.params.event, Piece)

    def json(self) -> Json:
        """For fronts that work on plain JSON."""
        return cast("Json", orjson.loads(self.line))


def published(params: SessionEvent) -> Published:
    """Replaces text that JSON cannot hold, once for all fronts."""
    try:
        return Published(params, _ENCODER.encode(params))
    except (TypeError, ValueError, OverflowError):
        mended = sanitised(msgspec.to_builtins(params, enc_hook=str))
        return from_line(orjson.dumps(mended, default=str))


def from_line(line: bytes) -> Published:
    return Published(_DECODER.decode(line), line)
