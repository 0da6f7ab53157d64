"""The engine between turns: what it owns, what its config fields do, and the order of a turn's stages (Q)."""

from __future__ import annotations

import anyio.lowlevel
import pytest

from assent.engine.abort import Abort
from assent.engine.services import McpClient
from assent.extensions.agents import BUILT_IN as AGENTS
from assent.extensions.commands import BUILT_IN, Expansion, SlashCommand
from assent.extensions.hooks import Hook, InProcessHooks
from assent.tools.tool import SessionState
from assent.types.blocks import text_block, text_of
from assent.types.hooks import HookCall, HookOutcome
from assent.types.messages import (
    AssistantFinal,
    AssistantMessage,
    Message,
    PermissionDenial,
    Result,
    StreamEvent,
    SystemInit,
    UserMessage,
)
from assent.types.permissions import Deny, Verdict
from assent.types.ports import ToolCall
from enginekit import Change, Echo, Gate, Stage
from enginekit.invariants import reloaded
from enginekit.stage import OTHER_MODEL, Recorder
from fakeapi import text, tool


async def refuse(call: ToolCall) -> Verdict:
    return Deny(step="rules", reason="not here")


# --- what it owns (Q1) -------------------------------------------------------------------------------------------------


async def test_history_usage_and_denials_last_from_turn_to_turn() -> None:  # Q1, Q6
    async with Stage(tools=[Echo()], can_use_tool=refuse) as stage:
        stage.api.reply(tool("Echo", id="toolu_a", text="x"))
        stage.api.reply(text("I was not allowed."))
        first = await stage.turn("one")
        stage.api.reply(text("again"))
        second = await stage.turn("two")

        denial = PermissionDenial(tool_name="Echo", tool_use_id="toolu_a", tool_input={"text": "x"})
        assert first.result.permission_denials == second.result.permission_denials == (denial,)
        assert stage.api.calls[1].tool_results["toolu_a"]["content"] == "not here"
        assert second.result.usage.output_tokens > first.result.usage.output_tokens
        assert second.result.total_cost_usd > first.result.total_cost_usd > 0
        assert (first.result.num_turns, second.result.num_turns) == (2, 1)
        assert second.result.model_usage["claude-opus-4-8"].usage == second.result.usage
        assert [block["text"] for _, block in stage.api.calls[2].blocks if block["type"] == "text"][-2:] == [
            "I was not allowed.",
            "two",
        ]


async def test_a_resumed_engine_goes_on_with_the_messages_and_the_totals() -> None:  # Q6, Q2 initial_messages
    async with Stage(tools=[Echo()]) as stage:
        stage.api.reply(text("first"))
        before = await stage.turn("one")
        resumed = stage.new_engine(messages=reloaded(stage.transcript.written), result=before.result)
        stage.api.reply(text("second"))
        after = await stage.turn("two", engine=resumed)
        assert after.result.total_cost_usd > before.result.total_cost_usd
        assert [m["role"] for m in stage.api.calls[1].messages] == ["user", "assistant", "user"]


async def test_discovered_skills_are_forgotten_at_each_submit_and_the_cwd_is_reset() -> None:  # Q1, Q4
    state = SessionState(cwd="/elsewhere")
    changes: list[str] = []
    state.on_change = changes.append
    async with Stage(tools=[Echo()], state=lambda: state) as stage:
        stage.engine._conversation.discovered_skills.add("pdf")
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert stage.engine._conversation.discovered_skills == set()
        assert (state.cwd, changes) == ("/project", ["cwd"])
        assert turn.of(SystemInit)[0].cwd == "/project"


async def test_only_one_turn_at_a_time() -> None:
    async with Stage(tools=[Echo()]) as stage:
        stage.api.reply(text("ok"))
        first = stage.engine.submit("a")
        await anext(first)
        with pytest.raises(RuntimeError, match="already in a turn"):
            await anext(stage.engine.submit("b"))
        await first.aclose()


# --- the first and the last message (Q3, Q5) --------------------------------------------------------------------------


