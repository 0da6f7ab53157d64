"""What the ACP agent and the rest of the program need of each other. `app.py` is written against this page.

Imports nothing of the protocol's library: the program can be wired, and say what is missing, without it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from assent.types.blocks import Json
from assent.types.ports import TerminalClient, ToolCall, Workspace

if TYPE_CHECKING:
    from assent.sessions.hub import Sessions
    from assent.storage.settings import SettingsFiles
    from assent.storage.trust import TrustStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAccess:
    """What the client can do for us, for `build`."""

    workspace: Callable[[Workspace, Callable[[], str]], Workspace]  # (the disk, the session's id): its files
    terminal: Callable[[str], TerminalClient]  # (the session's id): its terminals
    judging: Callable[[str, ToolCall], None]  # told of every call that is about to be judged, and whose it is


class ServingApp(Protocol):
    """The program behind the wire, wired together by `app.py`."""

    @property
    def sessions(self) -> "Sessions": ...
    @property
    def settings(self) -> "SettingsFiles": ...
    @property
    def trust(self) -> "TrustStore": ...

    async def offered_models(self, cwd: str, refresh: bool) -> Json:
        """What `assent/model/list` answers."""
        ...

    def status(self) -> Json:
        """{model, offline, credentials, warnings}"""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None: ...

    def warm_up(self) -> None:
        """Import what the first turn needs. Runs in a thread."""
        ...


Build = Callable[[ClientAccess], ServingApp]
