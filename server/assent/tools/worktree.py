"""EnterWorktree and ExitWorktree: work on a branch of its own, in a git worktree inside the repository's folder."""

import os
import re
from pathlib import Path
from typing import Annotated, ClassVar

import anyio
from msgspec import Meta

from assent.tools.process.environment import child_environment, hardened
from assent.tools.process.jobs import ShellJobs
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.errors import ToolError
from assent.types.ids import new_id
from assent.types.permissions import Action

FOLDER = ".worktrees"
_SECONDS = 60
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK")  # what git needs to know


class EnterWorktreeInput(Input, frozen=True):
    name: Annotated[str | None, Meta(description="Names the folder and the branch; made up unless given.")] = None


class EnterWorktree(Tool[EnterWorktreeInput]):
    name: ClassVar[str] = "EnterWorktree"
    input_type: ClassVar[type[Input]] = EnterWorktreeInput

    def description(self) -> str:
        return (
            "Make a git worktree with a new branch and work there from now on, so that the user's own checkout stays "
            "as it is. Only when the user asks for a worktree."
        )

    def title(self, input: EnterWorktreeInput) -> str:
        return f"Enter worktree {input.name or ''}".rstrip()

    def action(self, input: EnterWorktreeInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), writes=(f"{cwd}/{FOLDER}",))

    async def call(self, input: EnterWorktreeInput, ctx: ToolContext) -> ToolOutput:
        if ctx.state.worktree is not None:
            raise ToolError(f"You are in the worktree {ctx.state.worktree} already; leave it first")
        name = input.name or new_id("w")
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}", name) or name.endswith((".lock", ".")) or ".." in name:
            raise ToolError("A worktree's name has letters, digits, dots, dashes and underscores only")
        root = await _git(ctx, "rev-parse", "--show-toplevel")
        folder = Path(root) / FOLDER
        await anyio.to_thread.run_sync(_make_folder, folder)
        path = str(folder / name)
        await _git(ctx, "worktree", "add", "-b", f"worktree/{name}", "--", path)
        ctx.state.worktree = path
        ctx.state.cwd = path
        ctx.state.on_change("worktree")
        ctx.state.on_change("cwd")
        return ToolOutput(
            content=f"Working in {path} on the branch worktree/{name} now. Leave with ExitWorktree.", summary=path
        )


class ExitWorktreeInput(Input, frozen=True):
    remove: Annotated[bool, Meta(description="Remove the folder; the branch stays.")] = False
    discard_changes: Annotated[bool, Meta(description="Remove it even with uncommitted changes, which are lost.")] = (
        False
    )


class ExitWorktree(Tool[ExitWorktreeInput]):
    name: ClassVar[str] = "ExitWorktree"
    input_type: ClassVar[type[Input]] = ExitWorktreeInput

    def description(self) -> str:
        return (
            "Go back from the worktree to the repository itself. With remove, the worktree's folder is removed (not "
            "its branch), unless it holds uncommitted changes."
        )

    def title(self, input: ExitWorktreeInput) -> str:
        return "Leave the worktree" + (", and remove it" if input.remove else "")

    def action(self, input: ExitWorktreeInput, *, cwd: str) -> Action:
        if input.remove:
            return Action(tool=self.name, input=as_json(input), writes=(cwd,))
        return Action(tool=self.name, input=as_json(input), harmless=True)

    async def call(self, input: ExitWorktreeInput, ctx: ToolContext) -> ToolOutput:
        path = ctx.state.worktree
        if path is None:
            raise ToolError("You are in no worktree")
        root = str(Path(path).parents[1])
        if input.remove and not input.discard_changes and (await _git(ctx, "status", "--porcelain", cwd=path)):
            raise ToolError(f"{path} holds uncommitted changes. Commit them, or set discard_changes to lose them")
        ctx.state.worktree = None
        ctx.state.cwd = root
        ctx.state.on_change("worktree")
        ctx.state.on_change("cwd")
        if not input.remove:
            return ToolOutput(content=f"Back in {root}. The worktree stays at {path}.", summary=root)
        await _git(ctx, "worktree", "remove", *(["--force"] if input.discard_changes else []), "--", path, cwd=root)
        return ToolOutput(content=f"Back in {root}. The worktree is removed; its branch stays.", summary=root)


def _make_folder(folder: Path) -> None:
    """It ignores itself, so that it never shows up as a change of the repository."""
    if folder.is_symlink():
        raise ToolError(f"{folder} is a symbolic link; no worktree is made behind it")
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")


async def _git(ctx: ToolContext, *arguments: str, cwd: str | None = None) -> str:
    """What git says, with no hook or helper of the repository run. Raises ToolError with its words."""
    jobs = ctx.jobs if isinstance(ctx.jobs, ShellJobs) else ShellJobs()
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    env = hardened(child_environment(kept), roots=(ctx.cwd, *ctx.roots))
    try:
        process = await jobs.keeper.start(["git", *arguments], cwd=cwd or ctx.cwd, env=env)
        with anyio.move_on_after(_SECONDS):
            await process.ended.wait()
        if not process.ended.is_set():
            await jobs.keeper.stop(process)
            raise ToolError("git took too long")
    finally:
        if jobs is not ctx.jobs:
            with anyio.CancelScope(shield=True):
                await jobs.close()
    said = process.output().decode("utf-8", "replace").strip()
    if process.status != 0:
        raise ToolError(f"git {arguments[0]} failed: {said or process.error}")
    return said
