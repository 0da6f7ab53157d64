"""The subagents of one conversation: those that run, and the newest that ended. For people and for the engine.

Each runs in a task of its own, so that a call can stop waiting for it (`move_to_background`) and a person can stop it.
How an agent is set up and run is in `agents`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import anyio

from assent.tools.tool import ToolOutput
from assent.types.blocks import Json

if TYPE_CHECKING:
    from assent.engine.budget import Ledger

AgentState = Literal["running", "finished", "failed", "stopped"]
MOST_ENDED = 50  # remembered, the newest


@dataclass(slots=True, kw_only=True, eq=False)
class AgentRun:
    agent_id: str
    name: str  # of its definition
    title: str
    parent_tool_use_id: str
    background: bool
    state: AgentState = "running"
    ledger: Ledger | None = None
    output: ToolOutput | None = None
    task: asyncio.Task[Any] | None = None
    abort: Callable[[], None] = lambda: None  # ends its turn; its last words still come
    settled: anyio.Event = field(default_factory=anyio.Event)  # it ended, or nobody waits in front of it any more

    def stop(self) -> None:
        self.state = "stopped"
        self.abort()

    def ended(self, output: ToolOutput) -> None:
        self.output = output
        if self.state == "running":
            self.state = "failed" if output.is_error else "finished"
        self.settled.set()

    def as_json(self) -> Json:
        usage = self.ledger.usage if self.ledger is not None else None
        return {
            "agentId": self.agent_id,
            "name": self.name,
            "title": self.title,
            "state": self.state,
            "parentToolUseId": self.parent_tool_use_id,
            "tokens": usage.context_tokens if usage is not None else 0,
            "costUsd": self.ledger.cost_usd if self.ledger is not None else 0.0,
            "background": self.background,
        }


class AgentRuns:
    def __init__(self) -> None:
        self._runs: dict[str, AgentRun] = {}

    def add(self, run: AgentRun) -> None:
        self._runs[run.agent_id] = run
        ended = [each for each in self._runs.values() if each.output is not None]
        for old in ended[: max(0, len(ended) - MOST_ENDED)]:
            del self._runs[old.agent_id]

    def list(self) -> list[Json]:
        return [run.as_json() for run in self._runs.values()]

    def in_background(self) -> list[str]:
        """Those that work beside the conversation now, in words for the model."""
        runs = [run for run in self._runs.values() if run.background and run.output is None]
        return [f"agent {run.agent_id}: {run.title}" for run in runs]

    def move_to_background(self, tool_use_id: str) -> str | None:
        """Stop waiting in front of a running agent; its id, or None when the call is not one that waits."""
        for run in self._runs.values():
            if run.parent_tool_use_id == tool_use_id and not run.background and run.output is None:
                run.background = True
                run.settled.set()
                return run.agent_id
        return None

    def stop(self, agent_id: str) -> bool:
        run = self._runs.get(agent_id)
        if run is None or run.output is not None:
            return False
        run.stop()
        return True
