"""Messages on their way into a session: waiting for a turn of their own, or to be steered into the running one."""

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import anyio

from assent.storage.lines import sanitised
from assent.types.blocks import Json, text_block
from assent.types.errors import ProtocolError
from assent.types.messages import Result

REMEMBERED = 1_000


@dataclass(slots=True, kw_only=True, eq=False)
class Turn:
    """One prompt and what became of it."""

    id: str
    uuid: str  # of the user message
    content: list[Json]
    client_id: str
    spoken: bool = False  # sent as one plain string, not as blocks
    token_budget: int | None = None
    queued: bool = False
    into: "Turn | None" = None  # steered: the running turn it is meant for, until that has ended without it
    result: Result | None = None
    started: anyio.Event = field(default_factory=anyio.Event)  # turnStarted is out
    done: anyio.Event = field(default_factory=anyio.Event)

    @property
    def runs_in(self) -> str:
        """The id of the turn that answers it, as far as one can tell now."""
        return self.id if self.into is None else self.into.id

    @property
    def prompt(self) -> str | list[Json]:
        """As it was sent: whoever sent a string is told of a string."""
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
    def from_json(cls, saved: Json) -> "Turn":
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

    message: Turn
    taken: bool = False


class Inbox:
    """Order is the order of arrival. `kept` holds what waited when its turns were interrupted or its process ended:
    a message in there starts only when its sender sends it again, by its id."""

    def __init__(self) -> None:
        self.waiting: deque[Turn] = deque()
        self.steering: list[Steered] = []
        self.kept: list[Turn] = []
        self._sent: OrderedDict[str, tuple[Turn, bool]] = OrderedDict()

    def known(self, client_id: str | None) -> tuple[Turn, bool] | None:
        """What an earlier send with this id brought, and whether it was answered as queued."""
        return self._sent.get(client_id) if client_id else None

    def remember(self, client_id: str, turn: Turn, *, queued: bool) -> None:
        self._sent[client_id] = (turn, queued)
        while len(self._sent) > REMEMBERED:
            self._sent.popitem(last=False)

    def ids(self) -> list[str]:
        steered = [item.message.client_id for item in self.steering if not item.taken]
        return [*(turn.client_id for turn in self.kept), *steered, *(turn.client_id for turn in self.waiting)]

    def unsaid(self) -> list[Turn]:
        """Everything that no turn has taken up, in order: what must outlive the process."""
        steered = [item.message for item in self.steering if not item.taken]
        return [*self.kept, *steered, *self.waiting]

    def keep(self) -> list[Turn]:
        """The person stopped: nothing that waits now starts by itself. Returns what is kept from now on."""
        steered = [item for item in self.steering if not item.taken]
        for item in steered:
            item.message.into = None
        self.steering = [item for item in self.steering if item.taken]
        newly = [*(item.message for item in steered), *self.waiting]
        self.waiting.clear()
        self.kept += newly
        return newly

    def send_kept(self, turn: Turn) -> bool:
        """Let a kept message wait for its turn again; whether it was kept."""
        if turn not in self.kept:
            return False
        self.kept.remove(turn)
        self.waiting.append(turn)
        return True

    def withdraw(self, client_id: str) -> Turn | None:
        """Take a message back that nobody has taken up yet."""
        untaken = [item.message for item in self.steering if not item.taken]
        queued = [turn for turn in self.waiting if turn.queued]
        found = next((turn for turn in (*self.kept, *untaken, *queued) if turn.client_id == client_id), None)
        return found if found is not None and self.drop(found) else None

    def drop(self, turn: Turn) -> bool:
        """Forget a message unless it was taken up; whether it was still here."""
        for place in (self.waiting, self.kept):
            if turn in place:
                place.remove(turn)
                return True
        left = [item for item in self.steering if item.taken or item.message is not turn]
        found, self.steering = len(left) < len(self.steering), left
        return found

    def shown(self) -> list[Json]:
        """What waits, in the words it was sent with, for a client that was not there when it was."""
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

    def take_steered(self) -> list[Turn]:
        taken = [item.message for item in self.steering if not item.taken]
        for item in self.steering:
            item.taken = True
        return taken

    def end_steering(self) -> list[Turn]:
        """The turn is over: what it took is complete; what it did not take waits for a turn of its own, first."""
        done = [item.message for item in self.steering if item.taken]
        left = [item.message for item in self.steering if not item.taken]
        for message in left:
            message.into = None
        self.steering.clear()
        self.waiting.extendleft(reversed(left))
        return done


def prompt_blocks(prompt: object, mentions: Sequence[Any] = ()) -> list[Json]:
    """The content of a user message: text or blocks, cleaned, with the editor's mentions as @-references."""
    if isinstance(prompt, str):
        blocks: list[Json] = [text_block(prompt)] if prompt else []
    elif isinstance(prompt, list) and all(isinstance(block, dict) for block in cast("list[object]", prompt)):
        blocks = [dict(block) for block in cast("list[Json]", prompt)]
    else:
        raise ProtocolError("invalidParams", "prompt must be a string or a list of content blocks")
    for block in blocks:
        _check(block)
    words = [_mention(mention) for mention in mentions]
    if words:
        blocks.append(text_block(" ".join(words)))
    if not any(block.get("type") != "text" or str(block.get("text", "")).strip() for block in blocks):
        raise ProtocolError("invalidParams", "the prompt is empty", hint="Type a message first.")
    return cast("list[Json]", sanitised(blocks))


def _check(block: Json) -> None:
    """A block the model's endpoint refuses would stay in the history and fail every later turn: refuse it here."""
    match block:
        case {"type": "text", "text": str()} | {"type": "image" | "document", "source": {"type": str()}}:
            return
        case _:
            kind = str(block.get("type"))[:40]
            hint = 'Send {"type": "text", "text": …}, or an image or document with its source.'
            raise ProtocolError("invalidParams", f"a prompt cannot hold this block: {kind}", hint=hint)


def _mention(mention: Any) -> str:
    from urllib.parse import unquote, urlsplit

    uri = str(mention.get("uri", "")) if isinstance(mention, dict) else ""  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] -- straight from the wire
    path = unquote(urlsplit(uri).path) if uri.startswith("file:") else uri
    if not path:
        raise ProtocolError("invalidParams", "every mention needs a uri")
    span = cast("Json", mention).get("range")
    lines = f"#L{span['start']['line'] + 1}-L{span['end']['line'] + 1}" if isinstance(span, dict) else ""
    return f'@"{path}{lines}"' if " " in path else f"@{path}{lines}"