async def test_init_tells_what_the_session_has() -> None:  # Q5
    async with Stage(
        tools=[Echo()],
        commands=BUILT_IN,
        agents=AGENTS,
        mcp_clients=(McpClient(name="tickets", status="failed"),),
        key_source="env",
        session_id="s1",
    ) as stage:
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert turn.messages[0] == SystemInit(
            session_id="s1",
            model="claude-opus-4-8",
            cwd="/project",
            tools=("Echo", "Snip"),
            mcp_servers=({"name": "tickets", "status": "failed"},),
            permission_mode="default",
            key_source="env",
            slash_commands=("clear", "compact", "context", "cost", "help", "mode", "model", "status"),
            agents=("general-purpose", "explore"),
        )
        assert "tickets (failed)" in str(stage.api.calls[0].body["system"])  # Q8: the MCP list is system context


async def test_an_abort_before_the_turn_begins_still_gives_init_and_result_and_the_next_turn_works() -> (
    None
):  # Q2 abort
    abort = Abort()
    async with Stage(tools=[Echo()], abort=abort) as stage:
        abort.abort()
        turn = await stage.turn()
        assert turn.kinds == ["system/init", "result"]
        assert turn.result.terminal == "aborted_streaming"
        stage.api.reply(text("ok"))
        assert (await stage.turn()).result.terminal == "completed"


async def test_partials_come_only_when_asked_for() -> None:  # Q2 include_partial_messages
    for wanted in (False, True):
        async with Stage(include_partial_messages=wanted) as stage:
            stage.api.reply(text("some words"))
            turn = await stage.turn()
            assert bool(turn.of(StreamEvent)) is wanted


async def test_the_users_message_is_replayed_when_asked_for() -> None:  # Q2 replay_user_messages
    async with Stage(replay_user_messages=True, commands=BUILT_IN) as stage:
        stage.api.reply(text("ok"))
        turn = await stage.turn("hello", uuid="u1")
        assert [(m.uuid, m.is_replay, text_of(m.content)) for m in turn.of(UserMessage)] == [("u1", True, "hello")]
        turn = await stage.turn("/cost", uuid="u2")
        assert turn.kinds == ["system/init", "user", "assistant", "result"]
        assert [m.uuid for m in turn.of(UserMessage)] == ["u2"]


async def test_usage_and_stop_reason_arrive_as_their_own_record() -> None:  # Q5 assistant_final
    async with Stage() as stage:
        stage.api.reply(text("one"), text("two"), output_tokens=77)
        turn = await stage.turn()
        (final,) = turn.of(AssistantFinal)
        assert {m.message_id for m in turn.of(AssistantMessage)} == {final.message_id}
        assert (final.usage.output_tokens, final.stop_reason) == (77, "end_turn")
        assert turn.result.stop_reason == "end_turn"


# --- stages (Q4) ---------------------------------------------------------------------------------------------------------


async def test_the_users_message_is_on_disk_before_any_call_goes_out() -> None:  # Q4, S1
    async with Stage(tools=[Echo()]) as stage:
        durable: list[tuple[int, int]] = []
        stage.transcript.on_flush = lambda: durable.append((len(stage.transcript.written), len(stage.api.requests)))
        stage.api.reply(tool("Echo", text="a"))
        stage.api.reply(text("ok"))
        await stage.turn("remember me")
        assert durable[0] == (1, 0)  # one message written and flushed, no request yet
        first = stage.transcript.written[0]
        assert isinstance(first, UserMessage) and text_of(first.content) == "remember me"
        written_before_second = next(written for written, requests in durable if requests == 1)
        assert any(  # tool results too: what was acknowledged is not lost
            isinstance(m, UserMessage) and m.content[0].get("type") == "tool_result"
            for m in stage.transcript.written[:written_before_second]
        )


async def test_nobody_hears_of_a_turn_before_its_prompt_is_on_disk() -> None:  # Q4: persist, then init
    async with Stage(tools=[Echo()], ahead=1) as stage:
        stage.api.reply(text("ok"))
        on_disk: list[int] = []
        await stage.turn("remember me", on_message=lambda _at, _message: on_disk.append(stage.transcript.durable))
        assert on_disk[0] == 1


async def test_nobody_hears_that_a_turn_is_over_before_that_is_written() -> None:  # Q4, S1
    class Slow(Recorder):
        flushed = 0

        async def flush(self, *, durable: bool) -> None:
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            self.flushed = len(self.written)

    slow = Slow()
    async with Stage() as stage:
        stage.api.reply(text("ok"))
        told: list[bool] = []

        def look(_at: int, message: Message) -> None:
            if isinstance(message, Result):
                told.append(isinstance(slow.written[-1], Result) and slow.flushed == len(slow.written))

        await stage.turn(engine=stage.new_engine(transcript=slow), on_message=look)
        assert told == [True]


