"""What the user took out of the model's view (C2): always visible to people, kept in the transcript, and undoable.

The engine cuts its view; here are the ids, the records in the file and the events.
"""

from __future__ import annotations

from typing import Protocol, cast

import anyio.to_thread

from assent.sessions.live.record import Record
from assent.sessions.live.turns import Turns
from assent.storage import transcript
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ids import new_id
from assent.types.messages import Tombstone
from assent.wire.events import AnyEvent, Snipped


class SnippedSession(Protocol):
    """What snips use of the session they belong to."""

    @property
    def turns(self) -> Turns: ...
    @property
    def record(self) -> Record: ...
    def publish(self, event: AnyEvent) -> None: ...
    def save_state(self) -> None: ...


class Snips:
    def __init__(self, session: SnippedSession) -> None:
        self._session = session
        self._snips: dict[str, list[str]] = {}

    def to_json(self) -> Json:
        return dict(self._snips)

    def restore(self, saved: object) -> None:
        self._snips = dict(cast("dict[str, list[str]]", saved)) if isinstance(saved, dict) else {}

    async def snip(self, message_ids: list[str], *, dry_run: bool) -> tuple[str, int]:
        """The id of the snip and the tokens it frees; with `dry_run` nothing changes and the id is empty."""
        session = self._session
        with session.turns.held():
            engine = await session.turns.engine()
            known = {message.uuid for message in engine.messages}
            if unknown := [each for each in message_ids if each not in known]:
                hint = "assent/session/attach names the messages."
                raise ProtocolError("invalidParams", f"There is no message {unknown[0]} in this session", hint=hint)
            freed = engine.snip_now(message_ids, dry_run=dry_run)
            if dry_run:
                return "", freed
            snip_id = new_id("n")
            self._snips[snip_id] = list(message_ids)
            session.record.append(Tombstone(message_uuids=tuple(message_ids), reason="snip"))
            session.save_state()
            await session.record.durable()
        session.publish(Snipped(snip_id=snip_id, message_ids=message_ids, tokens_freed=freed, by="user"))
        return snip_id, freed

    async def unsnip(self, snip_id: str) -> None:
        session = self._session
        uuids = self._snips.get(snip_id)
        if uuids is None:
            raise ProtocolError("invalidParams", f"There is no snip {snip_id} in this session")
        with session.turns.held():
            engine = await session.turns.engine()
            del self._snips[snip_id]
            session.record.note("unsnip", messageIds=uuids)
            session.save_state()
            await session.record.durable()
            loaded = await anyio.to_thread.run_sync(transcript.load, session.record.path)
            engine.reset_view(snipped=loaded.snipped, collapsed=loaded.collapsed)
        session.publish(Snipped(snip_id=snip_id, message_ids=[], tokens_freed=0, by="user"))
