"""MessageDisplay: hooks may change what people see of an answer, as it is written; the model's own words stay.

While such a hook is there, text is shown by whole lines, a few times a second, each piece after the hook has seen it;
the last piece comes with the message itself. The shown text is recorded, so that a reopened conversation looks the
same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import cast

from assent.types.blocks import Json, text_block
from assent.types.hooks import HookCall, Hooks
from assent.types.messages import AssistantMessage, Message, StreamEvent

SECONDS = 0.25  # between two pieces of one block


@dataclass(slots=True)
class _Block:
    read: str = ""  # of the model's words, handed to hooks
    waiting: str = ""
    shown: list[str] = field(default_factory=list[str])
    last: float = 0.0
    changed: bool = False


class Display:
    def __init__(
        self,
        hooks: Hooks,
        call: Callable[[Json, str | None], HookCall],  # (data, agent)
        keep: Callable[[str, str], None],  # (uuid, what was shown)
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._hooks = hooks
        self._call = call
        self._keep = keep
        self._clock = clock
        self._blocks: dict[str, _Block] = {}

    async def of(self, message: Message) -> Message | None:
        """The message as it is to be shown; None for a piece that waits for more."""
        if isinstance(message, StreamEvent) and (self._blocks or self._hooks.wants("MessageDisplay")):
            return await self._piece(message)
        if isinstance(message, AssistantMessage) and (self._blocks or self._hooks.wants("MessageDisplay")):
            return await self._whole(message)
        return message

    async def _piece(self, message: StreamEvent) -> StreamEvent | None:
        delta = cast("Json", message.event.get("delta") or {})
        if message.event.get("type") != "content_block_delta" or delta.get("type") != "text_delta":
            return message
        block = self._blocks.setdefault(message.block_uuid, _Block())
        block.waiting += str(delta.get("text", ""))
        end = block.waiting.rfind("\n") + 1
        if not end or self._clock() - block.last < SECONDS:
            return None
        text, block.waiting = block.waiting[:end], block.waiting[end:]
        shown = await self._shown(message.block_uuid, block, text, final=False, agent=message.parent_tool_use_id)
        return replace(message, event={**message.event, "delta": {**delta, "text": shown}})

    async def _whole(self, message: AssistantMessage) -> AssistantMessage:
        block = self._blocks.pop(message.uuid, None) or _Block()
        if len(message.content) != 1 or message.content[0].get("type") != "text" or message.error:
            return message
        text = str(message.content[0].get("text", ""))
        rest = text[len(block.read) :] if text.startswith(block.read) else text
        await self._shown(message.uuid, block, rest, final=True, agent=message.parent_tool_use_id)
        if not block.changed:
            return message
        shown = "".join(block.shown)
        self._keep(message.uuid, shown)
        return replace(message, content=(text_block(shown),))

    async def _shown(self, uuid: str, block: _Block, text: str, *, final: bool, agent: str | None) -> str:
        data: Json = {"message_id": uuid, "index": len(block.shown), "final": final, "delta": text}
        shown = text
        for outcome in await self._hooks.run(self._call(data, agent)):
            given: object = outcome.specific.get("displayContent")
            if isinstance(given, str):
                shown, block.changed = given, True
        block.read += text
        block.shown.append(shown)
        block.last = self._clock()
        return shown
