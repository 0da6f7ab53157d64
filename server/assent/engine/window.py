"""How full the model's window is, and what waits to make it smaller. Kept by the engine across turns.

The functions that reduce are in `context/`; this holds what they need to remember between two calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from assent.context.collapse import Collapse
from assent.context.microcompact import oldest_results
from assent.context.reread import out_of_view
from assent.context.snip import Snippable
from assent.context.tokens import Anchor, count
from assent.context.view import Reduced
from assent.tools.tool import SessionState
from assent.types.messages import ConversationMessage


@dataclass(slots=True, kw_only=True)
class Window:
    overhead: int = 0  # of system prompt and tools, estimated, until the API has counted
    anchor: Anchor | None = None
    last_answer: int = 0  # context tokens of the last answer, as the API counted them
    last_call: float | None = None  # on the engine's clock; None: nothing was sent yet, so no cache is warm
    marked: set[str] = field(default_factory=set[str])  # messages to snip before the next call
    offered: list[Snippable] = field(default_factory=list[Snippable])  # what the model was told it may snip
    offered_at: float = 0.0  # how full the window was then
    staged: list[Collapse] = field(default_factory=list[Collapse])
    staging: bool = False
    staging_failures: int = 0
    budgeted: int = 0  # messages of the view whose results are known to be under their cap

    def count(self, view: Sequence[ConversationMessage]) -> int:
        return count(view, self.anchor, overhead=self.overhead)

    def measured(self, message_id: str, tokens: int) -> None:
        """The API said how much the conversation holds, up to and including this answer."""
        if tokens > 0:
            self.last_answer = tokens
            self.anchor = Anchor(message_id=message_id, tokens=tokens)

    def freed(self, reduced: Reduced, app: SessionState) -> None:
        """Count what a reduction gave back, and forget the re-read stubs it made wrong (C7)."""
        if self.anchor is not None:
            self.anchor = replace(self.anchor, freed=self.anchor.freed + reduced.freed)
        self._hide(app, reduced)

    def cleared(self, view: Sequence[ConversationMessage], count: int, app: SessionState) -> None:
        """The endpoint took the oldest results out of the model's view by itself; its count knows that already."""
        self._hide(app, Reduced(view=tuple(view), hidden=oldest_results(view, count)))

    def restarted(self, app: SessionState) -> None:
        """After a compaction nothing of before counts or is in view."""
        self.anchor = None
        self.last_answer = 0
        self.staged.clear()
        self.staging_failures = 0
        self.marked.clear()
        self.offered.clear()
        self.offered_at = 0.0
        self.budgeted = 0
        self._hide(app, None)

    def _hide(self, app: SessionState, reduced: Reduced | None) -> None:
        for path in out_of_view(app.read_files, reduced.hidden if reduced is not None else None):
            app.read_files[path] = replace(app.read_files[path], in_view=False)
