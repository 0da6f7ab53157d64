"""An agent in its own git worktree (T7): the worktree is created first, merged back afterwards, and then removed.

Edits inside the worktree land without an ask: starting the agent was allowed, and every change is reviewed when it is
merged back. The agent cannot edit the user's own files: such a call is refused with the path that it should use.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from assent.engine.agents.takeover import take_over
from assent.extensions.memory import MemoryFile, MemorySource
from assent.tools.files.disk_workspace import DiskWorkspace, target_of
from assent.tools.files.encoding import encode
from assent.tools.process.git_output import Git
from assent.tools.process.jobs import ShellJobs
from assent.tools.tool import SessionState, ToolContext
from assent.tools.worktrees.isolation import Isolation, adopt, isolate, repository_of
from assent.tools.worktrees.worktree_hooks import made_by_hook, tell_removed
from assent.tools.worktrees.worktree_records import STORE_PREFIX, sweep
from assent.types.errors import ToolError
from assent.types.messages import Message
from assent.types.permissions import Deny, Verdict
from assent.types.ports import AgentFolders, CanUseTool, ToolCall, unreviewed

if TYPE_CHECKING:
    from assent.engine.services import Services
    from assent.engine.turn import Turn

_taking_over = anyio.Lock()  # one agent's changes at a time: the next one is merged with what they left


@dataclass(slots=True, kw_only=True, eq=False)
class AgentWorktree:
    turn: Turn
    isolation: Isolation
    home: str  # where the agent begins: in the copy, the folder that its parent is in
    jobs: ShellJobs | None = None  # where the session has none

    def briefing(self) -> str:
        return (
            f"You work in a copy of the repository, {self.isolation.path}; the original is "
            f"{self.isolation.repository}. The copy holds uncommitted work too, but no ignored files. Read and change "
            "files only in the copy: a path in the original that you are given means the same file in the copy. What "
            "you leave changed there is offered to the user when you are done; you need not commit."
        )

    def services(self, services: Services, state: SessionState) -> Services:
        """The agent's services, moved into the copy. Nothing of the editor's is in there."""
        return replace(
            services,
            workspace=DiskWorkspace(),
            roots=self._roots,
            editor=None,
            memory=_Beside(services.memory, self.isolation) if services.memory is not None else None,
            can_use_tool=self._judged(services.can_use_tool, state),
            review_edit=unreviewed,  # people look at it when it is taken over
        )

    def _judged(self, can_use_tool: CanUseTool, state: SessionState) -> CanUseTool:
        async def judge(call: ToolCall) -> Verdict:
            for path in call.action.writes:
                if instead := self._in_the_copy(path):
                    reason = f"You work in a copy of the repository: change {instead} instead of {path}."
                    return Deny(step="tool", reason=reason)
            mode = call.mode or state.mode
            if mode == "default" and call.plan is not None:
                mode = "acceptEdits"
            place = AgentFolders(cwd=state.cwd, roots=self._roots(), read_roots=self._shared_roots())
            return await can_use_tool(replace(call, plan=None, mode=mode, place=place))

        return judge

    def _shared_roots(self) -> tuple[str, ...]:
        """What of the session's workspace lies in the repository, which may begin far above it: in the home."""
        top = os.path.realpath(self.isolation.repository)
        real = [os.path.realpath(root) for root in self.turn.services.roots() or (self.turn.app.cwd,)]
        return tuple(dict.fromkeys(top if _under(top, root) else root for root in real if _shares(root, top)))

    def _roots(self) -> tuple[str, ...]:
        """The same in the copy, and the session's folder for passing files."""
        scratch = self.turn.services.scratchpad()
        copies = [self._in_the_copy(root) or self.isolation.path for root in self._shared_roots()]
        return (*copies, *([str(scratch)] if scratch is not None else []))

    def _in_the_copy(self, path: str) -> str | None:
        """The file of the copy that stands for one of the original; None for a path that lies elsewhere."""
        real, copy = target_of(path), os.path.realpath(self.isolation.path)
        original = os.path.realpath(self.isolation.repository)
        if _under(real, copy) or not _under(real, original):
            return None
        return os.path.normpath(Path(copy, os.path.relpath(real, original)))

    async def taken_over(self, ctx: ToolContext, *, kept: Path | None, emit: Callable[[Message], None]) -> str:
        async with _taking_over:
            return await take_over(self.turn, self.isolation, ctx, kept=kept, emit=emit)

    async def close(self) -> None:
        with anyio.CancelScope(shield=True):
            try:
                services, config = self.turn.services, self.turn.config
                await tell_removed(
                    services.hooks,
                    session_id=config.session_id,
                    cwd=self.turn.app.cwd,
                    path=self.isolation.path,
                )
            finally:
                await self.isolation.close()
                if self.jobs is not None:
                    await self.jobs.close()


