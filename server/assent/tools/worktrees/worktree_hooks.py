"""WorktreeCreate and WorktreeRemove: a hook may make the worktree in place of git, and hears when one goes."""

from __future__ import annotations

from assent.types.errors import ToolError
from assent.types.hooks import HookCall, Hooks


async def made_by_hook(hooks: Hooks, *, session_id: str, cwd: str, name: str) -> str | None:
    """The path of the worktree that a hook made; None when no hook did. Raises ToolError when one failed."""
    if not hooks.wants("WorktreeCreate"):
        return None
    call = HookCall(event="WorktreeCreate", session_id=session_id, cwd=cwd, data={"name": name}, detached=True)
    outcomes = await hooks.run(call)
    for outcome in outcomes:
        if outcome.status != "success" or outcome.exit_code not in (None, 0):
            raise ToolError(f"A WorktreeCreate hook failed: {outcome.text or outcome.status}")
    if not outcomes:
        return None
    for outcome in reversed(outcomes):
        path = outcome.specific.get("worktreePath")
        if isinstance(path, str) and path.strip():
            return path.strip()
    raise ToolError("A WorktreeCreate hook ran, but named no folder: its last line must be the worktree's path")


async def tell_removed(hooks: Hooks, *, session_id: str, cwd: str, path: str) -> None:
    if hooks.wants("WorktreeRemove"):
        data = {"worktree_path": path}
        call = HookCall(event="WorktreeRemove", session_id=session_id, cwd=cwd, data=data, detached=True)
        await hooks.run(call)
