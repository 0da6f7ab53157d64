"""The subagents of one conversation: all running ones, and the most recent ended ones.

Each runs in its own task, so that a call can stop waiting for it (`move_to_background`) and a person can stop it.
`subagents` runs an agent, `setup` configures it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import anyio

from assent.tools.tool import Mine, ToolOutput
from assent.types.blocks import Json
from assent.types.messages import ConversationMessage

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
    nested: bool = False  # another agent started it and must wait for it: it would die with that one
    isolated: bool = False  # it works, or worked, in a worktree of its own
    state: AgentState = "running"
    color: str = ""
    calls: int = 0  # of tools, that it began
    ledger: Ledger | None = None
    messages: list[ConversationMessage] = field(default_factory=list[ConversationMessage])  # once it ended
    output: ToolOutput | None = None
    task: asyncio.Task[Any] | None = None
    abort: Callable[[], None] = lambda: None  # ends its turn; its last words still come
    front: anyio.Event | None = None  # someone took it to the front again; fires when that is over
    settled: anyio.Event = field(default_factory=anyio.Event)  # it ended, or nobody waits in front of it any more

    def stop(self) -> None:
        self.state = "stopped"
        self.abort()

    def ended(self, output: ToolOutput) -> None:
        self.output = output
        if self.state == "running":
            self.state = "failed" if output.is_error else "finished"
        self.settled.set()
        if self.front is not None:
            self.front.set()

    def response(self, status: str) -> Json:
        """What hooks read of it in `tool_response`, beside its words."""
        return {"status": status, "agentId": self.agent_id, "agentType": self.name}

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
            "background": self.background and self.front is None,
            **({"color": self.color} if self.color else {}),
        }


class AgentRuns:
    def __init__(self) -> None:
        self._runs: dict[str, AgentRun] = {}
        self.told_missing: set[str] = set()  # definitions of which people know what they lack

    def add(self, run: AgentRun) -> None:
        self._runs.pop(run.agent_id, None)  # one that goes on is the newest again
        self._runs[run.agent_id] = run
        ended = [each for each in self._runs.values() if each.output is not None]
        for old in ended[: max(0, len(ended) - MOST_ENDED)]:
            del self._runs[old.agent_id]

    def list(self) -> list[Json]:
        return [run.as_json() for run in self._runs.values()]

    def get(self, agent_id: str) -> AgentRun | None:
        return self._runs.get(agent_id)

    def ended_ids(self) -> list[str]:
        return [run.agent_id for run in self._runs.values() if run.output is not None]

    def in_background(self) -> list[str]:
        """The agents that run in the background now, as text for the model."""
        runs = [run for run in self._runs.values() if run.background and run.output is None]
        return [f"agent {run.agent_id}: {run.title}" for run in runs]

    def move_to_background(self, tool_use_id: str) -> str | None:
        """Stop waiting in front of a running agent; its id, or None when the call is not one that waits."""
        for run in self._runs.values():
            in_front = (not run.background or run.front is not None) and not run.nested
            if run.parent_tool_use_id == tool_use_id and in_front and run.output is None:
                front, run.front = run.front, None
                run.background = True
                run.settled.set()
                if front is not None:
                    front.set()
                return run.agent_id
        return None

    def move_to_foreground(self, agent_id: str) -> str | None:
        """The turn waits for a background agent again; the call that started it, or None when it no longer runs."""
        run = self._runs.get(agent_id)
        if run is None or not run.background or run.output is not None:
            return None
        run.front = run.front or anyio.Event()
        return run.parent_tool_use_id

    def in_front(self, mine: Mine) -> list[anyio.Event]:
        """For each agent that someone took to the front again: what fires when it ends or is sent back."""
        runs = [run for run in self._runs.values() if run.output is None and mine(run.parent_tool_use_id)]
        return [run.front for run in runs if run.front is not None]

    def stop(self, agent_id: str) -> bool:
        run = self._runs.get(agent_id)
        if run is None or run.output is not None:
            return False
        run.stop()
        return True
