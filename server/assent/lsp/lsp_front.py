"""The connected editor as sessions see it: takes events, answers asks and elicitations.

A client that claimed an interface is asked through `assent/*`; any other through plain LSP messages (`plain_asks`).
Not aware of what an event means, except to hand a copy to the plain surfaces that listen.
"""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from assent.lsp import plain_asks
from assent.lsp.client import ConnectedClient
from assent.lsp.rpc import envelope
from assent.lsp.rpc.peer import Peer, RemoteError
from assent.sessions.asking.questions import ClientQuestions
from assent.sessions.stream.front import CannotAnswer, FrontFlags
from assent.sessions.stream.published import Published
from assent.types.blocks import Json
from assent.wire.asks import Elicit, PermissionAsk

Listener = Callable[[Json], None]


class LspFront:
    def __init__(self, peer: Peer, client: ConnectedClient) -> None:
        self._peer = peer
        self._client = client
        self._questions = ClientQuestions()
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
            name=client.name,
        )
        self.acted: Callable[[], None] = lambda: None  # the person behind this client answered

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

    async def ask(self, ask: PermissionAsk) -> Json:
        answer = await self._questions.put(ask.request_id, self._ask(ask))
        self.acted()
        return answer

    async def elicit(self, elicit: Elicit) -> Json:
        return await self._questions.put(elicit.request_id, self._elicit(elicit))

    def withdraw(self, request_id: str) -> None:
        if self._client.speaks_assent:
            self._peer.notify("assent/withdrawn", {"requestId": request_id})
        self._questions.withdraw(request_id)  # and tells the client by $/cancelRequest

    async def _ask(self, ask: PermissionAsk) -> Json:
        self._require_request()
        if self._flags.permissions:
            try:
                return _object(await self._peer.request("assent/permission/ask", ask, id=ask.request_id))
            except RemoteError as error:
                if not error.unknown_method:
                    return {"decision": "deny", "message": f"the editor could not ask: {error}"}
                # The claim was wrong: plain words still reach the person.
        return await self._plain(plain_asks.permission(self._peer, ask))

    async def _elicit(self, elicit: Elicit) -> Json:
        self._require_request()
        if self._flags.elicitation:
            try:
                return _object(await self._peer.request("assent/elicit", elicit, id=elicit.request_id))
            except RemoteError as error:
                if not error.unknown_method:
                    return {"action": "cancel"}
        return await self._plain(plain_asks.elicitation(self._peer, elicit))

    def _require_request(self) -> None:
        if self._client.flags.answers_later:
            raise CannotAnswer("its person answers when they choose to")

    async def _plain(self, work: Awaitable[Json]) -> Json:
        try:
            return await work
        except RemoteError as error:
            raise CannotAnswer(str(error)) from None


def _object(value: Any) -> Json:
    """An answer that is no object is still an answer: an empty one, which sessions read as a deny."""
    return cast("Json", value) if isinstance(value, dict) else {}
