"""A repository, and a stage on which agents work in copies of it."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from assent.extensions.agents import AgentDefinition
from assent.tools.agent import Agent
from assent.tools.bash import Bash
from assent.tools.edit import Edit
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.process.jobs import ShellJobs
from assent.tools.read import Read
from assent.tools.tool import ToolServices
from assent.tools.write import Write
from assent.types.permissions import Allow, Deny, Verdict
from assent.types.ports import ToolCall
from enginekit import Stage
from fakeapi import Block, Reply, Request, tool

GIT = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main",
       "-c", "protocol.file.allow=always"]  # fmt: skip
LINES = "".join(f"line {number}\n" for number in range(1, 21))
WORKER = AgentDefinition(name="worker", description="works", prompt="You work.", isolation="worktree")


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run([*GIT, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def made_repository(folder: Path) -> Path:
    folder.mkdir()
    (folder / "a.txt").write_text(LINES)
    (folder / "old.txt").write_text("to be deleted\n")
    (folder / ".gitignore").write_text("ignored\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


class Seen:
    """The judge: allows everything but what a test denies, and remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self.denied: str = ""

    async def __call__(self, call: ToolCall) -> Verdict:
        self.calls.append(call)
        places = (*call.action.writes, str(call.action.input.get("command", "")))
        if self.denied and any(path.endswith(self.denied) for path in places) and call.place is None:
            return Deny(step="rules", reason="not this one")
        return Allow(step="rules", reason="ok")


@asynccontextmanager
async def staged(repo: Path, *more: Any, **options: Any) -> AsyncGenerator[tuple[Stage, Seen]]:
    judge, jobs = Seen(), ShellJobs()
    services = ToolServices(
        workspace=options.pop("workspace", None) or DiskWorkspace(),
        jobs=jobs,
        roots=lambda: (str(repo),),
        worktrees=repo.parent / "records",
    )
    services = replace(services, **{key: options.pop(key) for key in ("may_read",) if key in options})
    tools = [Agent(), Read(), Edit(), Write(), Bash(), *more]
    agents = options.pop("agents", (WORKER,))
    async with Stage(
        tools=tools, agents=agents, cwd=str(repo), can_use_tool=judge, services=services, **options
    ) as stage:
        try:
            yield stage, judge
        finally:
            await jobs.close()


def of_worker(request: Request) -> bool:
    return "You work." in str(request.body.get("system"))


def start(id: str = "toolu_agent", **options: Any) -> Block:
    given: dict[str, Any] = {"description": "d", "prompt": "do it", "subagent_type": "worker", **options}
    return tool("Agent", id=id, **given)


def in_copy(command: str) -> Reply:
    return Reply(parts=(tool("Bash", command=command),))


def nothing_left(repo: Path) -> None:
    assert not (repo / ".worktrees").exists()
    assert git(repo, "worktree", "list").count("\n") == 1
    assert not list((repo.parent / "records").glob("*.json"))
