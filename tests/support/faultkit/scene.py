"""Where trials happen: one endpoint, one client and one web site for all of them, a folder and a file for each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from assent.model.client import ModelClient, ModelSettings, make_call_model
from assent.model.retry import RetryPolicy
from assent.model.transport import Endpoint
from assent.sessions.live.record import Record
from assent.storage.journal import Disk
from assent.storage.paths import SessionPaths
from assent.storage.spending import spent
from assent.storage.transcript import load
from assent.tools.agent import Agent
from assent.tools.bash import Bash
from assent.tools.edit import Edit
from assent.tools.files.read_marks import numbered
from assent.tools.files.workspace import DiskWorkspace
from assent.tools.glob import Glob
from assent.tools.grep import Grep
from assent.tools.multi_edit import MultiEdit
from assent.tools.process.jobs import ShellJobs
from assent.tools.read import Read
from assent.tools.todo_write import TodoWrite
from assent.tools.tool import AnyTool
from assent.tools.web_fetch import WebFetch
from assent.tools.write import Write
from assent.types.messages import Message
from assent.types.ports import EditOutcome, EditPlan
from enginekit.stage import MODEL, OTHER_MODEL, InstantClock
from fakeapi import FakeApi, Limits
from faultkit.plan import COUNTS, STATIC

SMALL = Limits(window=34_000, max_output=8_000)  # of MODEL: a few long results fill it
HOST = "docs.example"


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

    def tools(self) -> list[AnyTool]:
        async def here(_host: str, _port: int) -> Sequence[str]:
            return ["127.0.0.1"]

        fetch = WebFetch(private_allowed=lambda host: host == HOST, resolve=here)
        return [
            Read(), Write(), Edit(), MultiEdit(), Bash(), Glob(), Grep(), TodoWrite(), Agent(), fetch,
        ]  # fmt: skip


async def _page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
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

    async def apply(self, plan: EditPlan, *, proposal_id: str | None = None) -> EditOutcome:
        self.applied.append(Path(plan.path).stem)
        return await super().apply(plan, proposal_id=proposal_id)


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
        self.paths = SessionPaths(transcript=folder / "data" / "session.jsonl")
        self.dead = False
        self._record = self._open()
        self._record.note("header", version=1)

    def _open(self) -> Record:
        return Record(self.paths, disk=Disk(fsync=lambda _fd: None))  # a process dies here, not the machine

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
            "collapsed": tuple(found.collapsed),
            "result": found.last_result,
            "spent": spent(self.paths.transcript),
        }

    def times(self, key: str, tool: str) -> int:
        """How often the effect of this call happened."""
        if tool in ("Bash", "Agent"):
            log = self.folder / COUNTS
            return log.read_text().split().count(key) if log.exists() else 0
        path = self.folder / f"{key}.txt"
        if tool == "Write":
            return self.files.applied.count(key) if path.exists() else 0
        return path.read_text().count(f"+{key}")

    def shown(self, path: str) -> list[str]:
        """What Read shows of a file, before and after the one change that the plan may make to it."""
        now = Path(path).read_text()
        key = Path(path).stem
        texts = {now, now.replace(f"mark+{key}", "mark"), now.replace("mark\n", f"mark+{key}\n")}
        return [numbered(each.splitlines(), 1) for each in texts]


def models() -> tuple[str, str]:
    """A small window and a large one."""
    return MODEL, OTHER_MODEL
