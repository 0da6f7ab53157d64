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
    from assent.editor.client import ClientEdits
    from assent.editor.editor import Editor
    from assent.lsp.client import Client
    from assent.sessions.hub import Sessions
    from assent.sessions.mcp import Mcp
    from assent.storage.settings import SettingsFiles
    from assent.storage.trust import TrustStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    sessions: "Sessions"
    editor: "Editor"
    settings: "SettingsFiles"
    trust: "TrustStore"
    status: Callable[[], Json]  # the part of `assent/status` that only the app knows: model, offline, credentials, …
    explain: Callable[[Json], Awaitable[Json]]  # `assent/permission/explain`, shared with the command line
    mcp: "Mcp"  # the configured MCP servers of every folder
    running: AbstractAsyncContextManager[Any]
    """While entered, sessions can run and files are watched. Leaving ends turns and every process; about a second."""
    warm_up: Callable[[], None]  # imports what the first turn needs; runs in a thread and may take seconds


Build = Callable[["Client", "ClientEdits"], Backend]
"""(what the client said, the editor's side of documents) → the program behind the wire."""
