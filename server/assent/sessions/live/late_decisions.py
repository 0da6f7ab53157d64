"""Decisions on edits that came after the result of their call: the model gets them with the next step or turn.

They are kept with the session until the engine has taken them, so that a restart between does not lose them.
"""

from collections.abc import Callable, Sequence
from typing import cast

from assent.tools.tool import Mine, anyone
from assent.types.blocks import Json, text_block
from assent.types.ids import new_id
from assent.types.messages import Attachment


class LateDecisions:
    def __init__(self, *, on_change: Callable[[], None]) -> None:
        self._words: dict[str, str] = {}  # by proposal: the newest state of it says it all
        self._calls: dict[str, str] = {}  # by proposal: the call that made it
        self._on_change = on_change

    def note(self, proposal_id: str, words: str, *, tool_use_id: str = "") -> None:
        if words:
            self._words.pop(proposal_id, None)
            self._words[proposal_id] = words
            self._calls[proposal_id] = tool_use_id
            self._on_change()

    def forget(self, proposal_id: str) -> None:
        if self._words.pop(proposal_id, None) is not None:
            self._on_change()

    def clear(self) -> None:
        """The conversation went back; what it knows of its edits went with it."""
        self._words.clear()

    def take(self, now: float, mine: Mine = anyone) -> Sequence[Attachment]:
        """Attachments about edits of calls that are `mine`; each is returned once."""
        words = {proposal: text for proposal, text in self._words.items() if mine(self._calls.get(proposal, ""))}
        self._words = {proposal: text for proposal, text in self._words.items() if proposal not in words}
        # The file has them until the next state is written: after the engine's messages, so better twice than lost.
        return [
            Attachment(
                uuid=new_id("u"),
                kind="review",
                content=(text_block(text),),
                data={"proposalId": proposal_id},
                timestamp=now,
            )
            for proposal_id, text in words.items()
        ]

    def to_json(self) -> Json:
        return dict(self._words)

    def restore(self, saved: object) -> None:
        self._words = {str(key): str(text) for key, text in cast("Json", saved).items()} if saved else {}