async def test_nothing_is_written_without_persist_and_bare_still_flushes() -> None:  # Q2 persist, bare
    async with Stage(persist=False) as stage:
        stage.api.reply(text("ok"))
        await stage.turn()
        assert stage.transcript.written == []
    async with Stage(bare=True) as stage:
        stage.api.reply(text("ok"))
        await stage.turn()
        assert stage.transcript.durable >= 1


async def test_a_command_that_expands_changes_model_and_tools_for_this_turn_only() -> None:  # Q4
    async def expand(arguments: str) -> Expansion:
        return Expansion(blocks=(text_block(f"Review {arguments}"),), model=OTHER_MODEL, allowed_tools=("Echo",))

    command = SlashCommand(name="review", description="reviews", expand=expand)
    async with Stage(tools=[Echo(), Change()], commands=(command,)) as stage:
        stage.api.reply(text("reviewed"))
        stage.api.reply(text("back"))
        first = await stage.turn("/review a.py")
        await stage.turn("thanks")
        one, two = stage.api.calls
        assert (one.body["model"], two.body["model"]) == (OTHER_MODEL, "claude-opus-4-8")
        assert [t["name"] for t in one.body["tools"]] == ["Echo", "Snip"]
        assert [t["name"] for t in two.body["tools"]] == ["Echo", "Change", "Snip"]
        assert one.last_text.endswith("Review a.py")
        assert first.of(SystemInit)[0].model == OTHER_MODEL


async def test_a_prompt_hook_can_add_context_or_stop_the_prompt() -> None:
    async def judge(call: HookCall) -> HookOutcome:
        if "secret" in str(call.data["prompt"]):
            return HookOutcome(status="blocked", text="That looks like a secret.")
        return HookOutcome(context="The build is red.")

    async with Stage(hooks=InProcessHooks((Hook(event="UserPromptSubmit", run=judge),))) as stage:
        stage.api.reply(text("ok"))
        await stage.turn("hello")
        assert "The build is red." in str(stage.api.calls[0].messages)
        stopped = await stage.turn("my secret is swordfish")
        assert stopped.result.terminal == "hook_stopped"
        assert "swordfish" not in str(stage.transcript.written)
        assert len(stage.api.calls) == 1


# --- the result (Q6, Q9) -----------------------------------------------------------------------------------------------


async def test_an_aborted_stream_is_billed_for_what_it_said() -> None:  # Q9
    from fakeapi import hold

    async with Stage(include_partial_messages=True) as stage:
        stage.api.reply(text("half ", hold("never")))

        def stop(_at: int, message: Message) -> None:
            if isinstance(message, StreamEvent) and message.event.get("type") == "content_block_delta":
                stage.engine.abort()

        turn = await stage.turn(on_message=stop)
        assert turn.result.usage.cache_creation_input_tokens > 0
        assert turn.result.total_cost_usd > 0


async def test_the_dollar_limit_ends_the_turn_and_answers_open_calls() -> None:  # Q9
    gate = Gate()
    async with Stage(tools=[gate], max_budget_usd=0.5) as stage:
        stage.api.reply(tool("Gate", text="x"), output_tokens=100_000)
        turn = await stage.turn()
        assert turn.result.subtype == "error_max_budget_usd"
        assert "$0.5 is spent" in turn.result.result
        assert gate.cancelled == ["x"]
        again = await stage.turn()
        assert again.result.terminal == "budget_usd"  # the limit is the session's
        assert len(stage.api.calls) == 1


async def test_the_callers_model_usage_counts_each_api_message_once() -> None:  # Q9
    async with Stage(tools=[Echo()]) as stage:
        stage.api.reply(text("a"), text("b"), tool("Echo", text="c"), output_tokens=50)
        stage.api.reply(text("d"), output_tokens=30)
        turn = await stage.turn()
        assert turn.result.usage.output_tokens == 80
        finals = turn.of(AssistantFinal)
        assert turn.result.usage == finals[0].usage + finals[1].usage
