"""Where the window goes, by category, in numbers that add up (C8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assent.context.thresholds import Thresholds
from assent.context.tokens import estimate_all, estimate_json, estimate_text
from assent.types.blocks import Json
from assent.types.messages import ConversationMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextUsage:
    system: int
    tools: int
    memory: int
    messages: int
    window: int
    autocompact_at: int

    @property
    def used(self) -> int:
        return self.system + self.tools + self.memory + self.messages

    @property
    def free(self) -> int:
        return max(0, self.window - self.used)

    def as_json(self) -> Json:
        return {
            "tokens": {
                "system": self.system,
                "tools": self.tools,
                "memory": self.memory,
                "messages": self.messages,
                "free": self.free,
            },
            "used": self.used,
            "window": self.window,
            "autoCompactAt": self.autocompact_at,
        }

    def as_text(self) -> str:
        def line(name: str, tokens: int) -> str:
            return f"{name:<10}{tokens:>10,}  {100 * tokens / self.window:5.1f} %"

        rows = [
            line("system", self.system),
            line("tools", self.tools),
            line("memory", self.memory),
            line("messages", self.messages),
            line("free", self.free),
        ]
        head = f"{self.used:,} of {self.window:,} tokens in use; compaction at {self.autocompact_at:,}."
        return "\n".join([head, "", *rows])


def context_usage(
    *,
    system: Sequence[str],
    tools: Sequence[Json],
    memory: str,
    view: Sequence[ConversationMessage],
    marks: Thresholds,
    measured: int | None = None,
) -> ContextUsage:
    """Estimates by category; when the API has counted the whole, each gets its share of that count."""
    system_tokens = sum(estimate_text(part) for part in system)
    tool_tokens = sum(estimate_json(tool) for tool in tools)
    memory_tokens = estimate_text(memory)
    message_tokens = estimate_all(view)
    estimated = system_tokens + tool_tokens + memory_tokens + message_tokens
    if measured is not None and estimated:
        system_tokens = system_tokens * measured // estimated
        tool_tokens = tool_tokens * measured // estimated
        memory_tokens = memory_tokens * measured // estimated
        message_tokens = measured - system_tokens - tool_tokens - memory_tokens
    return ContextUsage(
        system=system_tokens,
        tools=tool_tokens,
        memory=memory_tokens,
        messages=message_tokens,
        window=marks.window,
        autocompact_at=marks.autocompact,
    )
