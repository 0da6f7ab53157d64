"""What the program gives to the language server. `app.py` fills this in; handlers reach it as `ls.app`.

    serve_stdio(build, preload=load) -> exit code

`preload()` runs in a thread right after `initialize` was answered: it imports what is slow to import. Then
`build(client, editor)` runs once, on the event loop; what it returns serves every message the client sends.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assent.types.blocks import Json

if TYPE_CHECKING:
    from assent.editor.client_edits import ClientEdits
    from assent.editor.editor import EditorSide
    from assent.lsp.client import ConnectedClient
    from assent.sessions.hub import Sessions
    from assent.sessions.mcp import Mcp
    from assent.sessions.stream.front import Front
    from assent.storage.settings import SettingsFiles
    from assent.storage.trust import TrustStore
    from assent.wire.roster import Missed


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    sessions: "Sessions"
    editor: "EditorSide"
    settings: "SettingsFiles"
    trust: "TrustStore"
    status: Callable[[], Json]  # the part of `assent/status` that only the app knows: model, offline, credentials, …
    explain: Callable[[Json], Awaitable[Json]]  # `assent/permission/explain`, shared with the command line
    check_key: Callable[[str | None], Awaitable[Json]]  # `assent/credentials/check`
    offered_models: Callable[[str, bool], Awaitable[Json]]  # `assent/model/list` in a folder; True asks anew
    mcp: "Mcp"  # the configured MCP servers of every folder
    running: AbstractAsyncContextManager[Any]
    """While entered, sessions can run and files are watched. Leaving ends turns and every process; about a second."""
    warm_up: Callable[[], None]  # imports what the first turn needs; runs in a thread and may take seconds
    # Of a program that serves several clients; one that serves a single client ends with it.
    shared: bool = False
    joined: Callable[["Front"], None] = lambda _front: None  # how sessions know this client
    left: Callable[["Front"], None] = lambda _front: None  # it is gone; what it was asked stays open
    missed: Callable[[], "Missed | None"] = lambda: None  # what went on while nobody was here
    acted: Callable[[], None] = lambda: None  # its person did something: edits land where people are


Build = Callable[["ConnectedClient", "ClientEdits"], Backend]
"""(what the client said, the editor's side of documents) → the program behind the wire."""
