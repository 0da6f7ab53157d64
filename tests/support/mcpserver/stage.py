"""A folder with MCP servers, for tests: real servers behind the real worker, and a person whose answers are scripted."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from assent.extensions.mcp.config import Rejected, Scope, ServerConfig, read_entry
from assent.extensions.mcp.folders import McpFolders, Places
from assent.extensions.mcp.offer import Offer
from assent.extensions.mcp.servers import ConfiguredServers, Servers
from assent.storage.files import write_atomically
from assent.types.mcp import Sample
from assent.types.ports import Elicitation, ElicitationAnswer


class Person:
    """Answers questions in turn; with none left, declines. Remembers what was asked."""

    def __init__(self, *answers: ElicitationAnswer | str) -> None:
        self.answers = list(answers)
        self.asked: list[Elicitation] = []

    async def __call__(self, elicitation: Elicitation) -> ElicitationAnswer:
        self.asked.append(elicitation)
        if not self.answers:
            return ElicitationAnswer(action="decline")
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            return ElicitationAnswer(action="accept", content={"answers": {"approve": [answer]}})
        return answer


class Stage:
    def __init__(self, place: Path) -> None:
        self.place = place
        self.folder = str(place / "project")
        (place / "project").mkdir(parents=True, exist_ok=True)
        self.entries: dict[str, tuple[Scope, dict[str, Any]]] = {}
        self.more_roots: list[str] = []
        self.slept: list[float] = []
        self.changes: list[str] = []
        self.folders = self.make()

    def make(self) -> McpFolders:
        """Everything anew, as after a start of the program."""
        folders = McpFolders(
            places=Places(
                cache=self.place / "cache",
                credentials=self.place / "credentials",
                approvals=self.place / "approvals.json",
                write=write_atomically,
            ),
            read=lambda _folder: self._configured(),
            environment=lambda config, _folder: {**os.environ, **config.env},
            roots=lambda folder: [Path(folder).as_uri(), *self.more_roots],
            sleep=self._sleep,
        )
        folders.subscribe(self.changes.append)
        return folders

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)

    def add(self, name: str, entry: dict[str, Any], scope: Scope = "user") -> None:
        self.entries[name] = (scope, entry)

    def _configured(self) -> ConfiguredServers:
        read = [
            read_entry(name, entry, scope=scope, source=f"{scope}.json", variables=os.environ)
            for name, (scope, entry) in self.entries.items()
        ]
        return ConfiguredServers(
            servers=[entry for entry in read if isinstance(entry, ServerConfig)],
            rejected=[entry for entry in read if isinstance(entry, Rejected)],
        )

    @property
    def servers(self) -> Servers:
        return self.folders.at(self.folder)

    def offer(self, sample: Sample | None = None) -> Offer:
        return Offer(self.servers, sample=sample)

    def status(self, name: str) -> str:
        return str(next(entry["status"] for entry in self.servers.summaries() if entry["name"] == name))

    async def until(self, condition: Callable[[], bool], seconds: float = 120) -> None:
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110 -- processes notify nobody here
                await asyncio.sleep(0.01)


@asynccontextmanager
async def stage(place: Path) -> AsyncGenerator[Stage, None]:
    staged = Stage(place)
    try:
        yield staged
    finally:
        await staged.folders.aclose()
