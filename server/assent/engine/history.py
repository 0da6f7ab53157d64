"""The conversation: everything that was said, and what the model still sees of it.

`messages` is whole, for people and for resuming; it only grows, or loses what was withdrawn. The view is the part
that goes to the model: it starts at the last compact boundary and is reduced from there (L4). What is added since the
view was last set is `fresh`, so a step costs the same however long the conversation is.
"""

from collections.abc import Collection, Iterable, Sequence

from assent.context.collapse import Collapse, commit
from assent.context.reread import without_dangling
from assent.context.view import without
from assent.engine.services import SnipReplay
from assent.types.messages import Collapsed, CompactBoundary, ConversationMessage, Tombstone


class History:
    def __init__(
        self,
        messages: Iterable[ConversationMessage] = (),
        *,
        snipped: Collection[str] = (),
        collapsed: Sequence[Collapsed] = (),
    ) -> None:
        self.messages: list[ConversationMessage] = list(messages)
        self._view: tuple[ConversationMessage, ...] = view_of(self.messages, snipped, collapsed)
        self._fresh: list[ConversationMessage] = []

    def add(self, message: ConversationMessage) -> None:
        self.messages.append(message)
        self._fresh.append(message)

    def view(self) -> tuple[ConversationMessage, ...]:
        if self._fresh:
            self._view = (*self._view, *self._fresh)
            self._fresh = []
        return self._view

    def reduce(self, view: tuple[ConversationMessage, ...]) -> None:
        """The model sees this from now on."""
        self._view = view
        self._fresh = []

    def replay(self, marker: Tombstone | CompactBoundary, replay: SnipReplay | None) -> None:
        """Let the host say what of the history it still needs."""
        kept = replay(marker, self.messages) if replay is not None else None
        if kept is not None:
            self.messages = list(kept)

    def restart(self) -> None:
        """The view begins anew at the last boundary."""
        self.reduce(view_of(self.messages))

    def withdraw(self, uuids: Collection[str]) -> None:
        """Forget messages that were taken back. They are always among the newest, so look from the end."""
        left = set(uuids)
        self._view = tuple(m for m in self.view() if m.uuid not in left)
        for at in range(len(self.messages) - 1, -1, -1):
            if not left:
                break
            if self.messages[at].uuid in left:
                left.discard(self.messages[at].uuid)
                del self.messages[at]


def view_of(
    messages: list[ConversationMessage], snipped: Collection[str] = (), collapsed: Sequence[Collapsed] = ()
) -> tuple[ConversationMessage, ...]:
    """What the model sees of a history: from the last boundary on, with summaries for spans, without what was snipped.

    In this order because a summary carries the uuid of the first message it stands for, and may have been snipped too.
    """
    start = 0
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if isinstance(message, CompactBoundary):
            start = at if message.summary or message.kept else at + 1  # an empty one is a /clear
            break
    view = tuple(messages[start:])
    if collapsed:
        staged = [Collapse(uuids=each.message_uuids, summary=each.summary) for each in collapsed]
        view = commit(view, staged)[0].view
    if snipped:
        view = without(view, snipped)
    return without_dangling(view, messages) if snipped or collapsed else view
