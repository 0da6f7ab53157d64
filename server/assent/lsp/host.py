"""What the language server and the rest of the program need of each other. `app.py` is written against this page.

    serve_stdio(build, preload=load) -> exit code

`preload()` runs in a thread right after `initialize` was answered: it imports what is slow to import. Then
`build(host)` runs once, on the event loop; what it returns serves every message the client sends after `initialize`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

from assent.types.blocks import Json

if TYPE_CHECKING:
    from assent.editor.client import ClientEdits
    from assent.editor.editor import Editor
    from assent.sessions.hub import Sessions
    from assent.storage.settings import SettingsFiles
    from assent.storage.trust import TrustStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What the client told us and can do for us, for `build`."""

    client: "ClientEdits"  # the editor's side of documents: give it to `Editor`
    roots: Callable[[], tuple[str, ...]]  # absolute paths of the workspace folders, as they are now
    encoding: str  # the negotiated position encoding: "utf-16" or "utf-8" or "utf-32"
    settings: Json  # initializationOptions.assent.settings
    api_key: str | None  # initializationOptions.assent.apiKey: from the editor's secret store, never from its settings
    trusted: bool | None  # initializationOptions.assent.trusted: the client vouches for its workspace, or not


class App(Protocol):
    """The program behind the wire, wired together by `app.py`."""

    @property
    def sessions(self) -> "Sessions": ...
    @property
    def editor(self) -> "Editor": ...
    @property
    def settings(self) -> "SettingsFiles": ...
    @property
    def trust(self) -> "TrustStore": ...

    def status(self) -> Json:
        """The part of `assent/status` that only the app knows: {model, offline, credentials, warnings}."""
        ...

    async def explain(self, params: Json) -> Json:
        """`assent/permission/explain`; shared with `assent explain` on the command line."""
        ...

    def mcp_servers(self, cwd: str) -> list[Json]:
        """[{name, status}] of the configured MCP servers."""
        ...

    async def mcp_restart(self, name: str, cwd: str) -> None: ...

    async def __aenter__(self) -> Self:
        """Sessions can run, files are watched. Entered and left by one task."""
        ...

    async def __aexit__(self, *exc: object) -> bool | None:
        """End turns and every process we started; transcripts are whole afterwards. Has about a second."""
        ...

    def warm_up(self) -> None:
        """Import what the first turn needs. Runs in a thread, after everything else is ready; may take seconds."""
        ...


Build = Callable[[Host], App]


def nothing() -> Any:
    return None
