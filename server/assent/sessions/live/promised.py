"""Commands and agents in the background of which the model still waits to hear (S5), kept with the session.

They end with their process, and agents also with their engine. Whoever goes on with the conversation is told so, once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from assent.engine.agents.runs import AgentRuns
from assent.tools.process.jobs import ShellJobs
from assent.types.blocks import Json, text_block
from assent.types.ids import new_id
from assent.types.messages import Attachment

if TYPE_CHECKING:
    from assent.engine.query_engine import QueryEngine

COMMAND = (
    "The background command {id} is gone: the process that ran it ended, and its output is lost. It may have run in "
    "part; check before you start it again: {what}"
)
AGENT = (
    "Agent {id} ({what}) is gone: what ran it ended before you heard of its end. What it did stays; check before you "
    "repeat it. Agent with resume goes on where it stopped."
)


class Promised:
    def __init__(self, jobs: Callable[[], object], engine: Callable[[], QueryEngine | None]) -> None:
        self._jobs = jobs
        self._engine = engine
        self._lost: list[Json] = []

    def to_json(self) -> list[Json]:
        jobs, engine = self._jobs(), self._engine()
        found = [*self._lost]
        if isinstance(jobs, ShellJobs):
            found += [{"job": job["jobId"], "what": job["command"]} for job in jobs.promised()]
        return found + (_agents(engine.agents, engine.holds) if engine is not None else [])

    def restore(self, saved: object) -> None:
        """Those of an earlier process."""
        if isinstance(saved, list):
            self._lost = [cast("Json", each) for each in cast("list[object]", saved) if isinstance(each, dict)]

    def lose(self, engine: QueryEngine) -> None:
        """This engine ends, and its agents with it."""
        self._lost += _agents(engine.agents, engine.holds)

    def turn_ended(self) -> None:
        """Those that no longer wait for the next prompt have been told: a command that is answered here tells none."""
        engine = self._engine()
        self._lost = [each for each in self._lost if engine is not None and engine.holds(_id(each))]

    def notices(self, now: float) -> Sequence[Attachment]:
        return [_notice(each, now) for each in self._lost]


def _id(lost: Json) -> str:
    return str(lost.get("agent") or lost.get("job") or "")


def _agents(runs: AgentRuns, untold: Callable[[str], bool]) -> list[Json]:
    return [
        {"agent": run["agentId"], "what": run["title"]}
        for run in runs.list()
        if (run["background"] and run["state"] == "running") or untold(str(run["agentId"]))
    ]


def _notice(lost: Json, now: float) -> Attachment:
    of_agent = "agent" in lost
    text = (AGENT if of_agent else COMMAND).format(id=_id(lost), what=lost.get("what", ""))
    data: Json = {"agent": _id(lost)} if of_agent else {"jobId": _id(lost), "state": "killed"}
    return Attachment(uuid=new_id(), kind="task_notification", content=(text_block(text),), data=data, timestamp=now)
