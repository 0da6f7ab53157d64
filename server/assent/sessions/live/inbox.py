"""Messages on their way into a session: waiting for a turn of their own, or to be steered into the running one."""

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import anyio

from assent.sessions import prompt_media
from assent.storage.lines import sanitised
from assent.text.attached import attached
from assent.text.uris import split
from assent.types.blocks import Json, text_block
from assent.types.errors import ProtocolError
from assent.types.messages import Result
from assent.wire.requests import Mention

REMEMBERED = 1_000


@dataclass(slots=True, kw_only=True, eq=False)
class QueuedTurn:
    """One prompt and what became of it."""

    id: str
    uuid: str  # of the user message
    content: list[Json]
    client_id: str
    spoken: bool = False  # sent as one plain string, not as blocks
    token_budget: int | None = None
    queued: bool = False
    into: "QueuedTurn | None" = None  # steered: the running turn it is meant for, until that has ended without it
    result: Result | None = None
    started: anyio.Event = field(default_factory=anyio.Event)  # turnStarted is out
    done: anyio.Event = field(default_factory=anyio.Event)

    @property
    def runs_in(self) -> str:
        """The id of the turn that is expected to answer it."""
        return self.id if self.into is None else self.into.id

    @property
    def prompt(self) -> str | list[Json]:
        """The prompt in the form it was sent: a string or blocks."""
        return str(self.content[0]["text"]) if self.spoken and len(self.content) == 1 else list(self.content)

    def to_json(self) -> Json:
        return {
            "turnId": self.id,
            "uuid": self.uuid,
            "clientMessageId": self.client_id,
            "content": self.content,
            "spoken": self.spoken,
            "tokenBudget": self.token_budget,
        }

    @classmethod
    def from_json(cls, saved: Json) -> "QueuedTurn":
        return cls(
            id=str(saved["turnId"]),
            uuid=str(saved["uuid"]),
            client_id=str(saved.get("clientMessageId", saved["uuid"])),
            content=cast("list[Json]", saved.get("content", [])),
            spoken=saved.get("spoken") is True,
            token_budget=saved.get("tokenBudget"),
            queued=True,
        )


@dataclass(slots=True, kw_only=True, eq=False)
class Steered:
    """A message for the running turn; it belongs to that turn and has none of its own."""

    message: QueuedTurn
    taken: bool = False


