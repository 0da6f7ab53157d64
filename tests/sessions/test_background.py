"""What goes on in the background while its turn is over (S5)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from assent.extensions.agents import AgentDefinition
from assent.sessions.deps import PermissionFacts
from assent.tools.agent import Agent
from assent.tools.bash import Bash
from assent.tools.tasks import TaskCreate, TaskUpdate
from assent.types.blocks import Json
from assent.types.permissions import Action, Allow, Ask, Decision
from assent.types.ports import ModelRequest
from sessions.harness import TestFront, jobs_of, running, say, use

WORKER = AgentDefinition(name="worker", description="works", prompt="You work.", tools=("Note",))
START = use("Agent", prompt="p", description="look around", subagent_type="worker", run_in_background=True)


def asks_of_notes(action: Action, _judgement: PermissionFacts) -> Decision:
    if action.tool == "Note":
        return Ask(step="consolidation", reason="notes are asked about", title="Take a note?")
    return Allow(step="rules", reason="ok")


async def test_the_end_of_a_turn_leaves_the_question_of_a_background_agent_open(tmp_path: Path) -> None:  # S5, P11
    asked = anyio.Event()
    of_agent = [[use("Note", "tu_note", text="milk")], say("noted")]
    of_main = [[START], say("started"), say("and now")]

    async def by_asker(request: ModelRequest) -> Sequence[Json]:
        if request.source == "subagent":
            return of_agent.pop(0)
        if len(of_main) == 2:
            await asked.wait()  # the agent waits for its answer while this turn ends
        return of_main.pop(0)

    async with running(
        tmp_path, *[by_asker] * 5, tools=[Agent()], agents=lambda: (WORKER,), decide=asks_of_notes
    ) as app:
        front = TestFront()
        session = await app.new(front)
        await app.send(session, "start it", front)
        await front.until(lambda: front.asked)
        asked.set()
        await front.seen("turnFinished")
        assert front.of("permissionResolved") == []
        front.answer({"decision": "allow"})
        await front.until(lambda: app.note.notes == ["milk"])
        await front.until(lambda: "noted" in str(front.of("message")))
        await app.send(session, "and now", front, wait=True)
        assert "noted" in str(app.model.requests[-1].messages)


async def test_the_status_is_waiting_while_a_background_agent_asks_and_no_turn_runs(tmp_path: Path) -> None:  # S5
    go_on = anyio.Event()
    of_agent = [[use("Note", "tu_note", text="milk")], say("noted")]
    of_main = [[START], say("started")]

    async def by_asker(request: ModelRequest) -> Sequence[Json]:
        if request.source == "subagent":
            await go_on.wait()
            return of_agent.pop(0)
        return of_main.pop(0)

    async with running(
        tmp_path, *[by_asker] * 4, tools=[Agent()], agents=lambda: (WORKER,), decide=asks_of_notes
    ) as app:
        front = TestFront()
        session = await app.new(front)
        await app.send(session, "start it", front, wait=True)
        assert front.of("status")[-1]["state"] == "idle"
        go_on.set()
        await front.until(lambda: front.asked)
        await front.until(lambda: front.of("status")[-1]["state"] == "waiting")
        front.answer({"decision": "allow"})
        await front.until(lambda: "noted" in str(front.of("message")))
        states = [event["state"] for event in front.of("status")]
        assert states == ["running", "idle", "waiting", "idle"]


async def test_a_turn_that_ends_while_its_background_agent_asks_leaves_the_status_at_waiting(tmp_path: Path) -> None:
    asked = anyio.Event()
    of_agent = [[use("Note", "tu_note", text="milk")], say("noted")]
    of_main = [[START], say("started")]

    async def by_asker(request: ModelRequest) -> Sequence[Json]:
        if request.source == "subagent":
            return of_agent.pop(0)
        if len(of_main) == 1:
            await asked.wait()
        return of_main.pop(0)

    async with running(
        tmp_path, *[by_asker] * 4, tools=[Agent()], agents=lambda: (WORKER,), decide=asks_of_notes
    ) as app:
        front = TestFront()
        session = await app.new(front)
        sent = await app.send(session, "start it", front)
        await front.until(lambda: front.asked)
        asked.set()
        await front.seen("turnFinished")
        await front.until(lambda: front.types[-1] == "status")
        assert front.events[-1] == {"type": "status", "state": "waiting"}, sent
        front.answer({"decision": "allow"})
        await front.until(lambda: "noted" in str(front.of("message")))
        assert front.of("status")[-1]["state"] == "idle"


async def test_what_a_killed_process_had_in_the_background_is_told_as_lost(tmp_path: Path) -> None:  # S4, S5
    """The model was told that it would hear of their end: it hears that they ended with the process."""
    never = anyio.Event()

    async def by_asker(request: ModelRequest) -> Sequence[Json]:
        if request.source == "subagent":
            await never.wait()
        return answers.pop(0)

    command = use("Bash", "tu_bash", command="read x < gate", run_in_background=True)
    answers = [[START, command], say("started")]
    options: dict[str, Any] = {"tools": [Agent(), Bash()], "agents": lambda: (WORKER,), "decide": asks_of_notes}
    options["jobs"] = jobs_of
    async with running(tmp_path, *[by_asker] * 5, **options) as app:
        os.mkfifo(app.cwd / "gate")
        front = TestFront()
        session = await app.new(front)
        await app.send(session, "start them", front, wait=True)
        job = front.of("job")[-1]["jobId"]
        (agent,) = app.engines[0].agents.list()
        shutil.copytree(tmp_path / "data", tmp_path / "killed" / "data")
    async with running(tmp_path / "killed", **options) as app:
        await app.request("session/attach", TestFront(), sessionId=session)
        await app.send(session, "/cost", wait=True)  # asks no model, so nothing is told by it
    async with running(tmp_path / "killed", **options) as app:
        await app.request("session/attach", TestFront(), sessionId=session)
        await app.send(session, "what became of it?", wait=True)
        told = str(app.model.requests[-1].messages)
        assert f"The background command {job}" in told.partition("what became of it?")[2]
        assert f"Agent {agent['agentId']}" in told.partition("what became of it?")[2]
        await app.send(session, "and now?", wait=True)
        assert str(app.model.requests[-1].messages).count(f"The background command {job}") == 1


@pytest.mark.parametrize("rebuilt", ["rewind", "broken turn"])
async def test_an_agent_that_ended_because_its_engine_was_built_again_is_told_as_gone_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rebuilt: str
) -> None:  # S3, S5
    """The model was told that it would hear of the agent's end; the new engine tells it, and nobody works on its task."""
    never = anyio.Event()

    def breaks(_config: object) -> None:
        raise RuntimeError("it broke")

    async def by_asker(request: ModelRequest) -> Sequence[Json]:
        if request.source == "subagent" and of_agent:
            return of_agent.pop(0)
        if request.source == "subagent":
            await never.wait()
        return answers.pop(0)

    worker = replace(WORKER, tools=("TaskUpdate",))
    of_agent = [[use("TaskUpdate", taskId="1", status="in_progress")]]
    answers = [[use("TaskCreate", subject="look")], [START], say("started"), say("yes"), say("gone"), say("and on")]
    tools = [Agent(), TaskCreate(), TaskUpdate()]
    async with running(tmp_path, *[by_asker] * 9, tools=tools, agents=lambda: (worker,)) as app:
        front = TestFront()
        session = await app.new(front)
        await app.send(session, "start it", front, wait=True)
        await front.until(lambda: front.of("tasks") and front.of("tasks")[-1]["items"][0]["status"] == "in_progress")
        (agent,) = app.engines[0].agents.list()
        if rebuilt == "broken turn":
            monkeypatch.setattr(app.engines[0], "configure", breaks)
        answer = await app.send(session, "is it done?", front, wait=True)
        assert answer["result"]["isError"] == (rebuilt == "broken turn")
        if rebuilt == "rewind":
            second = front.of("turnStarted")[-1]["messageId"]
            await app.request("session/rewind", sessionId=session, messageId=second, restore="conversation")
        assert front.of("tasks")[-1]["items"][0]["status"] == ("pending" if rebuilt == "rewind" else "in_progress")
        await app.send(session, "what became of it?", front, wait=True)
        assert len(app.engines) == 2 and app.engines[0].agents.list()[0]["state"] != "running"
        told = str(app.model.requests[-1].messages).partition("what became of it?")[2]
        assert told.count(f"Agent {agent['agentId']} (look around) is gone") == 1
        assert front.of("tasks")[-1]["items"][0]["status"] == "pending"
        await app.send(session, "and now?", front, wait=True)
        assert str(app.model.requests[-1].messages).count("is gone") == 1
