"""The requests about what a session remembers: rewind, retry, snip, context and cost."""

from collections.abc import Awaitable, Callable
from typing import Any

from assent.sessions.files import rewind
from assent.sessions.library import usage_reports
from assent.sessions.live.session import Session
from assent.sessions.stream.front import Call
from assent.types.errors import ProtocolError
from assent.wire import requests, results
from assent.wire.shapes import Empty, Wire


class HistoryRequests:
    def __init__(self, find: Callable[[str], Awaitable[Session]]) -> None:
        """`find` gives a session by its id, or raises `ProtocolError`."""
        self._find = find
        self.methods: dict[str, Callable[[Any, Call], Awaitable[Wire]]] = {
            "assent/session/rewind": self.rewind,
            "assent/session/retry": self.retry,
            "assent/session/snip": self.snip,
            "assent/session/unsnip": self.unsnip,
            "assent/session/context": self.context,
            "assent/session/cost": self.cost,
        }

    async def rewind(self, params: requests.SessionRewind, call: Call) -> results.Rewound:
        return await rewind.rewind(await self._find(params.session_id), params)

    async def retry(self, params: requests.SessionRef, call: Call) -> results.Sent:
        """Play a turn again that a crash cut short (S4): back to before its prompt, and the same prompt once more."""
        session = await self._find(params.session_id)
        cut = session.interrupted
        if cut is None:
            raise ProtocolError("invalidRequest", "No turn of this session was cut short")
        with session.turns.held():
            session.events.join(call, session.spawn)
            await rewind.drop_turn(session, cut)
            return await session.turns.again(cut["prompt"])

    async def snip(self, params: requests.SessionSnip, call: Call) -> results.Snip:
        session = await self._find(params.session_id)
        snip_id, freed = await session.snips.snip(params.message_ids, dry_run=bool(params.dry_run))
        return results.Snip(snip_id=snip_id, tokens_freed=freed)

    async def unsnip(self, params: requests.SessionUnsnip, call: Call) -> Empty:
        await (await self._find(params.session_id)).snips.unsnip(params.snip_id)
        return Empty()

    async def context(self, params: requests.SessionRef, call: Call) -> results.ContextUsage:
        return await usage_reports.context(await self._find(params.session_id))

    async def cost(self, params: requests.SessionRef, call: Call) -> results.Cost:
        return usage_reports.cost(await self._find(params.session_id))
