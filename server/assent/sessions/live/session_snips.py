"""The snips of a session (C2): messages that left the model's view, still shown to people, and undoable.

The engine changes its view; this module keeps the ids, the records in the file and the events of all snips.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from typing import Protocol

import anyio.to_thread
import msgspec

from assent.engine.query_engine import QueryEngine
from assent.sessions.live.record import Record
from assent.sessions.live.turns import SessionTurns
from assent.storage import transcript
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ids import new_id
from assent.types.messages import (
    AssistantMessage,
    CompactBoundary,
    ConversationMessage,
    Message,
    SnippedBy,
    Tombstone,
)
from assent.wire.events import AnyEvent, Snipped
from assent.wire.results import SnipState


@dataclass(frozen=True, slots=True, kw_only=True)
class SnipRecord:
    message_ids: tuple[str, ...]
    tokens_freed: int = 0
    by: SnippedBy = "user"
    why: str = ""


class SnippedSession(Protocol):
    """What snips use of the session they belong to."""

    @property
    def turns(self) -> SessionTurns: ...
    @property
    def record(self) -> Record: ...
    def publish(self, event: AnyEvent) -> None: ...
    def save_state(self) -> None: ...


class Snips:
    def __init__(self, session: SnippedSession) -> None:
        self._session = session
        self._snips: dict[str, SnipRecord] = {}
        self.offered: list[str] = []  # messages that the user was shown under numbers, in this order

    def to_json(self) -> Json:
        return {id: asdict(snip) for id, snip in self._snips.items()}

    def restore(self, saved: object) -> None:
        with contextlib.suppress(msgspec.ValidationError):
            self._snips = msgspec.convert(saved or {}, dict[str, SnipRecord])

    def listed(self) -> list[SnipState]:
        """Those in force, the oldest first."""
        return [
            SnipState(
                snip_id=id,
                message_ids=list(each.message_ids),
                tokens_freed=each.tokens_freed,
                by=each.by,
                reason=each.why or None,
            )
            for id, each in self._snips.items()
        ]

    def observed(self, message: Message) -> None:
        """The engine snips by itself too: these can be taken back like the user's own."""
        if isinstance(message, Tombstone) and message.reason == "snip" and message.snip_id:
            self._snips[message.snip_id] = SnipRecord(
                message_ids=message.message_uuids, tokens_freed=message.tokens_freed, by=message.by, why=message.why
            )
            self._session.save_state()
        elif isinstance(message, CompactBoundary) and self._snips:
            self._snips.clear()  # the view began anew: nothing of before can come back
            self._session.save_state()

    async def snip(self, ids: Collection[str], *, dry_run: bool) -> tuple[str, int]:
        """The id of the snip and the tokens it frees; with `dry_run` nothing changes and the id is empty.

        `ids` name messages, or calls. While a turn runs they leave the model's view before its next call.
        """
        turns = self._session.turns
        if turns.current is not None:
            return await self._cut(await turns.ready_engine(), ids, dry_run=dry_run, running=True)
        with turns.held():
            return await self._cut(await turns.ready_engine(), ids, dry_run=dry_run, running=False)

    async def _cut(self, engine: QueryEngine, ids: Collection[str], *, dry_run: bool, running: bool) -> tuple[str, int]:
        session = self._session
        uuids = _named(engine.messages, ids)
        if running and session.turns.current is not None and session.turns.current.uuid in uuids:
            raise ProtocolError("invalidParams", "The model is answering this prompt", hint="Interrupt the turn first.")
        freed = engine.snip_now(uuids, dry_run=dry_run or running)
        if dry_run:
            return "", freed
        if not freed:
            raise ProtocolError("invalidParams", "The model does not see these messages any more")
        snip_id = new_id("n")
        if running:
            engine.snip(uuids, snip_id=snip_id, told=True)
        self._snips[snip_id] = SnipRecord(message_ids=tuple(uuids), tokens_freed=freed)
        session.record.append(
            Tombstone(message_uuids=tuple(uuids), reason="snip", snip_id=snip_id, by="user", tokens_freed=freed)
        )
        session.save_state()
        await session.record.durable()
        session.publish(Snipped(snip_id=snip_id, message_ids=list(uuids), tokens_freed=freed, by="user"))
        return snip_id, freed

    async def unsnip(self, snip_id: str) -> None:
        if snip_id not in self._snips:
            raise ProtocolError("invalidParams", f"There is no snip {snip_id} in this session")
        with self._session.turns.held():
            await self._take_back(snip_id)

    async def undo(self) -> SnipRecord | None:
        """Undo the newest snip, from inside a command's turn; None without snips."""
        newest = next(reversed(self._snips), None)
        if newest is None:
            return None
        snip = self._snips[newest]
        await self._take_back(newest)
        return snip

    async def _take_back(self, snip_id: str) -> None:
        session = self._session
        engine = await session.turns.ready_engine()
        uuids = list(self._snips.pop(snip_id).message_ids)
        session.record.note("unsnip", messageIds=uuids)
        session.save_state()
        await session.record.durable()
        loaded = await anyio.to_thread.run_sync(transcript.load, session.record.path)
        engine.unsnip(uuids, snipped=loaded.snipped, collapsed=loaded.collapsed)
        session.publish(Snipped(snip_id=snip_id, message_ids=[], tokens_freed=0, by="user"))


def _named(messages: Iterable[ConversationMessage], ids: Collection[str]) -> list[str]:
    """The uuids of the messages that are meant; one that is not there is an error."""
    uuids: set[str] = set()
    by_call: dict[str, str] = {}
    for message in messages:
        uuids.add(message.uuid)
        if isinstance(message, AssistantMessage):
            by_call |= {str(b.get("id")): message.uuid for b in message.content if b.get("type") == "tool_use"}
    found: dict[str, None] = {}
    for each in ids:
        uuid = each if each in uuids else by_call.get(each)
        if uuid is None:
            hint = "assent/session/attach names the messages."
            raise ProtocolError("invalidParams", f"There is no message {each} in this session", hint=hint)
        found[uuid] = None
    return list(found)