async def open_worktree(turn: Turn, agent_id: str, ctx: ToolContext) -> AgentWorktree:
    """Raises ToolError saying why there can be none; then nothing is left."""
    services = turn.services
    known = services.jobs if isinstance(services.jobs, ShellJobs) else None
    jobs = known or ShellJobs()
    git = Git(jobs.keeper, (ctx.cwd, *services.roots()))
    records = services.worktrees or Path(tempfile.gettempdir(), f"assent-{os.getuid()}", "worktrees")
    store = Path(await anyio.to_thread.run_sync(lambda: tempfile.mkdtemp(prefix=STORE_PREFIX)))
    try:
        repository = ctx.cwd
        made = await made_by_hook(
            services.hooks, session_id=turn.config.session_id, cwd=ctx.cwd, name=f"agent-{agent_id}"
        )
        if made is not None:
            isolation = await adopt(git, repository=repository, path=made, store=store)
        else:
            await anyio.to_thread.run_sync(sweep, records)
            repository = await repository_of(git, ctx.cwd)
            isolation = await isolate(
                git,
                repository=repository,
                name=agent_id,
                store=store,
                records=records,
                unsaved=await _unsaved(services),
                may_read=services.may_read(),
            )
    except BaseException:
        shutil.rmtree(store, ignore_errors=True)
        if known is None:
            with anyio.CancelScope(shield=True):
                await jobs.close()
        raise
    home = _inside(isolation.path, repository, ctx.cwd)
    return AgentWorktree(turn=turn, isolation=isolation, home=home, jobs=jobs if known is None else None)


def _inside(copy: str, repository: str, cwd: str) -> str:
    """The folder of the copy that stands for `cwd`, or its top where there is none: only ignored files were in it."""
    home = os.path.normpath(Path(copy, os.path.relpath(os.path.realpath(cwd), os.path.realpath(repository))))
    return home if Path(home).is_dir() and _under(home, copy) else copy


async def _unsaved(services: Services) -> dict[str, bytes]:
    """What the editor holds and the disk does not, as bytes."""
    found: dict[str, bytes] = {}
    for path, text in services.workspace.unsaved().items():
        try:
            file = await services.workspace.read(path)
            found[path] = encode(text, encoding=file.encoding, bom=file.bom)
        except ToolError:
            continue  # it cannot be read: the copy has what is on disk
    return found


def _under(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _shares(root: str, top: str) -> bool:
    return _under(root, top) or _under(top, root)


@dataclass(frozen=True, slots=True)
class _Beside:
    """The memory of the original, for an agent that works in the copy."""

    inner: MemorySource
    isolation: Isolation

    async def load(self, cwd: str) -> list[MemoryFile]:
        return await self.inner.load(self._original(cwd))

    async def nested(self, path: str, cwd: str) -> list[MemoryFile]:
        return await self.inner.nested(self._original(path), self._original(cwd))

    def _original(self, path: str) -> str:
        copy = self.isolation.path
        if not _under(path, copy):
            return path
        return os.path.normpath(Path(self.isolation.repository, os.path.relpath(path, copy)))
