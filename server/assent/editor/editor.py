"""One editor, put together: signatures first.

    editor = Editor(client, disk, snapshot=history.snapshot)
    editor.documents   didOpen/didChange/… go here, in order, from lsp/
    editor.proposals   sessions/ proposes, resolves, waits
    editor.workspace(origin=lambda: Origin(...), review=lambda: "before")   → types.ports.Workspace for one session
"""

from collections.abc import Awaitable, Callable

from assent.editor.client import ClientEdits
from assent.editor.documents import Documents
from assent.editor.proposals import Origin, Proposals, Review
from assent.editor.workspace import EditorWorkspace
from assent.types.ports import FileText, Workspace

Snapshot = Callable[[Origin, str, FileText | None], Awaitable[None]]
"""Called before an edit lands: whose edit, the absolute path, the file as it was (None: it did not exist)."""


class Editor:
    documents: Documents
    proposals: Proposals

    def __init__(self, client: ClientEdits, disk: Workspace, *, snapshot: Snapshot | None = None) -> None: ...
    def workspace(self, *, origin: Callable[[], Origin], review: Callable[[], Review]) -> EditorWorkspace: ...
