"""`assent/status`: one line about the whole server, sent when it changes."""

from typing import TYPE_CHECKING, Any, cast

from assent.lsp import trust
from assent.types.blocks import Json

if TYPE_CHECKING:
    from assent.lsp.connection import Connection

_BUSIEST = ("waiting", "compacting", "running", "idle")


class StatusBoard:
    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._states: dict[str, str] = {}  # by session
        self._sent: Json | None = None

    def heard(self, params: Json) -> None:
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
        """Send the status if the client wants it and it says something new."""
        connection = self._connection
        if not connection.client.speaks_assent:
            return
        known = connection.app.status()
        warnings: list[Any] = [*connection.client.warnings, *known.get("warnings", [])]
        status: Json = {
            "state": self.state,
            "model": known.get("model", ""),
            "offline": bool(known.get("offline")),
            "credentials": known.get("credentials", "none"),
            "trust": trust.folders(connection),
            "warnings": warnings,
        }
        if status != self._sent:
            self._sent = status
            connection.peer.notify("assent/status", status)
