"""Files in memory, as the `Workspace` under the editor."""

import hashlib

import anyio

from assent.types.errors import FileMissing, ToolError
from assent.types.ports import EditOutcome, EditPlan, FileText


class MemoryDisk:
    def __init__(self, files: dict[str, str] | None = None) -> None:
        self.files = dict(files or {})
        self.writes: list[str] = []
        self.held: anyio.Event | None = None  # writes wait for it, as they do on a slow disk

    async def read(self, path: str) -> FileText:
        if path not in self.files:
            raise FileMissing(f"{path} does not exist")
        text = self.files[path]
        return FileText(path=path, text=text, sha256=_sha(text), mtime_ns=len(self.writes))

    async def apply(self, plan: EditPlan) -> EditOutcome:
        if self.held is not None:
            await self.held.wait()
        if plan.before is None and plan.path in self.files:
            raise ToolError(f"{plan.path} exists now")
        if plan.before is not None and (
            plan.path not in self.files or _sha(self.files[plan.path]) != plan.before.sha256
        ):
            raise ToolError(f"{plan.path} changed since it was read")
        self.files[plan.path] = plan.new_text
        self.writes.append(plan.path)
        return EditOutcome(path=plan.path, after=await self.read(plan.path))

    async def save_barrier(self) -> str:
        return ""

    def unsaved(self) -> dict[str, str]:
        return {}


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
