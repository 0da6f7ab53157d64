"""A workspace that remembers what files were before the agent changed them (S3)."""

from collections.abc import Callable, Mapping
from functools import partial

import anyio.to_thread

from assent.storage.history import FileHistory
from assent.types.errors import ToolError
from assent.types.ports import EditOutcome, EditPlan, FileText, Workspace

IN_A_THREAD = 256 * 1024  # characters: copying more than this would be felt by whoever is typing


class TrackedWorkspace:
    """Any workspace, with a snapshot before each edit and a note of what the edit left."""

    def __init__(
        self, inner: Workspace, history: FileHistory, *, at: Callable[[], int], turn_id: Callable[[], str]
    ) -> None:
        self._inner = inner
        self._history = history
        self._at = at
        self._turn_id = turn_id

    async def read(self, path: str) -> FileText:
        return await self._inner.read(path)

    async def apply(self, plan: EditPlan) -> EditOutcome:
        await self._remember(plan)
        outcome = await self._inner.apply(plan)
        self._history.after(outcome.path, outcome.after or await self._now(outcome.path))
        return outcome

    async def _remember(self, plan: EditPlan) -> None:
        before = partial(
            self._history.before,
            plan.path,
            plan.before,
            at=self._at(),
            turn_id=self._turn_id(),
            tool_use_id=plan.tool_use_id,
        )
        try:
            if plan.before is not None and len(plan.before.text) > IN_A_THREAD:
                await anyio.to_thread.run_sync(before)
            else:
                before()
        except OSError as error:
            why = error.strerror or str(error)
            raise ToolError(f"{plan.path} was not changed: what it is now could not be saved first ({why})") from None

    async def settled(self, path: str) -> None:
        """Hunks of this file were decided outside a tool call: note what that left."""
        self._history.after(path, await self._now(path))

    async def save_barrier(self) -> str:
        return await self._inner.save_barrier()

    def unsaved(self) -> Mapping[str, str]:
        return self._inner.unsaved()

    async def _now(self, path: str) -> FileText | None:
        try:
            return await self._inner.read(path)
        except ToolError:
            return None
