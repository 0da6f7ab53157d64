"""Many agents at once, agents of agents, agents that go on, and those a person takes to the front again (T7, S5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from assent.extensions.agents import AgentDefinition
from assent.storage.agent_logs import AgentLogs
from assent.tools.agent import Agent
from assent.types.messages import AssistantMessage, Attachment, Message, Notice, ToolFinished, ToolStarted
from enginekit import Echo, Gate, Stage
from enginekit.stage import WAIT
from fakeapi import Block, Reply, Request, hold, text, tool

SCOUT = AgentDefinition(name="scout", description="looks", prompt="You scout.", tools=("Echo",))
LEAD = AgentDefinition(name="lead", description="leads", prompt="You lead.", tools=("Agent(scout)",), agents=("scout",))


def says(words: str) -> Callable[[Request], bool]:
    return lambda request: words in str(request.body.get("system"))


def start(agent: str = "scout", id: str = "toolu_agent", prompt: str = "find it", **options: Any) -> Block:
    return tool("Agent", id=id, description="d", prompt=prompt, subagent_type=agent, **options)


async def test_twenty_agents_at_once_are_each_seen_under_their_own_call() -> None:  # T7
    names = [f"n{number:02}" for number in range(20)]
    async with Stage(tools=[Agent(), Echo()], agents=(SCOUT,)) as stage:
        for name in names:
            stage.api.when(
                lambda call, name=name: says("You scout.")(call) and f"look {name}." in str(call.messages),
                Reply(parts=(text(f"I look for {name}"), tool("Echo", id=f"toolu_in_{name}", text=name))),
                Reply(parts=(text("seen ", hold(name), name),)),
            )
        stage.api.reply(*(start(id=f"toolu_{name}", prompt=f"look {name}.") for name in names))
        stage.api.reply(text("All seen."))
        logs: list[Any] = []

        async def turn() -> None:
            logs.append(await stage.turn())

        async with anyio.create_task_group() as group:
            group.start_soon(turn)
            with anyio.fail_after(WAIT):
                for name in names[:10]:
                    await stage.api.reached(name)  # ten at a time, all of them at work
                assert {run["state"] for run in stage.engine.agents.list()} == {"running"}
                for name in reversed(names[:10]):
                    stage.api.release(name)
                for name in names[10:]:
                    await stage.api.reached(name)
            for name in names[10:]:
                stage.api.release(name)
        messages: list[Message] = logs[0].messages
        for name in names:
            inside = [m for m in messages if getattr(m, "parent_tool_use_id", None) == f"toolu_{name}"]
            assert [m.tool_use_id for m in inside if isinstance(m, ToolStarted)] == [f"toolu_in_{name}"]
            assert [m.tool_use_id for m in inside if isinstance(m, ToolFinished)] == [f"toolu_in_{name}"]
            words = " ".join(str(m.content) for m in inside if isinstance(m, AssistantMessage))
            assert f"I look for {name}" in words and f"seen {name}" in words
            assert not any(other in words for other in names if other != name)
        runs = stage.engine.agents.list()
        assert len(runs) == 20 and {run["state"] for run in runs} == {"finished"}
        assert all(run["tokens"] > 0 and run["costUsd"] > 0 for run in runs)
        total = sum(run["costUsd"] for run in runs)
        assert total < stage.engine.ledger.cost_usd  # all of it, and the main agent's own
        results = stage.api.calls[-1].tool_results
        assert [results[f"toolu_{name}"]["content"].split("\n")[0] for name in names] == [f"seen {n}" for n in names]


async def test_an_agent_may_start_those_that_its_tools_name_and_events_nest() -> None:  # T7
    other = AgentDefinition(name="other", description="o", prompt="You are another.")
    async with Stage(tools=[Agent(), Echo()], agents=(LEAD, SCOUT, other)) as stage:
        stage.api.when(
            says("You lead."), Reply(parts=(start(id="toolu_inner"),)), Reply(parts=(text("The scout saw it."),))
        )
        stage.api.when(says("You scout."), Reply(parts=(tool("Echo", text="deep"),)), Reply(parts=(text("seen"),)))
        stage.api.reply(start("lead", id="toolu_outer"))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert {m.parent_tool_use_id for m in turn.messages if isinstance(m, ToolStarted) and m.tool == "Echo"} == {
            "toolu_inner"
        }
        inner = [m for m in turn.messages if isinstance(m, AssistantMessage) and m.parent_tool_use_id == "toolu_inner"]
        assert "seen" in str([m.content for m in inner])
        assert {(run["name"], run["parentToolUseId"]) for run in stage.engine.agents.list()} == {
            ("lead", "toolu_outer"),
            ("scout", "toolu_inner"),
        }


async def test_an_agent_cannot_start_one_that_it_does_not_name() -> None:
    other = AgentDefinition(name="other", description="o", prompt="You are another.")
    async with Stage(tools=[Agent()], agents=(LEAD, SCOUT, other)) as stage:
        stage.api.when(says("You lead."), Reply(parts=(start("other", id="toolu_x"),)), Reply(parts=(text("no"),)))
        stage.api.reply(start("lead"))
        stage.api.reply(text("ok"))
        await stage.turn()
        assert "There is no agent 'other'" in str(stage.api.calls[2].tool_results["toolu_x"]["content"])


@pytest.mark.parametrize("circle", [("a",), ("a", "b"), ("a", "b", "c", "d")])
async def test_agents_that_start_each_other_end_in_a_clear_error(circle: tuple[str, ...]) -> None:
    agents = tuple(
        AgentDefinition(
            name=name,
            description=name,
            prompt=f"You are <{name}>.",
            tools=("Agent",),
            agents=(circle[(at + 1) % len(circle)],),
        )
        for at, name in enumerate(circle)
    )
    async with Stage(tools=[Agent()], agents=agents) as stage:
        for at, name in enumerate(circle):
            following = circle[(at + 1) % len(circle)]
            stage.api.when(
                says(f"You are <{name}>."),
                Reply(parts=(start(following, id=f"toolu_{name}"),)),
                Reply(parts=(text(f"{name} done"),)),
            )
        stage.api.reply(start("a"))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert turn.result.result == "ok"
        told = [str(m.content) for m in turn.messages if isinstance(m, ToolFinished) and m.is_error]
        assert len(told) == 1 and ("in a circle" in told[0] or "3 deep" in told[0])


async def test_an_agent_that_ended_goes_on_where_it_stopped(tmp_path: Path) -> None:  # T7
    logs = AgentLogs(tmp_path / "agents")
    async with Stage(tools=[Agent(), Echo()], agents=(SCOUT,), agent_logs=logs) as stage:
        stage.api.when(says("You scout."), Reply(parts=(text("It is in a.py."),)), Reply(parts=(text("In line 7."),)))
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        await stage.turn()
        (run,) = stage.engine.agents.list()
        stage.api.reply(start(id="toolu_more", prompt="which line?", resume=run["agentId"]))
        stage.api.reply(text("ok"))
        await stage.turn()
        scouting = [call for call in stage.api.calls if says("You scout.")(call)]
        assert "It is in a.py." in str(scouting[1].messages) and "which line?" in str(scouting[1].messages)
        assert "In line 7." in str(stage.api.calls[-1].tool_results["toolu_more"]["content"])
        (again,) = stage.engine.agents.list()
        assert (again["agentId"], again["parentToolUseId"]) == (run["agentId"], "toolu_more")

        later = stage.new_engine(agent_logs=AgentLogs(tmp_path / "agents"))  # another process
        stage.api.when(says("You scout."), Reply(parts=(text("Still line 7."),)))
        stage.api.reply(start(id="toolu_last", prompt="sure?", resume=run["agentId"]))
        stage.api.reply(start(id="toolu_none", prompt="sure?", resume="../../etc/passwd"))
        stage.api.reply(text("ok"))
        await stage.turn(engine=later)
        await later.aclose()
        results = {key: value for call in stage.api.calls[-2:] for key, value in call.tool_results.items()}
        assert "Still line 7." in str(results["toolu_last"]["content"])
        assert "There is no agent ../../etc/passwd to go on with" in str(results["toolu_none"]["content"])
        assert "which line?" in str([call for call in stage.api.calls if says("You scout.")(call)][-1].messages)


async def test_what_a_definition_names_and_is_not_there_is_told_once() -> None:
    wishful = AgentDefinition(
        name="wish",
        description="w",
        prompt="You wish.",
        tools=("Echo", "Nope", "mcp__gone"),
        skills=("fly",),
        agents=("ghost",),
        mcp_servers=("db",),
    )
    async with Stage(tools=[Agent(), Echo()], agents=(wishful,)) as stage:
        stage.api.when(says("You wish."), *[Reply(parts=(text("done"),)) for _ in range(2)])
        stage.api.reply(start("wish", id="toolu_1"), start("wish", id="toolu_2"))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        (notice,) = [m for m in turn.messages if isinstance(m, Notice)]
        for word in ("tool Nope", "tool mcp__gone", "skill fly", "agent ghost", "MCP server db"):
            assert word in notice.text
        assert "Echo" not in notice.text


async def test_the_initial_prompt_of_an_agent_stands_before_its_task() -> None:  # T7
    ready = AgentDefinition(name="ready", description="r", prompt="You wait.", initial_prompt="Look around first.")
    async with Stage(tools=[Agent()], agents=(ready,)) as stage:
        stage.api.when(says("You wait."), Reply(parts=(text("done"),)))
        stage.api.reply(start("ready"))
        stage.api.reply(text("ok"))
        await stage.turn()
        (call,) = [call for call in stage.api.calls if says("You wait.")(call)]
        first = str(call.messages[0])
        (task,) = [call for call in stage.api.calls if "ready" in str(call.messages) and call.tool_results]
        (started,) = [block for _, block in task.blocks if block.get("name") == "Agent"]
        assert f"Look around first.\\n\\n{started['input']['prompt']}" in first


async def test_an_agents_own_notes_are_shown_to_it_and_it_gets_the_tools_to_keep_them(tmp_path: Path) -> None:
    class ReadTool(Echo):
        name = "Read"

    keeper = AgentDefinition(name="keeper", description="k", prompt="You keep.", tools=("Echo",), memory="project")

    def notes(_agent: AgentDefinition) -> Path:
        return tmp_path

    (tmp_path / "MEMORY.md").write_text("The cache lies.\n" + "x\n" * 500)
    async with Stage(tools=[Agent(), Echo(), ReadTool()], agents=(keeper,), agent_memory=notes) as stage:
        stage.api.when(says("You keep."), Reply(parts=(text("done"),)))
        stage.api.reply(start("keeper"))
        stage.api.reply(text("ok"))
        await stage.turn()
        call = next(call for call in stage.api.calls if says("You keep.")(call))
        said = str(call.messages)
        assert "The cache lies." in said and str(tmp_path) in said and said.count("x\\n") < 250
        assert [each["name"] for each in call.body["tools"]] == ["Echo", "Read"]


class Entered:
    """Takes hooks for a while, as the runner of hooks does."""

    def __init__(self) -> None:
        self.now: list[str] = []
        self.ever: list[tuple[str, str | None, object]] = []

    def enter(self, hooks: Mapping[str, Any], **scope: Any) -> Callable[[], None]:
        self.now.append(scope["agent_id"])
        self.ever.append((scope["source"], scope["agent_id"], hooks))
        return lambda: self.now.remove(scope["agent_id"])

    def cleared(self, session_id: str) -> None: ...


@pytest.mark.parametrize("ending", ["done", "stopped"])
async def test_the_hooks_of_an_agents_header_count_while_it_runs(ending: str) -> None:  # H
    gate, scoped = Gate(), Entered()
    own = {"Stop": [{"hooks": [{"type": "command", "command": "./check.sh"}]}]}
    scout = AgentDefinition(name="scout", description="looks", prompt="You scout.", hooks=own)
    async with Stage(tools=[Agent(), gate], agents=(scout,), scoped_hooks=scoped) as stage:
        stage.api.when(says("You scout."), Reply(parts=(tool("Gate", text="deep"),)), Reply(parts=(text("seen"),)))
        stage.api.reply(start())
        stage.api.reply(text("ok"))

        async def act() -> None:
            await gate.reached.wait()
            assert scoped.now == ["toolu_agent"]
            if ending == "done":
                gate.opened.set()
            else:
                stage.engine.agents.stop(stage.engine.agents.list()[0]["agentId"])

        with anyio.fail_after(WAIT):
            async with anyio.create_task_group() as group:
                group.start_soon(stage.turn)
                group.start_soon(act)
        assert scoped.now == [] and scoped.ever == [("agent", "toolu_agent", own)]


# --- to the front and back ---------------------------------------------------------------------------------------------


class Pause(Gate):
    name = "Pause"


@pytest.mark.parametrize("order", ["ends", "sent back", "stopped"])
async def test_a_turn_waits_for_an_agent_that_was_taken_to_the_front_again(order: str) -> None:  # S5
    gate, pause = Gate(), Pause()
    scout = AgentDefinition(name="scout", description="looks", prompt="You scout.", tools=("Gate",))
    ended: list[str] = []
    async with Stage(tools=[Agent(), gate, pause], agents=(scout,), front_ended=ended.append) as stage:
        stage.api.when(
            says("You scout."), Reply(parts=(tool("Gate", text="deep"),)), Reply(parts=(text("The cache."),))
        )
        stage.api.reply(start(run_in_background=True))
        stage.api.reply(tool("Pause", text="meanwhile"))
        stage.api.reply(text("So it is."))
        agents = stage.engine.agents

        async def act() -> None:
            await gate.reached.wait()
            await pause.reached.wait()
            (run,) = agents.list()
            assert run["background"]
            for _ in range(2):
                assert agents.move_to_foreground(run["agentId"]) == "toolu_agent"
            assert not agents.list()[0]["background"]
            pause.opened.set()
            if order == "sent back":
                assert agents.move_to_background("toolu_agent") == agents.list()[0]["agentId"]
                assert agents.list()[0]["background"]
            elif order == "stopped":
                assert agents.stop(agents.list()[0]["agentId"])
            else:
                gate.opened.set()

        turns: list[Any] = []

        async def turn() -> None:
            turns.append(await stage.turn())

        with anyio.fail_after(WAIT):
            async with anyio.create_task_group() as group:
                group.start_soon(turn)
                group.start_soon(act)
        assert turns[0].result.result == "So it is."
        told = [m for m in turns[0].messages if isinstance(m, Attachment) and m.kind == "task_notification"]
        last = str(stage.api.calls[-1].messages)
        if order == "sent back":
            assert not told and "The cache." not in last and ended == []
            gate.opened.set()
        else:
            assert len(told) == 1 and ("The cache." if order == "ends" else "was stopped by the user") in last
            assert len(ended) == 1
            assert agents.move_to_foreground(agents.list()[0]["agentId"]) is None  # it has ended
