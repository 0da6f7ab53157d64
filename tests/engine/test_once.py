"""What was done is done once: whose call it was, and when an answer can no longer be taken back (L10, T2, T7, P11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from assent.engine.merge import Outlet
from assent.engine.prompting.equipment import equip
from assent.extensions.agents import AgentDefinition
from assent.extensions.hooks import Hook, InProcessHooks
from assent.tools.agent import Agent
from assent.tools.tool import Mine, ToolServices, anyone
from assent.types.blocks import Json, text_block
from assent.types.hooks import HookCall, HookOutcome
from assent.types.messages import Attachment, ToolFinished, UserMessage
from assent.types.permissions import Allow, Verdict
from assent.types.ports import ToolCall
from enginekit import Change, Echo, Gate, Shell, Stage, TurnLog
from fakeapi import Block, Reply, Request, hold, text, tool

WORKER = AgentDefinition(name="worker", description="works", prompt="You work.", tools=("Echo", "Change"))
SCOUT = AgentDefinition(name="scout", description="looks", prompt="You work.", tools=("Echo",))


def of_agent(request: Request) -> bool:
    return "You work." in str(request.body.get("system"))


def agent(kind: str, name: str = "one", **options: Any) -> Block:
    return tool("Agent", id=f"toolu_{name}", description=name, prompt=f"do {name}", subagent_type=kind, **options)


def results(stage: Stage) -> dict[str, str]:
    return {
        str(block["tool_use_id"]): str(block["content"]).partition("\n\n[agent ")[0]
        for message in stage.engine.messages
        if isinstance(message, UserMessage)
        for block in message.content
        if block.get("type") == "tool_result"
    }


async def test_the_work_of_a_subagent_that_changed_something_is_not_done_again_after_a_cut() -> None:  # L10, T7
    change = Change()
    async with Stage(tools=[Agent(), Echo(), change], agents=(WORKER,)) as stage:
        stage.api.when(
            of_agent,
            Reply(parts=(tool("Change", id="toolu_in", text="the file"),)),
            Reply(parts=(text("Changed it."),)),
        )
        stage.api.cut(agent("worker"), text("and more words to come"), at_event=10)
        stage.api.reply(text("done"))
        turn = await stage.turn()
        assert turn.transitions == ["next_turn"]
        assert change.log == ["the file"]
        assert results(stage)["toolu_one"] == "Changed it."


async def test_a_subagent_that_only_reads_is_withdrawn_and_asked_again() -> None:  # L10, T7
    echo = Echo()
    async with Stage(tools=[Agent(), echo, Change()], agents=(SCOUT,)) as stage:
        stage.api.when(of_agent, *[Reply(parts=(text("It is here."),)) for _ in range(2)])
        stage.api.cut(agent("scout"), text("and more words to come"), at_event=10)
        stage.api.reply(agent("scout", "two"))
        stage.api.reply(text("done"))
        turn = await stage.turn()
        assert turn.transitions == ["stream_retry", "next_turn"]
        assert results(stage) == {"toolu_two": "It is here."}
        stage.api.forget()


async def test_a_subagent_sent_to_the_background_is_started_once() -> None:  # L10, S5
    async with Stage(tools=[Agent(), Echo()], agents=(SCOUT,)) as stage:
        stage.api.when(of_agent, *[Reply(parts=(text("It is here."),)) for _ in range(2)])
        stage.api.cut(agent("scout", run_in_background=True), text("and more words to come"), at_event=10)
        stage.api.otherwise(Reply(parts=(text("done"),)))
        turn = await stage.turn()
        assert turn.transitions == ["next_turn"]
        await stage.nothing_left_running()
        assert sum(of_agent(call) for call in stage.api.calls) == 1
        stage.api.forget()


async def test_an_agent_whose_definition_sends_it_to_the_background_is_started_once() -> None:  # L10, S5
    keeper = AgentDefinition(name="keeper", description="keeps", prompt="You work.", tools=("Echo",), background=True)
    async with Stage(tools=[Agent(), Echo()], agents=(keeper,)) as stage:
        stage.api.when(of_agent, *[Reply(parts=(text("It is here."),)) for _ in range(2)])
        stage.api.cut(agent("keeper"), text("and more words to come"), at_event=10)
        stage.api.otherwise(Reply(parts=(text("done"),)))
        turn = await stage.turn()
        assert turn.transitions == ["next_turn"]
        await stage.nothing_left_running()
        assert sum(of_agent(call) for call in stage.api.calls) == 1
        stage.api.forget()


async def test_an_agent_that_goes_on_is_classed_by_what_it_is_not_by_what_it_is_called() -> None:  # L10, T7
    change = Change()
    async with Stage(tools=[Agent(), Echo(), change], agents=(WORKER, SCOUT)) as stage:
        stage.api.when(
            of_agent,
            Reply(parts=(text("Nothing yet."),)),
            Reply(parts=(tool("Change", id="toolu_in", text="the file"),)),
            Reply(parts=(text("Changed it."),)),
        )
        stage.api.reply(agent("worker"))
        stage.api.reply(text("done"))
        await stage.turn()
        (agent_id,) = stage.engine.agents.ended_ids()
        stage.api.cut(agent("scout", "two", resume=agent_id), text("and more words to come"), at_event=10)
        stage.api.reply(text("done"))
        turn = await stage.turn()
        assert turn.transitions == ["next_turn"]
        assert change.log == ["the file"]
        assert results(stage)["toolu_two"] == "Changed it."


async def test_subagents_that_change_things_work_one_at_a_time() -> None:  # T2, T7
    running: list[str] = []
    overlaps: list[tuple[str, ...]] = []

    class Watched(Change):
        async def call(self, input: Any, ctx: Any) -> Any:
            running.append(input.text)
            overlaps.append(tuple(running))
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            running.remove(input.text)
            return await super().call(input, ctx)

    async with Stage(tools=[Agent(), Echo(), Watched()], agents=(WORKER,)) as stage:
        for name in ("one", "two"):
            stage.api.when(
                lambda call, name=name: of_agent(call) and f"do {name}" in str(call.messages),
                Reply(parts=(tool("Change", id=f"toolu_in_{name}", text=name),)),
                Reply(parts=(text(f"{name} done"),)),
            )
        stage.api.reply(agent("worker", "one"), agent("worker", "two"))
        stage.api.reply(text("both"))
        await stage.turn()
        assert overlaps == [("one",), ("two",)]
        first = [call for call in stage.api.calls if of_agent(call)]
        assert ["do one" in str(call.messages) for call in first] == [True, True, False, False]


async def test_a_call_whose_hunk_was_accepted_under_review_is_not_made_again_after_a_cut() -> None:  # L10
    """Part of it has landed while the rest is still looked at: the answer can no longer be taken back."""
    decided, asked, change = anyio.Event(), anyio.Event(), Change()

    async def review(call: ToolCall) -> Verdict:
        call.acted()
        asked.set()
        await decided.wait()
        return Allow(step="tool", reason="all hunks accepted")

    async with Stage(tools=[change], can_use_tool=review) as stage:
        stage.api.cut(tool("Change", id="toolu_1", text="a.py"), text("and more words to come"), at_event=10)
        stage.api.otherwise(Reply(parts=(text("done"),)))

        async def decide() -> None:
            await asked.wait()
            await stage.api.closed(1)
            decided.set()

        turns: list[TurnLog] = []
        async with anyio.create_task_group() as group:
            group.start_soon(decide)
            turns.append(await stage.turn())
        assert turns[0].transitions == ["next_turn"]
        assert change.log == ["a.py"]


def rewriting(who: str) -> dict[str, Any]:
    """Someone makes `rm it` of every command."""

    async def rewrite(call: HookCall) -> HookOutcome:
        return HookOutcome(updated_input={"text": "rm it"})

    async def judge(call: ToolCall) -> Verdict:
        if who == "person" and call.action.tool == "Bash":
            return Allow(step="tool", reason="so", updated_input={"text": "rm it"})
        return Allow(step="tool", reason="fine")

    hooks = InProcessHooks((Hook(event="PreToolUse", run=rewrite, matcher="Bash"),) if who == "hook" else ())
    return {"hooks": hooks, "can_use_tool": judge}


@pytest.mark.parametrize("who", ["hook", "person"])
async def test_a_command_rewritten_to_a_changing_one_waits_until_it_is_alone(who: str) -> None:  # T2, P11
    shell, gate = Shell(), Gate()
    beside: list[str] = []
    async with Stage(tools=[shell, gate], **rewriting(who)) as stage:
        stage.api.reply(tool("Gate", id="toolu_g", text="first"), tool("Bash", id="toolu_b", text="ls"))
        stage.api.reply(text("done"))

        async def let_go() -> None:
            await gate.reached.wait()
            for _ in range(200):
                await anyio.lowlevel.checkpoint()
            beside.extend(shell.log)
            gate.opened.set()

        async with anyio.create_task_group() as group:
            group.start_soon(let_go)
            await stage.turn()
        assert beside == []
        assert shell.log == ["rm it"]


@pytest.mark.parametrize("who", ["hook", "person"])
async def test_a_command_rewritten_to_a_changing_one_is_not_repeated_after_a_cut(who: str) -> None:  # L10, P11
    shell = Shell()
    async with Stage(tools=[shell], **rewriting(who)) as stage:
        words = text("and ", hold("more"), "words to come")
        stage.api.cut(tool("Bash", id="toolu_b", text="ls"), words, at_event=8)
        stage.api.reply(text("done"))

        def let_go(_at: int, message: object) -> None:
            if isinstance(message, ToolFinished):
                stage.api.release("more")

        turn = await stage.turn(on_message=let_go)
        assert turn.transitions == ["next_turn"]
        assert shell.log == ["rm it"]


async def test_a_call_that_was_withdrawn_while_its_verdict_was_on_the_way_does_not_start() -> None:  # L10
    change, verdict = Change(), anyio.Event()

    async def judge(call: ToolCall) -> Verdict:
        await verdict.wait()
        return Allow(step="tool", reason="just now")

    async with Stage(tools=[change], can_use_tool=judge) as stage:
        turn = stage.engine._new_turn(Outlet(), None)
        equip(turn)
        async with turn.new_executor() as executor:
            executor.add({"type": "tool_use", "id": "toolu_1", "name": "Change", "input": {"text": "a"}})
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            verdict.set()  # and in the same breath:
            await executor.withdraw()
        assert change.log == []


@pytest.mark.parametrize("slowest", ["1", "2", "3"])
async def test_calls_rewritten_to_changing_ones_run_one_at_a_time_whichever_is_rewritten_last(
    slowest: str,
) -> None:  # T2
    running: list[str] = []
    seen: list[tuple[str, ...]] = []

    class Slow(Shell):
        async def call(self, input: Any, ctx: Any) -> Any:
            running.append(input.text)
            seen.append(tuple(running))
            for _ in range(10):
                await anyio.lowlevel.checkpoint()
            running.remove(input.text)
            return await super().call(input, ctx)

    async def rewrite(call: HookCall) -> HookOutcome:
        given = call.data["tool_input"]["text"]
        for _ in range(5 if slowest in given else 1):
            await anyio.lowlevel.checkpoint()
        return HookOutcome(updated_input={"text": given.replace("ls", "rm")})

    shell = Slow()
    async with Stage(tools=[shell], hooks=InProcessHooks((Hook(event="PreToolUse", run=rewrite),))) as stage:
        stage.api.reply(*(tool("Bash", id=f"toolu_{n}", text=f"ls {n}") for n in (1, 2, 3)))
        stage.api.reply(text("done"))
        await stage.turn()
        assert sorted(shell.log) == ["rm 1", "rm 2", "rm 3"]
        assert all(len(each) == 1 for each in seen)


class News:
    """Jobs of the session, and late decisions, each by the call it came from."""

    def __init__(self, *calls: str) -> None:
        self.left = list(calls)

    def list(self) -> list[Json]:
        return []

    def in_front(self, mine: Mine = anyone) -> list[anyio.Event]:
        return []

    def take_finished(self, mine: Mine = anyone) -> list[Json]:
        taken = [call for call in self.left if mine(call)]
        self.left = [call for call in self.left if call not in taken]
        return [{"jobId": call, "command": f"make {call}", "state": "completed", "exitCode": 0} for call in taken]

    def decisions(self, mine: Mine) -> Sequence[Attachment]:
        taken = [call for call in self.left if mine(call)]
        self.left = [call for call in self.left if call not in taken]
        return [Attachment(uuid=f"d{c}", kind="review", content=(text_block(f"decided {c}"),)) for c in taken]

    async def kill(self, job_id: str) -> bool:
        return False

    async def close(self) -> None: ...


@pytest.mark.parametrize("kind", ["jobs", "decisions"])
async def test_news_goes_to_the_one_whose_call_it_came_from(kind: str) -> None:  # L11, S5, T7
    news = News("toolu_main", "toolu_in")
    config: dict[str, Any] = {"take_decisions": news.decisions}
    if kind == "jobs":
        config = {"services": ToolServices(jobs=news)}
    async with Stage(tools=[Agent(), Echo()], agents=(SCOUT,), **config) as stage:
        news.left = []
        stage.api.reply(tool("Echo", id="toolu_main", text="x"))
        stage.api.reply(agent("scout"))
        stage.api.when(
            of_agent,
            Reply(parts=(tool("Echo", id="toolu_in", text="y"),)),
            Reply(parts=(tool("Echo", id="toolu_in2", text="z"),)),
            Reply(parts=(text("here"),)),
        )
        stage.api.reply(text("done"))

        def arrive(_at: int, message: object) -> None:
            if getattr(message, "tool_use_id", "") == "toolu_in" and type(message).__name__ == "ToolFinished":
                news.left = ["toolu_main", "toolu_in"]

        await stage.turn(on_message=arrive)
        inside = str([call.messages for call in stage.api.calls if of_agent(call)])
        outside = str(stage.api.calls[-1].messages)
        words = "make {}" if kind == "jobs" else "decided {}"
        assert words.format("toolu_in") in inside and words.format("toolu_main") not in inside
        assert words.format("toolu_main") in outside and words.format("toolu_in") not in outside


async def test_news_that_comes_after_a_subagent_ended_goes_to_the_one_who_sent_it() -> None:  # L11, T7
    news = News()
    async with Stage(tools=[Agent(), Echo()], agents=(SCOUT,), take_decisions=news.decisions) as stage:
        stage.api.when(of_agent, Reply(parts=(tool("Echo", id="toolu_in", text="y"),)), Reply(parts=(text("here"),)))
        stage.api.reply(agent("scout"))
        stage.api.reply(text("done"))
        await stage.turn()
        news.left = ["toolu_in"]
        stage.api.reply(text("noted"))
        await stage.turn("and?")
        assert "decided toolu_in" in str(stage.api.calls[-1].messages)


async def test_news_of_an_agents_own_agent_goes_to_the_agent_that_sent_it() -> None:  # L11, T7
    """The inner agent has ended, the one that sent it has not: the main conversation does not hear of it."""
    news = News()
    lead = AgentDefinition(
        name="lead", description="leads", prompt="You lead.", tools=("Echo", "Agent"), agents=("scout",)
    )
    async with Stage(tools=[Agent(), Echo()], agents=(lead, SCOUT), take_decisions=news.decisions) as stage:

        def of_lead(request: Request) -> bool:
            return "You lead." in str(request.body.get("system"))

        stage.api.when(of_agent, Reply(parts=(tool("Echo", id="toolu_in", text="y"),)), Reply(parts=(text("here"),)))
        stage.api.when(
            of_lead,
            Reply(parts=(agent("scout", "inner"),)),
            Reply(parts=(tool("Echo", id="toolu_lead", text="z"),)),
            Reply(parts=(text("led"),)),
        )
        stage.api.reply(agent("lead"))
        stage.api.reply(text("done"))

        def arrive(_at: int, message: object) -> None:
            if getattr(message, "tool_use_id", "") == "toolu_inner" and isinstance(message, ToolFinished):
                news.left = ["toolu_in"]

        await stage.turn(on_message=arrive)
        assert "decided toolu_in" in str([call.messages for call in stage.api.calls if of_lead(call)])
        assert "decided toolu_in" not in str(stage.api.calls[-1].messages)
