"""EditorWorkspace: signatures first. One per session, made by `Editor.workspace`."""

from assent.types.ports import EditOutcome, EditPlan, FileText


class EditorWorkspace:
    """types.ports.Workspace over open buffers, with the disk beneath."""

    async def read(self, path: str) -> FileText: ...
    async def apply(self, plan: EditPlan, *, proposal_id: str | None = None) -> EditOutcome: ...
    async def save_barrier(self) -> str: ...
