"""`assent/status`: the state of the whole server in one notification, sent when it changes."""

from collections.abc import Callable
from typing import Any, cast

from assent.lsp.client import ConnectedClient
from assent.lsp.rpc.peer import Peer
from assent.types.blocks import Json

_BUSIEST = ("waiting", "compacting", "running", "idle")


class StatusBoard:
    """`facts` gives what only the app knows; `trust` gives the workspace folders and whether each is trusted."""

    def __init__(
        self, peer: Peer, client: ConnectedClient, *, facts: Callable[[], Json], trust: Callable[[], list[Json]]
    ) -> None:
        self._peer = peer
        self._client = client
        self._facts = facts
        self._trust = trust
        self._states: dict[str, str] = {}  # by session
        self._sent: Json | None = None

    def on_event(self, params: Json) -> None:
        event = cast("Json", params["event"])
        if event.get("type") == "status":
            self._states[params["sessionId"]] = str(event.get("state"))
            self.publish()
        elif event.get("type") in ("permissionPending", "elicitationPending"):
            self._states[params["sessionId"]] = "waiting"
            self.publish()

    @property
    def state(self) -> str:
        return next((state for state in _BUSIEST if state in self._states.values()), "idle")

    def publish(self) -> None:
        """Send the status if the client wants it and it differs from the last one."""
        if not self._client.speaks_assent:
            return
        facts = self._facts()
        warnings: list[Any] = [*self._client.warnings, *facts.get("warnings", [])]
        status: Json = {
            "state": self.state,
            "model": facts.get("model", ""),
            "offline": bool(facts.get("offline")),
            "credentials": facts.get("credentials", "none"),
            "trust": self._trust(),
            "warnings": warnings,
        }
        if status != self._sent:
            self._sent = status
            self._peer.notify("assent/status", status)
