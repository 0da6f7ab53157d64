"""A command with `context: fork`: an agent works on it in a context of its own, and its answer ends the turn."""

from __future__ import annotations

from typing import Any

from assent.extensions.agents import AgentDefinition
from assent.extensions.commands import Expansion, SlashCommand
from assent.types.blocks import text_block, text_of
from assent.types.messages import AssistantMessage, ToolFinished, ToolStarted
from enginekit import Echo, Gate, Stage
from fakeapi import Reply, Request, failure, text, tool

SCOUT = AgentDefinition(name="scout", description="looks", prompt="You scout.", tools=("Echo", "Gate"))
TASK = "Survey everything."


async def survey(_arguments: str) -> Expansion:
    return Expansion(blocks=(text_block(TASK),), agent="scout")


FORKED = SlashCommand(name="survey", description="looks around", expand=survey)


def of_scout(request: Request) -> bool:
    return "You scout." in str(request.body.get("system"))


def staged(*agents: AgentDefinition, **more: Any) -> Stage:
    return Stage(tools=[Echo(), Gate()], commands=(FORKED,), agents=agents, **more)


async def test_a_forked_command_is_told_as_a_call_of_agent_and_its_answer_is_the_turns() -> None:
    seconds, ids = iter(range(1000)), iter(f"id{number}" for number in range(1000))
    async with staged(SCOUT, clock=lambda: next(seconds), new_id=lambda: next(ids), now=lambda: 77.0) as stage:
        stage.api.when(of_scout, Reply(parts=(tool("Echo", id="toolu_e", text="a"),)), Reply(parts=(text("Three."),)))
        turn = await stage.turn("/survey")

        started, inner = turn.of(ToolStarted)
        finished = turn.of(ToolFinished)[-1]
        assert (started.tool, started.title) == ("Agent", "Agent scout")
        assert started.input == {"subagent_type": "scout", "prompt": TASK}
        assert (inner.tool, inner.parent_tool_use_id) == ("Echo", started.tool_use_id)
        assert (finished.tool_use_id, finished.tool) == (started.tool_use_id, "Agent")
        assert (finished.is_error, finished.summary.partition(",")[0]) == (False, "2 steps")
        assert [message.type for message in turn.messages][-3:] == ["tool_finished", "assistant", "result"]
        between = finished.duration_ms // 1000  # every look at the clock is one second later than the one before
        assert finished.duration_ms == between * 1000 and 0 < between < next(seconds)

        answer = turn.messages[-2]
        assert isinstance(answer, AssistantMessage)
        assert answer.content == finished.content and str(answer.content).count("Three.") == 1
        assert (answer.uuid, answer.timestamp, answer.error) == (answer.message_id, 77.0, None)
        assert answer.model == stage.requests[0].model
        assert (turn.result.subtype, turn.result.terminal) == ("success", "completed")
        assert turn.result.result.startswith("Three.\n\n[agent ")


async def test_a_forked_commands_agent_is_started_with_its_task_and_listed_by_its_name() -> None:
    async with staged(SCOUT) as stage:
        listed: list[Any] = []

        def look(_request: Request) -> Reply:
            listed.extend(stage.engine.agents.list())
            return Reply(parts=(text("Three."),))

        stage.api.otherwise(look)
        turn = await stage.turn("/survey")
        (run,) = listed
        (started,) = turn.of(ToolStarted)
        assert (run["name"], run["title"], run["background"]) == ("scout", "scout", False)
        (request,) = stage.requests
        assert (request.chain.depth, request.chain.parent_tool_use_id) == (1, started.tool_use_id)
        assert TASK in str(stage.api.calls[0].messages)


async def test_the_conversation_keeps_the_command_and_the_answer_of_its_agent_alone() -> None:
    async with staged(SCOUT) as stage:
        stage.api.when(of_scout, Reply(parts=(text("Three."),)))
        await stage.turn("/survey")
        stage.api.reply(text("As I said."))
        await stage.turn("how many?")
        seen = str(stage.api.calls[-1].messages)
        assert "/survey" in seen and "Three." in seen and TASK not in seen
        stage.assert_reloads()


async def test_a_forked_command_whose_agent_fails_ends_the_turn_with_its_error() -> None:
    async with staged(SCOUT) as stage:
        stage.api.when(of_scout, *[failure(400, "no such thing")] * 3)
        turn = await stage.turn("/survey")
        finished = turn.of(ToolFinished)[-1]
        assert finished.is_error and "no such thing" in str(finished.content)
        assert len(turn.errors) >= 1 and "no such thing" in turn.errors[-1]
        shown = [m for m in turn.of(AssistantMessage) if m.error == "agent"]
        assert [m.content for m in shown] == [finished.content]
        assert (turn.result.terminal, turn.result.is_error) == ("model_error", True)
        assert "no such thing" in turn.result.result
        stage.api.reply(text("ok"))
        await stage.turn("and now?")
        assert "no such thing" not in str(stage.api.calls[-1].messages)  # people saw it; the model did not say it


async def test_a_forked_command_says_that_its_agent_does_not_exist() -> None:
    other = AgentDefinition(name="other", description="o", prompt="You are another.")
    for agents, words in (((other,), "There is no agent 'scout'"), ((), "Agents are not available here.")):
        async with staged(*agents) as stage:
            turn = await stage.turn("/survey")
            (finished,) = turn.of(ToolFinished)
            assert (finished.is_error, finished.summary) == (True, "failed")
            assert words in str(finished.content) and words in turn.errors[0]
            assert (turn.result.terminal, turn.result.result) == ("model_error", turn.errors[0])
            assert stage.requests == []


async def test_a_forked_command_that_is_interrupted_ends_its_call_for_whoever_watches() -> None:  # L14
    async with staged(SCOUT) as stage:
        stage.api.when(of_scout, Reply(parts=(tool("Gate", id="toolu_g", text="deep"),)))

        def stop(_at: int, message: Any) -> None:
            if isinstance(message, ToolStarted) and message.tool == "Gate":
                stage.engine.abort()

        turn = await stage.turn("/survey", on_message=stop)
        (finished,) = turn.of(ToolFinished)
        assert turn.result.terminal.startswith("aborted")
        assert finished.tool_use_id == turn.of(ToolStarted)[0].tool_use_id
        assert finished.is_error and finished.summary.startswith("Interrupted: the user stopped the turn")
        assert text_of(finished.content) == finished.summary
        assert [run["state"] for run in stage.engine.agents.list()] == ["failed"]
        await stage.nothing_left_running()
