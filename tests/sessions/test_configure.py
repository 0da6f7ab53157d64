"""Changing a session's configuration while things run in its background."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from assent.extensions.agents import AgentDefinition
from assent.tools.agent import Agent
from assent.types.blocks import Json
from assent.types.ports import ModelRequest
from sessions.harness import TestFront, running, say, use

WORKER = AgentDefinition(name="worker", description="works", prompt="You work.", tools=())


async def _settings(app: Any, _session: str) -> None:
    folder = app.cwd.parent / "config"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text('{"persistentRetry": true}')


async def _model(app: Any, session: str) -> None:
    await app.request("session/configure", sessionId=session, model="other", effort="low", thinking=2048)


@pytest.mark.parametrize("change", [_model, _settings])
async def test_a_background_agent_survives_a_change_of_model_or_settings(  # S5, Q2
    tmp_path: Path, change: Any
) -> None:
    go = anyio.Event()

    async def agent_works(_request: ModelRequest) -> Sequence[Json]:
        await go.wait()
        return say("the agent's answer")

    async def by_asker(request: ModelRequest) -> Sequence[Json]:
        if request.source == "subagent":
            return await agent_works(request)
        return answers.pop(0)

    task = use("Agent", prompt="p", description="d", subagent_type="worker", run_in_background=True)
    answers = [[task], say("started"), say("second"), say("third")]
    front = TestFront()
    async with running(tmp_path, *[by_asker] * 5, tools=[Agent()], agents=lambda: (WORKER,)) as app:
        session = await app.new(front)
        await app.send(session, "start it", front, wait=True)
        await change(app, session)
        await app.send(session, "go on", front, wait=True)
        assert len(app.engines) == 1
        go.set()
        await front.until(lambda: "the agent's answer" in str(front.of("message")) + str(front.of("attachment")))
        await app.send(session, "and now", front, wait=True)
        assert "the agent's answer" in str(app.model.requests[-1].messages)
        assert app.engines[0].config.model == ("other" if change is _model else "test-model")


@pytest.mark.parametrize("change", [_model, _settings])
async def test_what_waits_to_be_told_survives_a_change_of_model_or_settings(tmp_path: Path, change: Any) -> None:  # S5
    """An agent ended between two turns: the engine holds its news when the configuration changes."""
    go = anyio.Event()

    async def by_asker(request: ModelRequest) -> Sequence[Json]:
        if request.source == "subagent":
            await go.wait()
            return say("the agent's answer")
        return answers.pop(0)

    task = use("Agent", prompt="p", description="d", subagent_type="worker", run_in_background=True)
    answers = [[task], say("started"), say("second")]
    front = TestFront()
    async with running(tmp_path, *[by_asker] * 4, tools=[Agent()], agents=lambda: (WORKER,)) as app:
        session = await app.new(front)
        await app.send(session, "start it", front, wait=True)
        go.set()
        (agent,) = app.engines[0].agents.list()
        await front.until(lambda: app.engines[0].holds(agent["agentId"]))
        await change(app, session)
        assert app.engines[0].holds(agent["agentId"])
        await app.send(session, "and now", front, wait=True)
        assert len(app.engines) == 1
        assert "the agent's answer" in str(app.model.requests[-1].messages).partition("and now")[2]
