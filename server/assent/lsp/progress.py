"""One work-done progress per turn, saying what is happening; cancelling it interrupts the turn.

A tool run under the client's own token reports and is cancelled in the same way.
"""

from collections.abc import Callable, Coroutine
from typing import Any, cast

from assent.lsp.background_work import Spawn
from assent.lsp.client import ConnectedClient
from assent.lsp.rpc.peer import Peer, RemoteError
from assent.types.blocks import Json

_CAPABILITY = "window.workDoneProgress"


class RequestProgress:
    """Progress under a token: the client's own for a request, ours for a turn."""

    def __init__(self, peer: Peer, token: str | int, *, title: str) -> None:
        self._peer = peer
        self._token = token
        self._said = ""
        self._send({"kind": "begin", "title": title, "cancellable": True})

    def report(self, text: str) -> None:
        line = text.strip().splitlines()[-1][:120] if text.strip() else ""
        if line and line != self._said:
            self._said = line
            self._send({"kind": "report", "message": line})

    def end(self, text: str = "") -> None:
        self._send({"kind": "end", **({"message": text} if text else {})})

    def _send(self, value: Json) -> None:
        self._peer.notify("$/progress", {"token": self._token, "value": value})


class TurnProgress:
    def __init__(
        self,
        peer: Peer,
        client: ConnectedClient,
        *,
        interrupt: Callable[[str], Coroutine[Any, Any, Any]],
        spawn: Spawn,
    ) -> None:
        self._peer = peer
        self._client = client
        self._interrupt = interrupt  # a session, by its id
        self._spawn = spawn
        self._turns: dict[str, RequestProgress] = {}  # by turnId, which is the token too
        self._sessions: dict[str, str] = {}  # turnId → sessionId
        self._unfinished: dict[str, str] = {}  # being created: turnId → what to say first
        self._requests: dict[str | int, tuple[RequestProgress, Callable[[], None]]] = {}  # by the client's token

    def of_request(self, token: str | int, *, title: str, cancel: Callable[[], None]) -> RequestProgress:
        progress = RequestProgress(self._peer, token, title=title)
        self._requests[token] = (progress, cancel)
        return progress

    def end_request(self, token: str | int) -> None:
        if (known := self._requests.pop(token, None)) is not None:
            known[0].end()

    def on_event(self, params: Json) -> None:
        turn_id = params.get("turnId")
        if turn_id is None or not self._client.can(_CAPABILITY):
            return
        event = cast("Json", params["event"])
        match event.get("type"):
            case "turnStarted":
                self._sessions[turn_id] = params["sessionId"]
                self._unfinished[turn_id] = "Thinking"
                self._spawn(self._create(turn_id))
            case "turnFinished":
                self._finish(turn_id)
            case _:
                if text := _message(event):
                    self._say(turn_id, text)

    def cancelled(self, params: Any) -> None:
        token = cast("Json", params).get("token") if isinstance(params, dict) else None
        if isinstance(token, str | int) and (known := self._requests.get(token)) is not None:
            known[1]()
            return
        session_id = self._sessions.get(token) if isinstance(token, str) else None
        if session_id is not None:
            self._spawn(self._interrupt(session_id))

    async def _create(self, turn_id: str) -> None:
        try:
            await self._peer.request("window/workDoneProgress/create", {"token": turn_id})
        except RemoteError:
            self._unfinished.pop(turn_id, None)
            return
        text = self._unfinished.pop(turn_id, None)
        if text is not None:  # else the turn was over before the client had made its progress
            progress = RequestProgress(self._peer, turn_id, title="Assent")
            self._turns[turn_id] = progress
            progress.report(text)

    def _say(self, turn_id: str, text: str) -> None:
        if turn_id in self._unfinished:
            self._unfinished[turn_id] = text
        elif progress := self._turns.get(turn_id):
            progress.report(text)

    def _finish(self, turn_id: str) -> None:
        self._unfinished.pop(turn_id, None)
        self._sessions.pop(turn_id, None)
        if progress := self._turns.pop(turn_id, None):
            progress.end()


def _message(event: Json) -> str:
    match event.get("type"):
        case "stepStarted":
            return "Thinking"
        case "toolStarted":
            return str(event.get("title") or event.get("tool"))
        case "permissionPending" | "elicitationPending":
            return "Waiting for you"
        case "retrying":
            return f"The model is busy; trying again ({event.get('attempt')} of {event.get('maxAttempts')})"
        case "compacting":
            return "Making room in the conversation"
        case _:
            return ""