class Inbox:
    """Order is the order of arrival. `kept` holds what waited when its turns were interrupted or its process ended:
    a message in there starts only when its sender sends it again, by its id."""

    def __init__(self) -> None:
        self.waiting: deque[QueuedTurn] = deque()
        self.steering: list[Steered] = []
        self.kept: list[QueuedTurn] = []
        self._sent: OrderedDict[str, tuple[QueuedTurn, bool]] = OrderedDict()

    def known(self, client_id: str | None) -> tuple[QueuedTurn, bool] | None:
        """What an earlier send with this id brought, and whether it was answered as queued."""
        return self._sent.get(client_id) if client_id else None

    def remember(self, client_id: str, turn: QueuedTurn, *, queued: bool) -> None:
        self._sent[client_id] = (turn, queued)
        while len(self._sent) > REMEMBERED:
            self._sent.popitem(last=False)

    def ids(self) -> list[str]:
        steered = [item.message.client_id for item in self.steering if not item.taken]
        return [*(turn.client_id for turn in self.kept), *steered, *(turn.client_id for turn in self.waiting)]

    def unsaid(self) -> list[QueuedTurn]:
        """Everything that no turn has taken up, in order: what must outlive the process."""
        steered = [item.message for item in self.steering if not item.taken]
        return [*self.kept, *steered, *self.waiting]

    def keep(self) -> list[QueuedTurn]:
        """The person stopped: nothing that waits now starts by itself. Returns what is kept from now on."""
        steered = [item for item in self.steering if not item.taken]
        for item in steered:
            item.message.into = None
        self.steering = [item for item in self.steering if item.taken]
        newly = [*(item.message for item in steered), *self.waiting]
        self.waiting.clear()
        self.kept += newly
        return newly

    def send_kept(self, turn: QueuedTurn) -> bool:
        """Let a kept message wait for its turn again; whether it was kept."""
        if turn not in self.kept:
            return False
        self.kept.remove(turn)
        self.waiting.append(turn)
        return True

    def withdraw(self, client_id: str) -> QueuedTurn | None:
        """Withdraw a message that no turn has taken yet."""
        untaken = [item.message for item in self.steering if not item.taken]
        queued = [turn for turn in self.waiting if turn.queued]
        found = next((turn for turn in (*self.kept, *untaken, *queued) if turn.client_id == client_id), None)
        return found if found is not None and self.drop(found) else None

    def drop(self, turn: QueuedTurn) -> bool:
        """Forget a message unless it was taken up; whether it was still here."""
        for place in (self.waiting, self.kept):
            if turn in place:
                place.remove(turn)
                return True
        left = [item for item in self.steering if item.taken or item.message is not turn]
        found, self.steering = len(left) < len(self.steering), left
        return found

    def shown(self) -> list[Json]:
        """The waiting messages as they were sent, for a client that attaches later."""
        steered = [(item.message, True) for item in self.steering if not item.taken]
        waiting = [(turn, False) for turn in self.waiting if turn.queued]
        kept: list[Json] = [
            {"clientMessageId": turn.client_id, "prompt": turn.content, "steer": False, "kept": True}
            for turn in self.kept
        ]
        return kept + [
            {"clientMessageId": turn.client_id, "prompt": turn.content, "steer": steer}
            for turn, steer in (*steered, *waiting)
        ]

    def take_steered(self) -> list[QueuedTurn]:
        taken = [item.message for item in self.steering if not item.taken]
        for item in self.steering:
            item.taken = True
        return taken

    def end_steering(self) -> list[QueuedTurn]:
        """The turn is over: what it took is complete; what it did not take waits for a turn of its own, first."""
        done = [item.message for item in self.steering if item.taken]
        left = [item.message for item in self.steering if not item.taken]
        for message in left:
            message.into = None
        self.steering.clear()
        self.waiting.extendleft(reversed(left))
        return done


def prompt_blocks(prompt: str | list[Json], mentions: Sequence[Mention] = ()) -> list[Json]:
    """The content of a user message: text or blocks, cleaned, with the editor's mentions as @-references."""
    if isinstance(prompt, str):
        blocks: list[Json] = [text_block(prompt)] if prompt else []
    else:
        blocks = [_checked(block) for block in prompt]
    words = [_reference(mention) for mention in mentions if mention.text is None]
    if words:
        blocks.append(text_block(" ".join(words)))
    for mention in mentions:
        if mention.text is not None:  # not a file: the editor sends its text
            blocks.append(text_block(attached(mention.label or mention.uri, mention.text)))
    if not any(block.get("type") != "text" or str(block.get("text", "")).strip() for block in blocks):
        raise ProtocolError("invalidParams", "the prompt is empty", hint="Type a message first.")
    return cast("list[Json]", sanitised(blocks))


def _checked(block: Json) -> Json:
    """A block the model's endpoint refuses would stay in the history and fail every later turn: refuse it here."""
    match block:
        case {"type": "text", "text": str()}:
            return dict(block)
        case {"type": "image" | "document", "source": {"type": str()}}:
            return prompt_media.checked(block)
        case _:
            kind = str(block.get("type"))[:40]
            hint = 'Send {"type": "text", "text": …}, or an image or document with its source.'
            raise ProtocolError("invalidParams", f"a prompt cannot hold this block: {kind}", hint=hint)


def _reference(mention: Mention) -> str:
    from urllib.parse import unquote

    uri, span = mention.uri, mention.range
    path = unquote(split(uri).path) if uri.startswith("file:") else uri
    if not path:
        raise ProtocolError("invalidParams", "every mention needs a uri")
    lines = f"#L{span.start.line + 1}-L{span.end.line + 1}" if span is not None else ""
    return f'@"{path}{lines}"' if " " in path else f"@{path}{lines}"
