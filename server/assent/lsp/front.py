"""The connected editor as sessions see it: takes events, answers asks and elicitations.

A client that claimed an interface is asked through `assent/*`; any other through plain LSP messages (`plain_asks`).
Not aware of what an event means, except to hand a copy to the plain surfaces that listen.
"""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from assent.lsp import plain_asks
from assent.lsp.client import Client
from assent.lsp.rpc import envelope
from assent.lsp.rpc.peer import Peer, RemoteError
from assent.sessions.asking.questions import Questions
from assent.sessions.stream.front import CannotAnswer, FrontFlags
from assent.sessions.stream.published import Published
from assent.types.blocks import Json

Listener = Callable[[Json], None]


class LspFront:
    def __init__(self, peer: Peer, client: Client) -> None:
        self._peer = peer
        self._client = client
        self._questions = Questions()
        self._listeners: list[Listener] = []
        flags = client.flags
        self._flags = FrontFlags(
            permissions=flags.permissions,
            elicitation=flags.elicitation,
            review=flags.review,
            editor_queries=flags.editor_queries,
            save=flags.save,
            partials=flags.partials,
            edit_moved=flags.edit_moved,
            max_event_rate=client.event_rate,
        )

    @property
    def flags(self) -> FrontFlags:
        return self._flags

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def event(self, published: Published) -> None:
        if self._client.speaks_assent:
            self._peer.send(envelope.event_body(published.line), False)
        if published.is_delta or not self._listeners:
            return  # thousands of them, and no surface of ours shows them
        params = published.json()
        for listener in self._listeners:
            listener(params)

    async def ask(self, params: Json) -> Json:
        return await self._questions.put(params["requestId"], self._ask(params))

    async def elicit(self, params: Json) -> Json:
        return await self._questions.put(params["requestId"], self._elicit(params))

    def withdraw(self, request_id: str) -> None:
        if self._client.speaks_assent:
            self._peer.notify("assent/withdrawn", {"requestId": request_id})
        self._questions.withdraw(request_id)  # and tells the client by $/cancelRequest

    async def _ask(self, params: Json) -> Json:
        if self._flags.permissions:
            try:
                return _object(await self._peer.request("assent/permission/ask", params, id=params["requestId"]))
            except RemoteError as error:
                if not error.unknown_method:
                    return {"decision": "deny", "message": f"the editor could not ask: {error}"}
                # The claim was wrong: plain words still reach the person.
        return await self._plain(plain_asks.permission(self._peer, params))

    async def _elicit(self, params: Json) -> Json:
        if self._flags.elicitation:
            try:
                return _object(await self._peer.request("assent/elicit", params, id=params["requestId"]))
            except RemoteError as error:
                if not error.unknown_method:
                    return {"action": "cancel"}
        return await self._plain(plain_asks.elicitation(self._peer, params))

    async def _plain(self, work: Awaitable[Json]) -> Json:
        try:
            return await work
        except RemoteError as error:
            raise CannotAnswer(str(error)) from None


def _object(value: Any) -> Json:
    """An answer that is no object is still an answer: an empty one, which sessions read as a deny."""
    return cast("Json", value) if isinstance(value, dict) else {}
