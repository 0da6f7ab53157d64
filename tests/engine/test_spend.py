"""What was spent stays spent: over crashes, rebuilds and resumed sessions (Q6, Q9, L12)."""

from __future__ import annotations

from pathlib import Path

import anyio
import orjson
import pytest

from assent.engine.config import TaskBudget
from assent.extensions.agents import AgentDefinition
from assent.extensions.commands import BUILT_IN
from assent.storage.spending import spent
from assent.tools.agent import Agent
from assent.types import codec
from assent.types.messages import AssistantFinal, AssistantMessage, Message, Result, Spent
from assent.types.usage import ModelUsage, Usage
from enginekit import Echo, Stage
from enginekit.stage import SMALL_MODEL, WAIT
from fakeapi import Reply, Request, hold, text, tool

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


async def test_what_an_answer_has_reported_is_written_down_before_the_answer_is_whole() -> None:  # Q9
    """A process that dies inside an answer has counted its prompt, and nothing is counted twice."""
    seen: list[Spent] = []
    async with Stage() as stage:
        stage.api.reply(text("one"), hold("rest"), text("two"), output_tokens=1_000)

        def look(_at: int, message: Message) -> None:
            if isinstance(message, AssistantMessage):
                seen.append(newest(stage))
                stage.api.release("rest")

        turn = await stage.turn(on_message=look)
        assert seen[0].usage.context_tokens > 100 and seen[0].usage.output_tokens == 1
        assert seen[0].total_cost_usd > 0 and seen[0].open_calls == 0
        whole = newest(stage)
        assert whole.usage.context_tokens == seen[0].usage.context_tokens + 999
        (final,) = [m for m in turn.messages if isinstance(m, AssistantFinal)]
        assert whole.usage == final.usage and whole.total_cost_usd == pytest.approx(final.cost_usd)


async def test_a_call_that_died_before_it_reported_anything_is_named(tmp_path: Path) -> None:  # Q9, S4
    path = tmp_path / "s.jsonl"
    async with Stage(commands=BUILT_IN) as stage:

        def die_here(_request: Request) -> Reply:
            """What the file holds when the endpoint has the request, and we have nothing of its answer."""
            path.write_bytes(b"".join(orjson.dumps(codec.to_json(m)) + b"\n" for m in stage.transcript.written))
            return Reply(parts=(text("late"),))

        stage.api.otherwise(die_here)
        await stage.turn()
        assert (newest(stage).open_calls, newest(stage).unreported) == (0, 0)
        left = spent(path)
        assert left is not None and (left.open_calls, left.unreported, left.total_cost_usd) == (0, 1, 0.0)
        resumed = stage.new_engine(spent=left)
        told = (await stage.turn("/cost", engine=resumed)).result.result
        assert "1 call was cut off by a crash" in told
        await stage.turn(engine=resumed)
        assert (newest(stage).open_calls, newest(stage).unreported) == (0, 1)


async def test_a_call_that_the_endpoint_refused_is_not_open_any_more() -> None:  # Q9
    async with Stage() as stage:
        stage.api.error(400, "no")
        await stage.turn()
        assert (newest(stage).open_calls, newest(stage).unreported, newest(stage).total_cost_usd) == (0, 0, 0.0)


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


@pytest.mark.parametrize("kind", ["compaction", "batch summary"])
async def test_a_call_beside_the_conversation_that_is_given_up_counts_what_it_has_reported(kind: str) -> None:  # Q9
    calls = frozenset({"summary"}) if kind == "batch summary" else frozenset[str]()
    held = Reply(parts=(text("so ", hold("beside"), "on"),), output_tokens=1_000)
    async with Stage(tools=[Echo()], commands=BUILT_IN, background_calls=calls) as stage:
        stage.api.when("about to be replaced" if kind == "compaction" else "Say in one line", held)
        stage.api.reply(tool("Echo", text="x"))
        stage.api.reply(text("done"))
        ledger, began = stage.engine.ledger, anyio.Event()
        write_down = ledger.on_spend
        assert write_down is not None
        main = Usage()  # of the other calls
        beside: list[Usage] = []

        def booked(model: str, usage: Usage, cost_usd: float, opened: int) -> None:
            nonlocal main
            write_down(model, usage, cost_usd, opened)
            if model != SMALL_MODEL and not compacting:
                main += usage
            elif usage != Usage():
                beside.append(usage)
                began.set()

        ledger.on_spend, compacting = booked, False
        await stage.turn()
        compacting = kind == "compaction"

        async def give_up() -> None:
            await began.wait()
            if compacting:
                stage.engine.abort()
            else:
                await stage.engine.aclose()

        with anyio.fail_after(WAIT):
            async with anyio.create_task_group() as group:
                if compacting:
                    group.start_soon(stage.turn, "/compact")
                group.start_soon(give_up)
        (asked,) = [
            call for call in stage.api.calls if "about to be replaced" in call.last_text or "one line" in call.last_text
        ]
        assert asked.cache is not None and not asked.finished
        (usage,) = beside
        assert usage.context_tokens == asked.cache.fresh + asked.cache.read + asked.cache.written + 1
        assert newest(stage).usage == main + usage
        assert newest(stage).open_calls == newest(stage).unreported == 0
