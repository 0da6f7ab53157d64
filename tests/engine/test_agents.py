"""Subagents: their own context, counted in the parent, seen through the parent (T7)."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from assent.extensions.agents import BUILT_IN, AgentDefinition
from assent.tools.agent import Agent
from assent.types.blocks import text_of
from assent.types.messages import (
    AssistantFinal,
    AssistantMessage,
    Attachment,
    Message,
    StreamEvent,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from assent.types.permissions import Allow, Verdict
from assent.types.ports import ToolCall
from enginekit import Change, Echo, Gate, Stage
from enginekit.stage import OTHER_MODEL
from fakeapi import Block, Reply, Request, hold, text, tool

SCOUT = AgentDefinition(
    name="scout", description="looks", prompt="You scout.", tools=("Echo", "Agent"), model=OTHER_MODEL, max_turns=5
)


def from_scout(request: Request) -> bool:
    return "You scout." in str(request.body.get("system"))


def ask(prompt: str = "find it", **options: Any) -> Block:
    return tool("Agent", id="toolu_agent", description="find", prompt=prompt, subagent_type="scout", **options)


async def test_a_subagent_works_in_its_own_context_and_its_last_words_are_the_result() -> None:
    echo = Echo()
    async with Stage(tools=[Agent(), echo, Change()], agents=(*BUILT_IN, SCOUT)) as stage:
        stage.api.when(
            from_scout,
            Reply(parts=(text("looking"), tool("Echo", text="deep"))),
            Reply(parts=(text("It is in a.py."),)),
        )
        stage.api.reply(text("I will send a scout."), ask())
        stage.api.reply(text("Found."))
        turn = await stage.turn("where is it?")

        assert turn.result.result == "Found."
        assert str(stage.api.calls[-1].tool_results["toolu_agent"]["content"]).startswith("It is in a.py.\n\n[agent ")
        scouting = [call for call in stage.api.calls if from_scout(call)]
        assert [call.body["model"] for call in scouting] == [OTHER_MODEL] * 2
        assert [t["name"] for t in scouting[0].body["tools"]] == ["Echo"]  # no agents of its own
        assert "where is it?" not in str(scouting[0].messages)
        assert "find it" in str(scouting[0].messages)


async def test_several_subagents_work_at_the_same_time() -> None:  # T7
    async with Stage(tools=[Agent(), Echo()], agents=(SCOUT,)) as stage:
        for name in ("north", "south"):
            stage.api.when(
                lambda call, name=name: from_scout(call) and f"look {name}" in str(call.messages),
                Reply(parts=(text("seen ", hold(name), name),)),
            )
        stage.api.reply(*(tool("Agent", id=f"toolu_{n}", description=n, prompt=f"look {n}", subagent_type="scout")
                          for n in ("north", "south")))  # fmt: skip
        stage.api.reply(text("Both seen."))
        async with anyio.create_task_group() as group:
            group.start_soon(stage.turn)
            with anyio.fail_after(60):
                await stage.api.reached("north")
                await stage.api.reached("south")  # while the other has not ended
            stage.api.release("south")
            stage.api.release("north")
        results = stage.api.calls[-1].tool_results
        assert [results[f"toolu_{n}"]["content"].split("\n")[0] for n in ("north", "south")] == [
            "seen north",
            "seen south",
        ]


async def test_what_a_subagent_does_is_seen_under_the_call_that_started_it_and_stays_out_of_the_history() -> None:
    async with Stage(tools=[Agent(), Echo()], agents=(SCOUT,), include_partial_messages=True) as stage:
        stage.api.when(from_scout, Reply(parts=(tool("Echo", text="deep"),)), Reply(parts=(text("here"),)))
        stage.api.reply(ask())
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        marked = (AssistantMessage, UserMessage, AssistantFinal, StreamEvent, ToolStarted, ToolFinished)
        inside = [m for m in turn.messages if isinstance(m, marked) and m.parent_tool_use_id == "toolu_agent"]
        assert {m.type for m in inside} == {
            "assistant",
            "user",
            "assistant_final",
            "stream_event",
            "tool_started",
            "tool_finished",
        }
        assert not any(
            isinstance(m, AssistantMessage | UserMessage) and m.parent_tool_use_id for m in stage.engine.messages
        )
        stage.assert_reloads()


async def test_a_subagents_spend_is_the_parents() -> None:  # Q9
    async with Stage(tools=[Agent()], agents=(SCOUT,)) as stage:
        stage.api.when(from_scout, Reply(parts=(text("here"),), output_tokens=1_000))
        stage.api.reply(ask())
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert set(turn.result.model_usage) == {"claude-opus-4-8", OTHER_MODEL}
        assert turn.result.model_usage[OTHER_MODEL].usage.output_tokens == 1_000
        assert turn.result.total_cost_usd == pytest.approx(sum(m.cost_usd for m in turn.result.model_usage.values()))


async def test_a_subagents_spend_ends_the_parents_turn_at_the_limit() -> None:  # Q9
    async with Stage(tools=[Agent(), Echo()], agents=(SCOUT,), max_budget_usd=0.5) as stage:
        stage.api.when(from_scout, Reply(parts=(tool("Echo", text="x"),), output_tokens=100_000))
        stage.api.reply(ask())
        turn = await stage.turn()
        assert turn.result.terminal == "budget_usd"


async def test_a_subagents_calls_go_through_the_same_permissions_with_the_parent_named() -> None:
    judged: list[tuple[str, str | None]] = []

    async def judge(call: ToolCall) -> Verdict:
        judged.append((call.action.tool, call.parent_tool_use_id))
        return Allow(step="rules", reason="ok")

    async with Stage(tools=[Agent(), Echo()], agents=(SCOUT,), can_use_tool=judge) as stage:
        stage.api.when(from_scout, Reply(parts=(tool("Echo", text="deep"),)), Reply(parts=(text("here"),)))
        stage.api.reply(ask())
        stage.api.reply(text("ok"))
        await stage.turn()
        assert judged == [("Agent", None), ("Echo", "toolu_agent")]


async def test_an_abort_ends_the_subagent_with_the_turn() -> None:  # L14
    gate = Gate()
    scout = AgentDefinition(name="scout", description="looks", prompt="You scout.")
    async with Stage(tools=[Agent(), gate], agents=(scout,)) as stage:
        stage.api.when(from_scout, Reply(parts=(tool("Gate", text="deep"),)))
        stage.api.reply(ask())

        def stop(_at: int, message: Message) -> None:
            if isinstance(message, ToolStarted) and message.tool == "Gate":
                stage.engine.abort()

        turn = await stage.turn(on_message=stop)
        assert turn.result.terminal == "aborted_tools"
        assert gate.cancelled == ["deep"]


async def test_a_background_agent_outlives_the_turn_and_notifies() -> None:  # S5, L11
    gate = Gate()
    scout = AgentDefinition(name="scout", description="looks", prompt="You scout.")
    published: list[Message] = []
    done = anyio.Event()

    def publish(message: Message) -> None:
        published.append(message)
        if isinstance(message, Attachment):
            done.set()

    async with Stage(tools=[Agent(), gate], agents=(scout,), publish=publish) as stage:
        stage.api.when(from_scout, Reply(parts=(tool("Gate", text="deep"),)), Reply(parts=(text("It was the cache."),)))
        stage.api.reply(ask(run_in_background=True))
        stage.api.reply(text("It is being looked into."))
        turn = await stage.turn()
        assert turn.result.result == "It is being looked into."
        assert "works in the background" in str(stage.api.calls[-1].tool_results["toolu_agent"]["content"])
        with anyio.fail_after(60):
            await gate.reached.wait()
            gate.opened.set()
            await done.wait()
        stage.api.reply(text("So it was the cache."))
        await stage.turn("anything new?")
        assert "It was the cache." in str(stage.api.calls[-1].messages)
        assert any(isinstance(m, ToolStarted) for m in published)


async def test_a_background_agent_ends_at_the_sessions_limit_too() -> None:  # Q9
    """Its messages pass no turn of the parent, which may be over by then."""
    gate = Gate()
    scout = AgentDefinition(name="scout", description="looks", prompt="You scout.")
    done = anyio.Event()
    told: list[str] = []

    def publish(message: Message) -> None:
        if isinstance(message, Attachment):
            told.append(text_of(message.content))
            done.set()

    async with Stage(tools=[Agent(), gate, Echo()], agents=(scout,), publish=publish, max_budget_usd=0.5) as stage:
        stage.api.when(
            from_scout,
            Reply(parts=(tool("Gate", text="deep"),)),
            Reply(parts=(tool("Echo", text="dear"),), output_tokens=100_000),
        )
        stage.api.reply(ask(run_in_background=True))
        stage.api.reply(text("It is being looked into."))
        assert (await stage.turn()).result.terminal == "completed"
        with anyio.fail_after(60):
            await gate.reached.wait()
            gate.opened.set()
            await done.wait()
        assert len(stage.api.calls) == 4
        assert "failed" in told[0] and "$0.5 is spent" in told[0]


async def test_an_unknown_agent_is_an_error_the_model_can_read() -> None:
    async with Stage(tools=[Agent()], agents=(SCOUT,)) as stage:
        stage.api.reply(tool("Agent", id="toolu_1", description="d", prompt="p", subagent_type="wizard"))
        stage.api.reply(text("ok"))
        await stage.turn()
        assert "There is no agent 'wizard'" in str(stage.api.calls[1].tool_results["toolu_1"]["content"])


async def test_an_agent_moved_to_the_background_lets_its_turn_go_on_and_tells_its_end() -> None:  # S5
    gate = Gate()
    scout = AgentDefinition(name="scout", description="looks", prompt="You scout.")
    done = anyio.Event()

    def publish(message: Message) -> None:
        if isinstance(message, Attachment):
            done.set()

    async with Stage(tools=[Agent(), gate], agents=(scout,), publish=publish) as stage:
        stage.api.when(from_scout, Reply(parts=(tool("Gate", text="deep"),)), Reply(parts=(text("It was the cache."),)))
        stage.api.reply(ask())
        stage.api.reply(text("I go on."))
        moved: list[str | None] = []

        def move(_at: int, message: Message) -> None:
            if isinstance(message, ToolStarted) and message.tool == "Gate":
                moved.append(stage.engine.agents.move_to_background("toolu_agent"))

        turn = await stage.turn(on_message=move)
        assert turn.result.result == "I go on."
        (run,) = stage.engine.agents.list()
        assert moved == [run["agentId"]]
        assert (run["state"], run["background"], run["parentToolUseId"]) == ("running", True, "toolu_agent")
        assert stage.engine.agents.move_to_background("toolu_agent") is None
        gate.opened.set()
        with anyio.fail_after(60):
            await done.wait()
        stage.api.reply(text("So it was the cache."))
        await stage.turn("anything new?")
        assert "It was the cache." in str(stage.api.calls[-1].messages)
        (run,) = stage.engine.agents.list()
        assert run["state"] == "finished" and run["tokens"] > 0


async def test_an_agent_that_another_one_waits_for_is_not_moved_to_the_background() -> None:  # S5, T7
    """It would die with the agent that started it, and nobody would hear of its end."""
    lead = AgentDefinition(name="lead", description="leads", prompt="You lead.", tools=("Agent",), agents=("scout",))
    scout = AgentDefinition(name="scout", description="looks", prompt="You scout.", tools=("Gate",))
    gate = Gate()
    async with Stage(tools=[Agent(), gate], agents=(lead, scout)) as stage:
        inner = tool("Agent", id="toolu_inner", description="d", prompt="p", subagent_type="scout")
        stage.api.when(from_scout, Reply(parts=(tool("Gate", text="deep"),)), Reply(parts=(text("Found."),)))
        stage.api.when("You lead.", Reply(parts=(inner,)), Reply(parts=(text("Led."),)))
        stage.api.reply(tool("Agent", id="toolu_agent", description="d", prompt="p", subagent_type="lead"))
        stage.api.reply(text("done"))
        moved: list[str | None] = []

        def move(_at: int, message: Message) -> None:
            if isinstance(message, ToolStarted) and message.tool == "Gate":
                moved.append(stage.engine.agents.move_to_background("toolu_inner"))
                gate.opened.set()

        await stage.turn(on_message=move)
        assert moved == [None]
        assert "Found." in str([call.messages for call in stage.api.calls])


async def test_an_agent_that_a_person_stops_ends_its_call_with_those_words() -> None:  # S5
    gate = Gate()
    scout = AgentDefinition(name="scout", description="looks", prompt="You scout.")
    async with Stage(tools=[Agent(), gate], agents=(scout,)) as stage:
        stage.api.when(from_scout, Reply(parts=(tool("Gate", text="deep"),)))
        stage.api.reply(ask())
        stage.api.reply(text("All right."))

        def stop(_at: int, message: Message) -> None:
            if isinstance(message, ToolStarted) and message.tool == "Gate":
                (run,) = stage.engine.agents.list()
                assert stage.engine.agents.stop(run["agentId"])

        turn = await stage.turn(on_message=stop)
        assert turn.result.result == "All right."
        assert "The user stopped this agent" in str(stage.api.calls[-1].tool_results["toolu_agent"]["content"])
        (run,) = stage.engine.agents.list()
        assert run["state"] == "stopped"
        assert not stage.engine.agents.stop(run["agentId"])
