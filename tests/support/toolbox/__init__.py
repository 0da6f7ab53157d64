"""One session's worth of tools on a real folder, called the way the executor calls them."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from assent.tools.builtin import builtin_tools
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.process.jobs import Job, ShellJobs
from assent.tools.tool import AnyTool, SessionState, ToolContext, ToolOutput, ToolServices
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.ports import EditorQueries, Elicitation, ElicitationAnswer, Workspace

SERVICES = {each.name for each in fields(ToolServices)}


def _same(value: Any) -> Any:
    return value


class Toolbox:
    """`call("Read", file_path="a.txt")` parses, judges nothing, prepares and calls; errors come as ToolError."""

    def __init__(
        self,
        root: Path,
        *,
        tools: Sequence[AnyTool] | None = None,
        workspace: Workspace | None = None,
        editor: EditorQueries | None = None,
    ) -> None:
        self.root = root
        self.tools = {tool.name: tool for tool in (tools if tools is not None else builtin_tools(editor=True))}
        self.workspace: Workspace = workspace or DiskWorkspace()
        self.editor = editor
        self.changes: list[str] = []
        self.job_events: list[Json] = []
        self.progress: list[str] = []
        self.asked: list[Elicitation] = []
        self.answer: ElicitationAnswer | None = None
        self.state = SessionState(cwd=str(root), on_change=self.changes.append)
        self.jobs = ShellJobs(self._job_changed)
        self.spill = Spill(root.parent / "spilled")
        self.env: dict[str, str] = {}
        self.calls = 0
        self._news: anyio.Event | None = None

    def context(self, **changes: Any) -> ToolContext:
        self.calls += 1
        settings: dict[str, Any] = {
            "session_id": "session",
            "tool_use_id": f"toolu_{self.calls}",
            "state": self.state,
            "workspace": self.workspace,
            "roots": (str(self.root),),
            "progress": self._progressed,
            "elicit": self._elicit if self.answer is not None else None,
            "editor": self.editor,
            "jobs": self.jobs,
            "spill": self.spill,
            "env": self.env,
        }
        settings |= changes
        services = {name: settings.pop(name) for name in SERVICES if name in settings}
        for name in ("roots", "env"):
            services[name] = partial(_same, services[name])
        if (summarise := settings.pop("summarise", None)) is not None:
            services["summariser"] = partial(_same, summarise)
        return ToolContext(services=ToolServices(**services), **settings)

    async def call(self, tool: str, /, **raw: Any) -> ToolOutput:
        return await self.call_in(self.context(), tool, raw)

    async def call_in(self, ctx: ToolContext, tool: str, raw: Mapping[str, Any]) -> ToolOutput:
        found = self.tools[tool]
        input = found.parse(dict(raw))
        ctx.plan = await found.prepare(input, ctx)
        found.action(input, cwd=ctx.cwd)
        found.title(input)
        return await found.call(input, ctx)

    async def text(self, tool: str, /, **raw: Any) -> str:
        content = (await self.call(tool, **raw)).content
        assert isinstance(content, str)
        return content

    async def error(self, tool: str, /, **raw: Any) -> str:
        """The ToolError's words; fails if there was none."""
        try:
            output = await self.call(tool, **raw)
        except ToolError as error:
            return str(error)
        raise AssertionError(f"{tool} gave no error but {output}")

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for progress, job events and output of watched jobs to make it true."""
        with anyio.fail_after(120):
            while not condition():
                self._news = anyio.Event()
                await self._news.wait()

    def watch(self, job: Job) -> Job:
        job.process.on_output = self._poke
        return job

    def _progressed(self, text: str) -> None:
        self.progress.append(text)
        self._poke()

    def _job_changed(self, job: Json) -> None:
        self.job_events.append(job)
        self._poke()

    def _poke(self) -> None:
        if self._news is not None:
            self._news.set()

    async def _elicit(self, elicitation: Elicitation) -> ElicitationAnswer:
        self.asked.append(elicitation)
        assert self.answer is not None
        return self.answer


class Spill:
    """Keeps what is spilled, in files named by the call."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, tool_use_id: str, text: str) -> str:
        self.folder.mkdir(exist_ok=True)
        path = self.folder / f"{tool_use_id}.txt"
        path.write_text(text, encoding="utf-8")
        return str(path)


async def gone(*pids: int) -> None:
    """Wait until processes, which need not be our children, have ended."""
    for pid in pids:
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            with anyio.fail_after(120):
                await anyio.wait_readable(fd)
        finally:
            os.close(fd)
