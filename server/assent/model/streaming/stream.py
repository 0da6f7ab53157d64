"""Events of one answer in, our messages out (M2).

1. Every event becomes a `StreamEvent`, unknown ones too; pings do not.
2. A content block becomes an `AssistantMessage` when it closes, and not before.
3. The `AssistantFinal` comes with `message_stop`. Without it the answer is not one: `broken()` gives what is known.
4. Usage starts afresh at `message_start` and is laid over by each `message_delta`.
5. A tool_use whose JSON did not arrive whole keeps the text it has as `input`: not an object, so nothing can run it.
"""

from collections.abc import Callable
from typing import Any, cast

import orjson

from assent.model import catalog
from assent.model.failures import from_event
from assent.types.blocks import Json
from assent.types.errors import StreamInterrupted
from assent.types.messages import AssistantFinal, AssistantMessage, StreamEvent
from assent.types.ports import ModelEvent, ModelInfo
from assent.types.usage import Usage

# The field of a block that each kind of delta adds to.
_PIECES = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


# What servers that translate from another API call the ends of an answer.
_STOP_NAMES = {"stop": "end_turn", "eos": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}


class StreamedMessage:
    """One API message on its way. `take` is called once per event and gives what to yield."""

    def __init__(self, model: ModelInfo, *, new_id: Callable[[], str], now: Callable[[], float]) -> None:
        self._model = model
        self._new_id = new_id
        self._now = now
        self._open: dict[int, _Open] = {}
        self._message_id = ""
        self._usage = Usage()
        self._fast = False
        self._hour_writes = 0
        self._stop_reason: str | None = None
        self._stop_details: Json | None = None
        self._cleared = 0
        self.begun = False  # message_start was seen
        self.shown = False  # a content block has begun: a consumer may have seen words
        self.complete = False  # message_stop was seen

    def take(self, event: Json) -> list[ModelEvent]:
        try:
            return self._taken(event)
        except (KeyError, TypeError, AttributeError, ValueError) as problem:
            raise StreamInterrupted(f"An event of an unexpected shape: {problem!r}", kind="malformed") from None

    def _taken(self, event: Json) -> list[ModelEvent]:
        kind = event.get("type")
        if kind == "content_block_delta":
            return [self._delta(event)]
        if kind == "ping":
            return []
        match kind:
            case "content_block_start":
                return [self._block_start(event)]
            case "content_block_stop":
                return self._block_stop(event)
            case "message_start":
                self._message_start(event)
            case "message_delta":
                self._message_delta(event)
            case "message_stop":
                return self._message_stop(event)
            case "error":
                raise from_event(cast("Json", event.get("error") or {}))
            case _:
                pass
        return [StreamEvent(event=event, message_id=self._message_id)]

    def broken(self) -> AssistantFinal | None:
        """The last known usage of an answer that will not be finished; None when it never began."""
        return self._final(None) if self.begun and not self.complete else None

    def partial_text(self) -> str:
        """The words of the text block that is still open."""
        return "".join(
            piece for each in self._open.values() if each.block.get("type") == "text" for piece in each.pieces
        )

    def _message_start(self, event: Json) -> None:
        message = cast("Json", event.get("message") or {})
        self.begun = True
        self._message_id = str(message.get("id") or self._new_id())
        usage = cast("Json", message.get("usage") or {})
        self._usage = Usage().updated(usage)
        self._fast = usage.get("speed") == "fast"
        written = cast("Json", usage.get("cache_creation") or {})
        self._hour_writes = int(written.get("ephemeral_1h_input_tokens") or 0)

    def _message_delta(self, event: Json) -> None:
        self._usage = self._usage.updated(cast("Json", event.get("usage") or {}))
        delta = cast("Json", event.get("delta") or {})
        stop = cast("str | None", delta.get("stop_reason"))
        self._stop_reason = _STOP_NAMES.get(stop, stop) if stop else self._stop_reason
        self._stop_details = cast("Json | None", delta.get("stop_details")) or self._stop_details
        edited = cast("Json", event.get("context_management") or {})
        for edit in cast("list[Json]", edited.get("applied_edits") or []):
            self._cleared += int(edit.get("cleared_tool_uses") or 0)

    def _message_stop(self, event: Json) -> list[ModelEvent]:
        if not self.begun or self._open:
            raise StreamInterrupted("The answer ended inside a content block", kind="malformed")
        self.complete = True
        return [StreamEvent(event=event, message_id=self._message_id), self._final(self._stop_reason or "end_turn")]

    def _block_start(self, event: Json) -> StreamEvent:
        if not self.begun:
            raise StreamInterrupted("A content block before the message", kind="malformed")
        self.shown = True
        opened = _Open(cast("Json", event.get("content_block") or {}), self._new_id())
        self._open[cast("int", event.get("index"))] = opened
        return StreamEvent(event=event, message_id=self._message_id, block_uuid=opened.uuid)

    def _delta(self, event: Json) -> StreamEvent:
        opened = self._open.get(event["index"])
        if opened is None:
            raise StreamInterrupted("A delta for a content block that is not open", kind="malformed")
        opened.add(event["delta"])
        return StreamEvent(event=event, message_id=self._message_id, block_uuid=opened.uuid)

    def _block_stop(self, event: Json) -> list[ModelEvent]:
        opened = self._open.pop(cast("int", event.get("index")), None)
        if opened is None:
            raise StreamInterrupted("The end of a content block that is not open", kind="malformed")
        message = AssistantMessage(
            uuid=opened.uuid,
            message_id=self._message_id,
            content=(opened.closed(),),
            model=self._model.id,
            timestamp=self._now(),
        )
        return [StreamEvent(event=event, message_id=self._message_id, block_uuid=opened.uuid), message]

    def _final(self, stop_reason: str | None) -> AssistantFinal:
        return AssistantFinal(
            message_id=self._message_id,
            model=self._model.id,
            usage=self._usage,
            stop_reason=stop_reason,
            cost_usd=catalog.cost(self._model, self._usage, fast=self._fast, hour_writes=self._hour_writes),
            context_tokens=self._usage.context_tokens,
            stop_details=self._stop_details,
            cleared_tool_uses=self._cleared,
        )


