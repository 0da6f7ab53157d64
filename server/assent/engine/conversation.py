"""The state that lasts between turns (Q1): one record that the engine owns and the running turn reads and changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from assent.engine.agents.runs import AgentRuns
from assent.engine.budget import Ledger
from assent.engine.history import History
from assent.engine.merge import Background
from assent.engine.prompting.prompt import PromptContext
from assent.engine.reduction.window import Window
from assent.engine.state import CompactTracking
from assent.types.messages import Attachment, PermissionDenial, UserMessage

Priority = Literal["next", "later"]


@dataclass(slots=True)
class PendingMessages:
    """Messages for the model that wait: prompts typed while the agent works, and notifications of finished tasks.

    `next` is delivered between two steps; `later` after the agent has slept, or when it is idle.
    """

    _waiting: list[tuple[Priority, UserMessage | Attachment]] = field(
        default_factory=list[tuple[Priority, UserMessage | Attachment]]
    )

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, message: UserMessage | Attachment, priority: Priority = "next") -> None:
        self._waiting.append((priority, message))

    def holds(self, id: str) -> bool:
        """Whether it has news of this agent or job."""
        news = [each.data for _, each in self._waiting if isinstance(each, Attachment)]
        return any(id in (data.get("agent"), data.get("jobId")) for data in news)

    def take(self, *, later: bool) -> list[UserMessage | Attachment]:
        taken = [message for priority, message in self._waiting if later or priority == "next"]
        self._waiting = [] if later else [each for each in self._waiting if each[0] != "next"]
        return taken


@dataclass(slots=True, kw_only=True)
class Conversation:
    history: History
    ledger: Ledger
    window: Window = field(default_factory=Window)
    inbox: PendingMessages = field(default_factory=PendingMessages)
    background: Background = field(default_factory=Background)
    denials: list[PermissionDenial] = field(default_factory=list[PermissionDenial])
    tracking: CompactTracking = field(default_factory=CompactTracking)
    context: PromptContext | None = None  # frozen at the first turn and at each compaction
    task_budget_remaining: int | None = None
    note_spend: Callable[[], None] = lambda: None  # writes the totals down, after every call that was counted
    agents: AgentRuns = field(default_factory=AgentRuns)
    prefetches: list[asyncio.Task[Sequence[Attachment] | None]] = field(
        default_factory=list["asyncio.Task[Sequence[Attachment] | None]"]
    )
    told_changed: dict[str, str] = field(default_factory=dict[str, str])  # path to the hash the model was told of
    looked_in: set[str] = field(default_factory=set[str])  # files for which memory was looked for
    nested_memory: set[str] = field(default_factory=set[str])  # memory files told already
    told_refused: set[str] = field(default_factory=set[str])  # what the user was told of memory further down
    dream: asyncio.Task[None] | None = None  # waits for the session to be idle (L13)
    notes_in_order: list[str] | None = None  # the auto memory as the last dream left it
    steps_without_todos: int = 0
    discovered_skills: set[str] = field(default_factory=set[str])  # of this turn; cleared at each submit

    def note_denial(self, tool: str, tool_use_id: str, given: Mapping[str, Any]) -> None:
        self.denials.append(PermissionDenial(tool_name=tool, tool_use_id=tool_use_id, tool_input=dict(given)))

    def forget_told(self) -> None:
        """The view begins anew: what was attached before is gone from it, and is told again where it still matters."""
        self.told_changed.clear()
        self.looked_in.clear()
        self.nested_memory.clear()
