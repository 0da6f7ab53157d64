"""The answer of one model call so far: its closed blocks, the text of the open block, and how the call ended.

`sampling` fills it; `recovery` and `stop` read it, and so does the code that saves the text of an aborted turn.
"""

from dataclasses import dataclass, field
from typing import cast

from assent.types.blocks import Json, text_block, text_of
from assent.types.errors import ModelError, StreamInterrupted
from assent.types.messages import AssistantFinal, AssistantMessage, StreamEvent
from assent.types.tries import Tries


@dataclass(slots=True, kw_only=True)
class ModelAnswer:
    """What one call gave: its closed blocks, and how it ended."""

    messages: list[AssistantMessage] = field(default_factory=list[AssistantMessage])
    final: AssistantFinal | None = None
    failure: ModelError | None = None
    calls: int = 0  # tool calls whose input is complete
    open_uuid: str = ""
    open_message_id: str = ""
    open_text: list[str] = field(default_factory=list[str])

    @property
    def stop_reason(self) -> str | None:
        return self.final.stop_reason if self.final else None

    @property
    def tries(self) -> Tries | None:
        """Of a call that broke in the middle, so that the next one waits and counts as its retry would (M3)."""
        return self.failure.tries if isinstance(self.failure, StreamInterrupted) else None

    @property
    def uuids(self) -> tuple[str, ...]:
        """Everything of this answer a consumer may have seen, the unfinished block included."""
        return (*(message.uuid for message in self.messages), *((self.open_uuid,) if self.open_uuid else ()))

    @property
    def text(self) -> str:
        return "\n".join(filter(None, (text_of(message.content) for message in self.messages)))

    def watch(self, event: StreamEvent) -> None:
        """Follow the open text block, so that an interruption can keep what was already shown."""
        raw = event.event
        match raw.get("type"):
            case "content_block_delta":
                if self.open_uuid:
                    text: object = cast("Json", raw.get("delta") or {}).get("text")
                    if isinstance(text, str):
                        self.open_text.append(text)
            case "content_block_start":
                self.open_uuid = event.block_uuid
                self.open_message_id = event.message_id
                self.open_text = []
            case "content_block_stop":
                self.open_uuid = ""
            case _:
                pass

    def unfinished(self, *, model: str, timestamp: float) -> AssistantMessage | None:
        """The text block that was being written when the stream ended, as far as it got."""
        text = "".join(self.open_text)
        if not self.open_uuid or not text.strip():
            return None
        return AssistantMessage(
            uuid=self.open_uuid,
            message_id=self.open_message_id or self.open_uuid,
            content=(text_block(text),),
            model=model,
            timestamp=timestamp,
        )