class _Open:
    """A block that is being written: how it began, and the pieces of its one growing field."""

    __slots__ = ("block", "pieces", "uuid")

    def __init__(self, start: Json, uuid: str) -> None:
        self.block: Json = dict(start)  # a copy: observers hold the event itself
        self.uuid = uuid
        self.pieces: list[str] = []

    def add(self, delta: Json) -> None:
        field = _PIECES.get(delta["type"])
        if field is not None:
            self.pieces.append(delta[field])
            return
        match delta["type"]:
            case "signature_delta":
                self.block["signature"] = delta["signature"]
            case "citations_delta":
                self.block["citations"] = [*(self.block.get("citations") or []), delta["citation"]]
            case _:
                self._add_unknown(delta)

    def closed(self) -> Json:
        written = "".join(self.pieces)
        match self.block.get("type"):
            case "tool_use" | "server_tool_use" | "mcp_tool_use":
                if written:
                    self.block["input"] = _whole_input(written)
            case "thinking":
                self.block["thinking"] = str(self.block.get("thinking") or "") + written
            case _:
                if self.pieces:
                    self.block["text"] = str(self.block.get("text") or "") + written
        return self.block

    def _add_unknown(self, delta: Json) -> None:
        """A kind of delta we have not met: text grows, anything else replaces (server compaction comes this way)."""
        for name, value in delta.items():
            if name == "type" or value is None:
                continue
            old: Any = self.block.get(name)
            self.block[name] = old + value if isinstance(value, str) and isinstance(old, str) else value


def _whole_input(written: str) -> object:
    try:
        value: object = orjson.loads(written)
    except orjson.JSONDecodeError:
        return written
    return cast("Json", value) if isinstance(value, dict) else written
