"""What was spent stays spent: over crashes, rebuilds and resumed sessions (Q6, Q9, L12)."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from assent.engine.config import TaskBudget
from assent.extensions.agents import AgentDefinition
from assent.extensions.commands import BUILT_IN
from assent.storage.spending import spent
from assent.tools.agent import Agent
from assent.types import codec
from assent.types.messages import AssistantFinal, Message, Result, Spent
from assent.types.usage import ModelUsage, Usage
from enginekit import Echo, Stage
from fakeapi import Reply, Request, text, tool

SCOUT = AgentDefinition(name="scout", description="looks", prompt="You scout.", tools=("Echo",))


def newest(stage: Stage) -> Spent:
    return next(m for m in reversed(stage.transcript.written) if isinstance(m, Spent))


async def test_every_call_that_was_counted_is_written_down_before_the_turn_ends() -> None:  # Q9
    """Steps, subagents and summaries alike; whatever dies in the middle, nothing counted is forgotten."""

    def from_scout(request: Request) -> bool:
        return "You scout." in str(request.body.get("system"))

    seen: list[float] = []
    async with Stage(tools=[Agent(), Echo()], agents=(SCOUT,), commands=BUILT_IN) as stage:
        stage.api.when(from_scout, Reply(parts=(text("here"),), output_tokens=1_000))
        stage.api.reply(tool("Agent", description="d", prompt="p", subagent_type="scout"), output_tokens=1_000)
        stage.api.reply(tool("Echo", text="x"), output_tokens=1_000)
        stage.api.reply(text("done"), output_tokens=1_000)

        def look(_at: int, message: Message) -> None:
            if isinstance(message, AssistantFinal):
                seen.append(stage.engine.cost()["totalCostUsd"])
                assert newest(stage).total_cost_usd == pytest.approx(stage.engine.cost()["totalCostUsd"])

        turn = await stage.turn(on_message=look)
        assert len(seen) == 4 and seen == sorted(seen) and seen[0] > 0
        assert newest(stage).total_cost_usd == turn.result.total_cost_usd
        stage.api.when("about to be replaced", Reply(parts=(text("<summary>s</summary>"),), output_tokens=1_000))
        after = await stage.turn("/compact")
        assert newest(stage).total_cost_usd == after.result.total_cost_usd > turn.result.total_cost_usd


async def test_an_engine_made_after_a_crash_goes_on_from_all_that_was_spent() -> None:  # Q6, Q9
    async with Stage(tools=[Echo()], max_budget_usd=100.0) as stage:
        stage.api.reply(text("one"), output_tokens=40_000)  # one dollar
        first = await stage.turn()
        stage.api.reply(tool("Echo", text="x"), output_tokens=1_000_000)  # twenty-five
        stage.api.reply(tool("Echo", text="y"), output_tokens=40_000)
        stage.api.error(400, "no more")
        await stage.turn()
        crashed = [m for m in stage.transcript.written if not isinstance(m, Result)]
        totals = next(m for m in reversed(crashed) if isinstance(m, Spent))
        resumed = stage.new_engine(result=first.result, spent=totals)
        assert first.result.total_cost_usd < 2 and resumed.cost()["totalCostUsd"] > 26
        limited = stage.new_engine(result=first.result, spent=totals, max_budget_usd=20.0)
        assert (await stage.turn(engine=limited)).result.terminal == "budget_usd"


async def test_a_task_budget_is_what_was_left_of_it() -> None:  # L12
    async with Stage(commands=BUILT_IN, task_budget=TaskBudget(total=100_000)) as stage:
        stage.api.reply(text("one"))
        await stage.turn()
        stage.api.when("about to be replaced", Reply(parts=(text("<summary>s</summary>"),)))
        await stage.turn("/compact")
        left = newest(stage).task_budget_remaining
        assert left is not None and 0 < left < 100_000
        same = stage.new_engine(spent=newest(stage))
        assert same._conversation.task_budget_remaining == left
        other = stage.new_engine(spent=newest(stage), task_budget=TaskBudget(total=50_000))
        assert other._conversation.task_budget_remaining == 50_000


def test_files_of_the_first_version_are_added_up(tmp_path: Path) -> None:  # Q6
    """One dollar in the last result, and twenty-five in answers of a turn that never had one."""

    def final(cost: float) -> AssistantFinal:
        return AssistantFinal(
            message_id="m", model="big", usage=Usage(output_tokens=10), stop_reason="end_turn", cost_usd=cost
        )

    result = Result(
        subtype="success", is_error=False, terminal="completed", result="", session_id="s", total_cost_usd=1.5,
        usage=Usage(output_tokens=15), model_usage={"big": ModelUsage(usage=Usage(output_tokens=15), cost_usd=1.5)},
    )  # fmt: skip
    path = tmp_path / "s.jsonl"
    lines = [codec.to_json(message) for message in (final(1.0), result, final(20.0), final(5.0))]
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    totals = spent(path)
    assert totals is not None and totals.total_cost_usd == pytest.approx(26.5)
    assert totals.model_usage["big"].usage.output_tokens == totals.usage.output_tokens == 35
    with path.open("ab") as file:
        file.write(orjson.dumps(codec.to_json(Spent(total_cost_usd=27.0))) + b"\n")
    totals = spent(path)
    assert totals is not None and totals.total_cost_usd == 27.0
