"""Where trials happen: one endpoint, one client and one web site for all of them, a folder and a file for each."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from assent.model.client import ModelClient, ModelSettings, make_call_model
from assent.model.http_transport import Endpoint
from assent.model.retry import RetryPolicy
from assent.sessions.live.record import Record
from assent.storage.journal import Disk
from assent.storage.paths import SessionPaths
from assent.storage.spending import spent
from assent.storage.transcript import load
from assent.tools.builtin import builtin_tools
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.files.read_marks import numbered
from assent.tools.files.rich_files import read_notebook
from assent.tools.mcp_resources import ListMcpResources, ReadMcpResource
from assent.tools.mcp_tool import McpTools
from assent.tools.process.jobs import Job, ShellJobs
from assent.tools.task_list import Task, TaskBoard
from assent.tools.tool import AnyTool, SessionState
from assent.tools.tool_search import ToolSearch
from assent.tools.web_fetch import WebFetch
from assent.types.blocks import text_of
from assent.types.messages import Message
from assent.types.ports import EditOutcome, EditPlan, FileText
from enginekit.stage import MODEL, OTHER_MODEL, InstantClock
from fakeapi import FakeApi, Limits
from faultkit.outside import SKILLS, FakeEditor, FakeServers
from faultkit.plan import Plan
from faultkit.steps import COUNTS, STATIC, WORKTREES, output_of, running_for

SMALL = Limits(window=34_000, max_output=8_000)  # of MODEL: a few long results fill it
HOST = "docs.example"
GIT = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]


class Ground:
    """What trials share, because it is slow to set up and keeps nothing between them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.api = FakeApi(extra_models={MODEL: SMALL})
        self.jobs = ShellJobs()
        self.site = ""
        self._client: ModelClient | None = None
        self._pages: asyncio.Server | None = None

    async def __aenter__(self) -> Ground:
        await self.api.start()
        self._pages = await asyncio.start_server(_page, "127.0.0.1", 0)
        self.site = f"http://{HOST}:{self._pages.sockets[0].getsockname()[1]}"
        corrections = {"context_window": SMALL.window, "max_output_tokens": SMALL.max_output}
        self._client = make_call_model(
            ModelSettings(
                endpoint=Endpoint(base_url=self.api.url, api_key="test"),
                models={MODEL: corrections},
                retry=RetryPolicy(),
            ),
            clock=InstantClock(),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._client is not None and self._pages is not None
        await self._client.aclose()
        await self.jobs.close()
        self._pages.close()
        await self.api.__aexit__(kind)

    @property
    def client(self) -> ModelClient:
        assert self._client is not None
        return self._client

    def tools(self, scene: Scene) -> list[AnyTool]:
        async def here(_host: str, _port: int) -> Sequence[str]:
            return ["127.0.0.1"]

        known = builtin_tools(private_allowed=lambda host: host == HOST, skills=SKILLS, editor=True)
        fetch = WebFetch(private_allowed=lambda host: host == HOST, resolve=here)
        servers = scene.servers
        of_servers = [ToolSearch(servers), ListMcpResources(servers), ReadMcpResource(servers)]
        return [
            *(fetch if tool.name == "WebFetch" else tool for tool in known),
            *of_servers,
            *McpTools(servers).current(),
        ]


async def _page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:  # the call was given up
        writer.close()
        return
    path = head.split(b" ", 2)[1].decode()
    body = f"page for {path.strip('/')}\n".encode()
    lines = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    writer.write(lines.encode() + body)
    await writer.drain()
    writer.close()


class CountedFiles(DiskWorkspace):
    """Plain files; which plans were carried out is on record."""

    def __init__(self) -> None:
        self.applied: list[str] = []

    async def apply(self, plan: EditPlan) -> EditOutcome:
        self.applied.append(Path(plan.path).stem)
        return await super().apply(plan)


class Scene:
    """The folder of one trial, and its session's file, which can die and be opened again."""

    def __init__(self, folder: Path, sizes: Sequence[int]) -> None:
        self.folder = folder / "project"
        self.folder.mkdir(parents=True)
        for name, size in zip(STATIC, sizes, strict=True):
            words = "".join(
                f"{name} line {at} needle\n" if at == 1 else f"{name} line {at} .\n" for at in range(1, size + 1)
            )
            (self.folder / name).write_text(words)
        self.files = CountedFiles()
        self.board = TaskBoard()
        self.asked: list[str] = []  # what the person was asked
        self.approved: list[str] = []  # plans
        self.editor = FakeEditor(self.folder)
        self.servers = FakeServers()
        self.commands: dict[
            str, Job
        ] = {}  # in the background, by the call that is about them; they outlive the process
        self.tasks: dict[str, str] = {}  # numbers of tasks that were there before, by the call that is about them
        self.paths = SessionPaths(transcript=folder / "data" / "session.jsonl")
        self.dead = False
        self._record = self._open()
        self._record.note("header", version=1)

    def _open(self) -> Record:
        return Record(self.paths, disk=Disk(fsync=lambda _fd: None))  # a process dies here, not the machine

    def state(self) -> SessionState:
        """Of a process that begins."""

        def changed(what: str) -> None:
            if what == "mode" and state.mode != "plan":
                self.approved.append(state.plan)

        state = SessionState(cwd=str(self.folder), on_change=changed)
        return state

    async def prepare(self, plan: Plan, jobs: ShellJobs) -> None:
        """What the plan's calls are about: commands in the background, tasks, a repository."""
        for step in plan.steps:
            if step.tool in ("BashOutput", "KillShell"):
                line = f"echo {output_of(step.key)}" if step.tool == "BashOutput" else running_for(step.key)
                argv = ["/bin/sh", "-c", line]
                folder = str(self.folder)
                job = await jobs.start(argv, command=line, cwd=folder, env={}, tool_use_id="", background=True)
                if step.tool == "BashOutput":
                    await job.process.ended.wait()
                job.told = True
                step.input["bash_id" if step.tool == "BashOutput" else "shell_id"] = job.job_id
                self.commands[step.key] = job
            elif step.tool in ("TaskUpdate", "TaskList"):
                task = Task(id=self.board.next_id(), subject="stands there")
                self.board.add(task)
                self.tasks[step.key] = task.id
                if step.tool == "TaskUpdate":
                    step.input["taskId"] = task.id
        if any(step.tool in WORKTREES for step in plan.steps):
            _make_repository(self.folder)

    async def end_commands(self, jobs: ShellJobs) -> None:
        for job in self.commands.values():
            await jobs.kill(job.job_id)

    # The engine's transcript: a dead process writes nothing.
    def append(self, message: Message) -> None:
        if not self.dead:
            self._record.append(message)

    async def flush(self, *, durable: bool) -> None:
        if self.dead:
            await asyncio.Event().wait()
        await self._record.flush(durable=durable)

    def close(self) -> None:
        self._record.close()

    def reopen(self, *, torn: bool) -> dict[str, object]:
        """What a new process finds; `torn`: the old one died while it wrote a line."""
        self._record.close()
        if torn:
            with self.paths.transcript.open("ab") as file:
                file.write(b'{"type":"assistant","uuid":"torn","content":[{"type":"te')
        self.dead = False
        self._record = self._open()
        found = load(self.paths.transcript)
        return {
            "messages": tuple(found.messages),
            "snipped": frozenset(found.snipped),
            "spared": frozenset(found.spared),
            "collapsed": tuple(found.collapsed),
            "result": found.last_result,
            "spent": spent(self.paths.transcript),
        }

    def times(self, key: str, tool: str) -> int:
        """How often the effect of this call happened."""
        match tool:
            case "Bash" | "Agent":
                log = self.folder / COUNTS
                return log.read_text().split().count(key) if log.exists() else 0
            case "AskUserQuestion":
                return self.asked.count(f"What for {key}?")
            case "TaskCreate":
                return sum(task.subject == f"task {key}" for task in self.board.list())
            case "TaskUpdate":
                task = self.board.get(self.tasks[key])
                return int(task is not None and task.status == "completed")
            case "KillShell":
                return int(self.commands[key].process.ended.is_set())
            case "ExitPlanMode":
                return self.approved.count(f"plan of {key}")
            case "EnterWorktree":
                return int((self.folder / ".worktrees" / key).is_dir())
            case "OpenFile":
                return self.editor.shown.count(int(key[1:]))
            case "mcp__fake__do":
                return self.servers.served.count(key)
            case _:
                return self._changes(key, tool)

    def _changes(self, key: str, tool: str) -> int:
        path = self.folder / f"{key}{'.ipynb' if tool == 'NotebookEdit' else '.txt'}"
        if tool == "Write":
            return self.files.applied.count(key) if path.exists() else 0
        return path.read_text().count(f"+{key}")

    def shown(self, path: str) -> list[str]:
        """What Read shows of a file, before and after the one change that the plan may make to it."""
        now = Path(path).read_text()
        key = Path(path).stem
        if path.endswith(".ipynb"):
            texts = {now, now.replace(f"mark+{key}", "mark"), now.replace('"mark"', f'"mark+{key}"')}
            read = [read_notebook(path, FileText(path=path, text=each), offset=None, limit=None) for each in texts]
            return [text_of(each.content) if not isinstance(each.content, str) else each.content for each in read]
        texts = {now, now.replace(f"mark+{key}", "mark"), now.replace("mark\n", f"mark+{key}\n")}
        return [numbered(each.splitlines(), 1) for each in texts]


def _make_repository(folder: Path) -> None:
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*GIT, *words], cwd=folder, check=True)


def models() -> tuple[str, str]:
    """A small window and a large one."""
    return MODEL, OTHER_MODEL
