"""EnterWorktree and ExitWorktree: work on a branch of its own, in a git worktree inside the repository's folder."""

import re
from pathlib import Path
from typing import Annotated, ClassVar

import anyio
import anyio.to_thread
from msgspec import Meta

from assent.tools.process.git_output import Git
from assent.tools.process.jobs import ShellJobs
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.tools.worktrees.worktree_hooks import made_by_hook, tell_removed
from assent.tools.worktrees.worktree_records import FOLDER, make_folder
from assent.types.errors import ToolError
from assent.types.ids import new_id
from assent.types.permissions import Action


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
        path = await made_by_hook(ctx.services.hooks, session_id=ctx.session_id, cwd=ctx.cwd, name=name)
        branch = ""
        if path is not None:
            if not path.startswith("/") or not await anyio.Path(path).is_dir():
                raise ToolError(f"The WorktreeCreate hook named {path!r}, which is not the absolute path of a folder")
            where = f"Working in {path} now, which a hook made."
        else:
            root = await _git(ctx, "rev-parse", "--show-toplevel")
            folder = Path(root) / FOLDER
            try:
                await anyio.to_thread.run_sync(make_folder, folder)
            except OSError as error:
                raise ToolError(f"No worktree could be made: {error}") from None
            path = str(folder / name)
            branch = f"worktree/{name}"
            await _git(ctx, "worktree", "add", "-b", branch, "--", path)
            where = f"Working in {path} on the branch {branch} now."
        ctx.state.worktree_of = ctx.cwd
        ctx.state.worktree = path
        ctx.state.cwd = path
        ctx.state.on_change("worktree")
        ctx.state.on_change("cwd")
        message = f"{where} Leave with ExitWorktree."
        said = {"worktreePath": path, "message": message, **({"worktreeBranch": branch} if branch else {})}
        return ToolOutput(content=message, summary=path, response=lambda: said)


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
        ours = Path(path).parent.name == FOLDER
        root = str(Path(path).parents[1]) if ours else ctx.state.worktree_of or ctx.cwd
        checked = input.remove and not input.discard_changes and ours
        if checked and (await _git(ctx, "status", "--porcelain", cwd=path)):
            raise ToolError(f"{path} holds uncommitted changes. Commit them, or set discard_changes to lose them")
        ctx.state.worktree = None
        ctx.state.cwd = root
        ctx.state.on_change("worktree")
        ctx.state.on_change("cwd")
        if not input.remove:
            return _left(f"Back in {root}. The worktree stays at {path}.", "keep", root, path)
        await tell_removed(ctx.services.hooks, session_id=ctx.session_id, cwd=root, path=path)
        if not ours:
            return _left(f"Back in {root}. The worktree {path} was left to its hook.", "remove", root, path)
        await _git(ctx, "worktree", "remove", *(["--force"] if input.discard_changes else []), "--", path, cwd=root)
        return _left(f"Back in {root}. The worktree is removed; its branch stays.", "remove", root, path)


def _left(message: str, action: str, root: str, path: str) -> ToolOutput:
    said = {"action": action, "originalCwd": root, "worktreePath": path, "message": message}
    return ToolOutput(content=message, summary=root, response=lambda: said)


async def _git(ctx: ToolContext, *arguments: str, cwd: str | None = None) -> str:
    """What git says, with no hook, helper or filter of the repository run. Raises ToolError with its words."""
    jobs = ctx.jobs if isinstance(ctx.jobs, ShellJobs) else ShellJobs()
    try:
        git = Git(jobs.keeper, ctx.roots)
        if arguments[0] != "rev-parse":  # all else looks into files or writes them out
            git = await git.unfiltered(cwd or ctx.cwd)
        return await git.text(*arguments, cwd=cwd or ctx.cwd)
    finally:
        if jobs is not ctx.jobs:
            with anyio.CancelScope(shield=True):
                await jobs.close()
