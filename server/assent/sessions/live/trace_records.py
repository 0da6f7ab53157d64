"""What a turn did and how long it took, written down as it happens: one record for each model call and each tool call.

Names and numbers only. `sessions/library/traces.py` reads them back as a tree.
"""

from __future__ import annotations

from collections.abc import Callable

from assent.sessions.live.record import Record
from assent.types.blocks import Json
from assent.types.messages import Message, ToolFinished, ToolStarted

TITLE = 80


class Traces:
    def __init__(self, record: Record, *, turn_id: Callable[[], str | None], now: Callable[[], float]) -> None:
        self._record = record
        self._turn_id = turn_id
        self._now = now
        self._began: dict[str, tuple[float, str]] = {}  # by call: when, and its title

    def write(self, record: Json) -> None:
        self._record.note("trace", turnId=self._turn_id(), **record)

    def observed(self, message: Message) -> None:
        match message:
            case ToolStarted():
                self._began[message.tool_use_id] = (self._now(), message.title[:TITLE])
            case ToolFinished():
                began, title = self._began.pop(message.tool_use_id, (self._now(), message.tool))
                self.write(
                    {
                        "what": "tool",
                        "toolUseId": message.tool_use_id,
                        "tool": message.tool,
                        "title": title,
                        "startedAt": began,
                        "seconds": message.duration_ms / 1000,
                        "isError": message.is_error,
                        "parentToolUseId": message.parent_tool_use_id,
                    }
                )
            case _:
                pass
