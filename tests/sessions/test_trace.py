"""A turn as a tree: every model call with its chain and depth, the tools it called, and the agents below those."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from assent.engine.chains import chain_beside, served
from assent.extensions.agents import AgentDefinition
from assent.model.tracing import TraceFile, tracing
from assent.tools.agent import Agent
from assent.types.blocks import Json
from assent.types.errors import ModelError
from assent.types.messages import ApiRetry, AssistantFinal, StreamEvent
from assent.types.ports import Chain, ModelEvent, ModelRequest
from assent.types.usage import Usage
from sessions.harness import Harness, ScriptedModel, TestFront, running, say, use

ALLOWED = {"decision": "allow"}


async def test_a_call_is_traced_with_its_chain_its_times_and_what_it_used() -> None:
    time = iter(range(100))
    traced: list[tuple[str, Json]] = []

    async def call(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        yield ApiRetry(attempt=1, max_attempts=10, delay_ms=500, status=529)
        yield StreamEvent(event={"type": "message_start"})
        usage = Usage(input_tokens=10, output_tokens=5, cache_read_input_tokens=80, cache_creation_input_tokens=10)
        yield AssistantFinal(message_id="m", model="big", usage=usage, stop_reason="end_turn", cost_usd=0.5)
        if request.model == "broken":
            raise ModelError("it broke", kind="api_error")

    wrapped = tracing(call, lambda id, record: traced.append((id, record)), clock=lambda: next(time), now=lambda: 7.0)
    chain = Chain(
        id="c1", session_id="s1", depth=2, parent_tool_use_id="toolu_1", step_id="p1", transition="stream_retry"
    )
    events = [event async for event in wrapped(ModelRequest(model="asked", messages=(), chain=chain, source="compact"))]
    assert len(events) == 3
    session, record = traced[0]
    assert session == "s1"
    assert {key: record[key] for key in ("chain", "depth", "source", "model", "parentToolUseId", "transition")} == {
        "chain": "c1", "depth": 2, "source": "compact", "model": "big", "parentToolUseId": "toolu_1",
        "transition": "stream_retry",
    }  # fmt: skip
    assert (record["startedAt"], record["firstSeconds"], record["seconds"]) == (7.0, 1, 2)
    assert (record["input"], record["output"], record["cacheRead"], record["cacheWrite"]) == (10, 5, 80, 10)
    assert (record["retries"], record["waitedMs"], record["costUsd"], record["error"]) == (1, 500, 0.5, "")
    with pytest.raises(ModelError):
        _ = [event async for event in wrapped(ModelRequest(model="broken", messages=()))]
    assert traced[1][1]["error"] == "ModelError: it broke" and traced[1][1]["output"] == 5


async def test_the_log_names_chain_and_depth_of_every_call_also_of_one_that_was_made_outside_a_turn(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def call(_request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        yield StreamEvent(event={"type": "message_start"})

    traced: list[Json] = []
    wrapped = tracing(call, lambda _id, record: traced.append(record))
    caplog.set_level("INFO", logger="assent.model.tracing")
    served.set(Chain(id="turn-1", session_id="s1", depth=1, parent_tool_use_id="toolu_1"))
    for chain in (Chain(id="turn-1", session_id="s1"), chain_beside("s1"), chain_beside("s2"), Chain()):
        _ = [event async for event in wrapped(ModelRequest(model="m", messages=(), chain=chain))]
    first, second, third, fourth = (record["chain"] for record in traced)
    assert (first, second) == ("turn-1", "turn-1")
    assert [record["depth"] for record in traced] == [0, 2, 1, 0]
    assert [record["parentToolUseId"] for record in traced] == [None, "toolu_1", None, None]
    assert len({first, third, fourth}) == 3 and third and fourth
    logged = [record.getMessage() for record in caplog.records]
    assert all(
        f"'chain': '{record['chain']}', 'depth': {record['depth']}" in line
        for record, line in zip(traced, logged, strict=True)
    )


async def test_a_trace_that_cannot_be_written_breaks_no_call() -> None:
    async def call(_request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        yield StreamEvent(event={"type": "message_start"})

    def full(_id: str, _record: Json) -> None:
        raise OSError("no space left on device")

    assert len([event async for event in tracing(call, full)(ModelRequest(model="m", messages=()))]) == 1


def test_a_trace_file_that_the_project_laid_out_is_neither_followed_nor_waited_for(tmp_path: Path) -> None:
    precious, link, pipe = (tmp_path / name for name in ("precious", "link", "pipe"))
    precious.write_text("mine")
    link.symlink_to(precious)
    os.mkfifo(pipe)
    for path in (link, pipe):
        with pytest.raises(OSError, match="link or a pipe"):
            TraceFile(path).write({"what": "call"})
    assert precious.read_text() == "mine"
    TraceFile(Path("/dev/stderr"))


def test_a_trace_file_is_added_to_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    for number in range(2):
        TraceFile(path).write({"chain": f"c{number}"})
    assert path.read_text() == '{"chain":"c0"}\n{"chain":"c1"}\n'
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(OSError):
        TraceFile(tmp_path / "missing" / "trace.jsonl")


async def test_a_turn_shows_as_a_tree_of_its_steps_tools_and_agents(tmp_path: Path) -> None:  # T7
    front = TestFront()
    worker = AgentDefinition(name="worker", description="works", prompt="You work.", tools=("Note",))
    model = ScriptedModel(
        [*say("First I note."), use("Note", "toolu_n", text="one")],
        [use("Agent", "toolu_a", description="look", prompt="Note two.", subagent_type="worker")],
        [use("Note", "toolu_i", text="two")],
        say("inner done"),
        say("all done"),
        say("second turn"),
    )
    apps: list[Harness] = []
    call = tracing(model, lambda session, record: apps[0].hub.traced(session, record))
    async with running(tmp_path, call_model=call, tools=[Agent()], agents=lambda: [worker]) as app:
        apps.append(app)
        session = await app.new(front)
        for _ in range(3):
            front.answer(ALLOWED)
        sent = await app.send(session, "do it", front, wait=True)
        assert sent["result"]["result"] == "all done"
        await app.send(session, "and more", front, wait=True)
        found = await app.request("session/trace", sessionId=session, turn=1)
        (turn,) = found["turns"]
        assert (turn["prompt"], turn["steps"], turn["modelCalls"]) == ("do it", 3, 5)
        first, second, third = turn["calls"]
        assert {each["chain"] for each in turn["calls"]} == {turn["chain"]} and turn["chain"]
        assert [each["tool"] for each in first["calls"]] == ["Note"] and third["calls"] == []
        (agent,) = second["calls"]
        assert agent["tool"] == "Agent"
        inner, last = agent["calls"]
        assert [(each["chain"], each["depth"], each["source"]) for each in (inner, last)] == [
            (turn["chain"], 1, "subagent")
        ] * 2
        assert [each["tool"] for each in inner["calls"]] == ["Note"]
        lines = found["text"].splitlines()
        assert lines[0] == 'Turn 1  "do it"' and "3 steps" in lines[1] and "from cache" in lines[1]
        assert lines[3].startswith("│  └─ Note one")
        assert lines[5].startswith("│  └─ ") and lines[6].startswith("│     ├─ subagent: ")
        assert lines[-1].startswith("└─ ")
        newest = await app.request("session/trace", sessionId=session)
        assert [each["turn"] for each in newest["turns"]] == [2]
        assert newest["turns"][0]["chain"] not in ("", turn["chain"])
        every = await app.request("session/trace", sessionId=session, all=True)
        assert [each["prompt"] for each in every["turns"]] == ["do it", "and more"]
        said = (await app.send(session, "/trace 1", front, wait=True))["result"]["result"]
        assert 'Turn 1  "do it"' in said
        assert "shows the newest turn" in (await app.send(session, "/trace x", front, wait=True))["result"]["result"]
