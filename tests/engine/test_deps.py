"""What is handed to the engine from outside is what it uses: it fetches nothing itself (Q1, Q2)."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

from assent.engine.services import CallSummary, McpClient
from assent.extensions.commands import BUILT_IN
from assent.model import catalog
from assent.model.requests import build, decoded
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.read import Read
from assent.tools.tool import ReadMark, ToolServices
from assent.types.messages import CompactBoundary, PermissionDenial, SystemInit, UserMessage
from assent.types.ports import ModelRequest
from assent.types.usage import Usage
from enginekit import Echo, Stage
from fakeapi import text, tool


async def test_ids_times_and_durations_come_from_the_deps() -> None:  # Q2 deps
    async with Stage(tools=[Echo()]) as stage:
        ids = (f"id{number}" for number in itertools.count())
        ticks = itertools.count(100.0, 0.5)
        engine = stage.new_engine(new_id=lambda: next(ids), now=lambda: 1_700_000_000.0, clock=lambda: next(ticks))
        stage.api.reply(tool("Echo", text="a"))
        stage.api.reply(text("ok"))
        turn = await stage.turn(engine=engine)
        users = [message for message in engine.messages if isinstance(message, UserMessage)]
        assert {message.timestamp for message in users} == {1_700_000_000.0}
        assert all(message.uuid.startswith("id") for message in users)
        assert turn.result.duration_ms > turn.result.duration_api_ms >= 1_000
        assert turn.result.duration_ms % 500 == turn.result.duration_api_ms % 500 == 0  # no other clock was asked


async def test_the_time_that_people_took_is_not_the_turns() -> None:
    durations: list[int] = []
    for waited in (itertools.repeat(7.0), itertools.count(7.0, 0.5)):
        async with Stage(tools=[Echo()]) as stage:
            ticks = itertools.count(100.0, 0.5)
            engine = stage.new_engine(
                clock=lambda ticks=ticks: next(ticks), waited_seconds=lambda waited=waited: next(waited)
            )
            stage.api.reply(text("ok"))
            durations.append((await stage.turn(engine=engine)).result.duration_ms)
    assert durations[0] - durations[1] == 500


async def test_the_loop_asks_at_temperature_one_where_the_model_takes_a_temperature() -> None:  # M7
    async with Stage(tools=[Echo()]) as stage:
        stage.api.reply(tool("Echo", text="a"))
        stage.api.reply(text("ok"))
        await stage.turn()
        assert [request.temperature for request in stage.requests] == [1.0, 1.0]
        assert all("temperature" not in call.body for call in stage.api.calls)  # these models refuse one
        takes = catalog.info("local", {"local": {"accepts_temperature": True}})
        assert decoded(build(stage.requests[0], takes))["temperature"] == 1.0


async def test_a_compaction_by_someone_else_is_used_and_counted() -> None:  # Q2 deps, C5
    asked: list[ModelRequest] = []

    async def summarise(request: ModelRequest) -> CallSummary:
        asked.append(request)
        return CallSummary(
            text="<summary>All of it.</summary>", usage=Usage(input_tokens=10, output_tokens=5), cost_usd=0.5
        )

    async with Stage(commands=BUILT_IN) as stage:
        engine = stage.new_engine(compact=summarise)
        stage.api.reply(text("ok"))
        before = (await stage.turn(engine=engine)).result
        turn = await stage.turn("/compact", engine=engine)
        assert [boundary.summary for boundary in turn.of(CompactBoundary)] == ["All of it."]
        assert len(asked) == 1 and len(stage.api.calls) == 1
        assert turn.result.total_cost_usd == before.total_cost_usd + 0.5
        assert turn.result.usage == before.usage + Usage(input_tokens=10, output_tokens=5)


async def test_a_file_cache_handed_in_is_the_one_that_is_kept(tmp_path: Path) -> None:  # Q2 read_file_cache, C7
    path = tmp_path / "a.py"
    path.write_text("one\n")
    cache: dict[str, ReadMark] = {}
    services = ToolServices(workspace=DiskWorkspace())
    async with Stage(tools=[Read()], cwd=str(tmp_path), services=services, read_files=cache) as stage:
        stage.api.reply(tool("Read", id="toolu_1", file_path=str(path)))
        stage.api.reply(text("ok"))
        await stage.turn()
        assert list(cache) == [str(path)]
        resumed = stage.new_engine(messages=stage.engine.messages)
        stage.api.reply(tool("Read", id="toolu_2", file_path=str(path)))
        stage.api.reply(text("ok"))
        await stage.turn("again", engine=resumed)
        results = stage.api.calls[-1].tool_results
        assert "one" in str(results["toolu_1"]["content"])
        assert "one" not in str(results["toolu_2"]["content"])  # a stub: the model still sees the first


async def test_tools_of_mcp_servers_are_offered_and_run() -> None:  # Q2 mcp_clients
    class Ticket(Echo):
        name = "mcp__tickets__find"

    ticket = Ticket()
    client = McpClient(name="tickets", tools=(ticket,), instructions="Ask it for tickets.")
    async with Stage(tools=[Echo()], mcp_clients=(client,)) as stage:
        stage.api.reply(tool("mcp__tickets__find", text="42"))
        stage.api.reply(text("found"))
        turn = await stage.turn()
        init = turn.of(SystemInit)[0]
        assert "mcp__tickets__find" in init.tools
        assert init.mcp_servers == ({"name": "tickets", "status": "connected"},)
        assert ticket.log == ["42"]
        assert "Ask it for tickets." in str(stage.api.calls[0].body["system"])


async def test_totals_and_denials_of_before_go_on_in_a_resumed_session() -> None:  # Q6
    async with Stage() as stage:
        stage.api.reply(text("one"), output_tokens=100)
        first = (await stage.turn()).result
        denial = PermissionDenial(tool_name="Bash", tool_use_id="t", tool_input={"command": "rm"})
        restored = replace(first, permission_denials=(denial,), num_turns=7, duration_ms=99_999)
        resumed = stage.new_engine(messages=stage.engine.messages, result=restored)
        stage.api.reply(text("two"), output_tokens=50)
        second = (await stage.turn("more", engine=resumed)).result
        assert second.permission_denials == (denial,)
        assert second.usage.output_tokens == 150
        assert second.total_cost_usd > first.total_cost_usd
        assert second.model_usage["claude-opus-4-8"].usage == second.usage
        assert second.num_turns == 1 and second.duration_ms != 99_999  # of this turn only
