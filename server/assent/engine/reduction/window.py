"""How full the model's context window is, and which reductions are pending. The engine keeps it across turns.

The functions that reduce are in `context/`; this holds what they need to remember between two calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assent.context.collapse import Collapse
from assent.context.microcompact import oldest_results
from assent.context.reread import result_in_view
from assent.context.snip import Snippable
from assent.context.tokens import Anchor, count
from assent.context.view import Reduced
from assent.types.messages import ConversationMessage, SnippedBy


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """Messages that are to leave the view before the next call."""

    uuids: tuple[str, ...]
    by: SnippedBy
    snip_id: str
    why: str = ""
    told: bool = False  # people and the transcript know already


@dataclass(slots=True, kw_only=True)
class Window:
    overhead: int = 0  # of system prompt and tools, estimated, until the API has counted
    anchor: Anchor | None = None
    told: int = 0  # what people were told of before anything was counted here: at the resume or the compaction
    last_answer: int = 0  # context tokens of the last answer, as the API counted them
    last_call: float | None = None  # on the engine's clock; None: nothing was sent yet, so no cache is warm
    marked: list[Marked] = field(default_factory=list["Marked"])  # to snip before the next call
    spared: set[str] = field(default_factory=set[str])  # messages that the user wants back in view
    offered: list[Snippable] = field(default_factory=list[Snippable])  # what the model was told it may snip
    offered_at: float = 0.0  # how full the window was then
    warned: bool = False  # people know that it is nearly full
    staged: list[Collapse] = field(default_factory=list[Collapse])
    staging: bool = False
    staging_failures: int = 0
    cleared_results: set[str] = field(default_factory=set[str])  # calls whose results the endpoint took out (C3)
    budgeted: int = 0  # messages of the view whose results are known to be under their cap

    def count(self, view: Sequence[ConversationMessage]) -> int:
        return count(view, self.anchor, overhead=self.overhead)

    def idle(self, now: float) -> float | None:
        """Seconds since the last call; None when nothing was sent yet."""
        return None if self.last_call is None else now - self.last_call

    def measured(self, message_id: str, tokens: int) -> None:
        """The API said how much the conversation holds, up to and including this answer."""
        if tokens > 0:
            self.last_answer = tokens
            self.anchor = Anchor(message_id=message_id, tokens=tokens)

    def freed(self, reduced: Reduced) -> None:
        """Count what a reduction gave back."""
        if self.anchor is not None:
            self.anchor = replace(self.anchor, freed=self.anchor.freed + reduced.freed)

    def cleared(self, view: Sequence[ConversationMessage], count: int) -> None:
        """The endpoint took the oldest results out of the model's view by itself; its count knows that already."""
        self.cleared_results |= oldest_results(view, count)

    def result(self, view: Sequence[ConversationMessage], tool_use_id: str) -> str | list[Any] | None:
        """A result as the model sees it now; None when it does not (C7)."""
        return result_in_view(view, tool_use_id, cleared=self.cleared_results)

    def restarted(self) -> None:
        """After a compaction nothing of before counts or is in view."""
        self.anchor = None
        self.told = 0
        self.last_answer = 0
        self.staged.clear()
        self.staging_failures = 0
        self.marked.clear()
        self.offered.clear()
        self.offered_at = 0.0
        self.budgeted = 0
        self.cleared_results.clear()
