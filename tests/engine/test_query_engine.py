"""The engine between turns: what it owns, what its config fields do, and the order of a turn's stages (Q)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import anyio
import pytest

from assent.engine.abort import Abort
from assent.engine.config import McpClient, OrphanedPermission, TaskBudget, ToolServices
from assent.extensions.agents import BUILT_IN as AGENTS
from assent.extensions.commands import BUILT_IN, Command, Expansion
from assent.extensions.hooks import Hook, InProcessHooks
from assent.extensions.memory import MemoryFile
from assent.tools.tool import ReadMark, SessionState
from assent.types.blocks import Json, text_block, text_of
from assent.types.hooks import HookCall, HookOutcome
from assent.types.messages import (
    AssistantFinal,
    AssistantMessage,
    Attachment,
    CompactBoundary,
    ConversationMessage,
    HookRan,
    Message,
    Notice,
    PermissionDenial,
    StreamEvent,
    SystemInit,
    Tombstone,
    UserMessage,
)
from assent.types.permissions import Allow, Deny, Verdict
from assent.types.ports import ToolCall
from enginekit import Change, Echo, Gate, Reader, Stage
from enginekit.invariants import reloaded
from enginekit.stage import OTHER_MODEL
from fakeapi import Limits, Reply, text, tool


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
        resumed = stage.new_engine(initial_messages=reloaded(stage.transcript.written), restored=before.result)
        stage.api.reply(text("second"))
        after = await stage.turn("two", engine=resumed)
        assert after.result.total_cost_usd > before.result.total_cost_usd
        assert [m["role"] for m in stage.api.calls[1].messages] == ["user", "assistant", "user"]


async def test_discovered_skills_are_forgotten_at_each_submit_and_the_cwd_is_reset() -> None:  # Q1, Q4
    state = SessionState(cwd="/elsewhere")
    changes: list[str] = []
    state.on_change = changes.append
    async with Stage(tools=[Echo()], get_app_state=lambda: state) as stage:
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

    command = Command(name="review", description="reviews", expand=expand)
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
        stopped = await stage.turn("my secret is 1234")
        assert stopped.result.terminal == "hook_stopped"
        assert "1234" not in str(stage.transcript.written)
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


# --- slash commands (Q7) ----------------------------------------------------------------------------------------------


async def test_local_commands_answer_without_a_model_call() -> None:  # Q7
    async with Stage(tools=[Echo()], commands=BUILT_IN) as stage:
        for prompt, words in [
            ("/help", "/compact [what to keep in mind]"),
            ("/cost", "$0.0000"),
            ("/context", "compaction at"),
            ("/status", "model: claude-opus-4-8"),
            ("/model", "The model is claude-opus-4-8."),
            ("/mode nonsense", "There is no mode 'nonsense'"),
        ]:
            turn = await stage.turn(prompt)
            assert turn.kinds == ["system/init", "assistant", "result"]
            assert words in turn.result.result
            assert turn.result.subtype == "success"
        assert stage.api.calls == []
        assert stage.engine.messages == []


async def test_commands_change_model_and_mode_for_the_turns_to_come() -> None:
    state = SessionState(cwd="/project")
    async with Stage(commands=BUILT_IN, get_app_state=lambda: state) as stage:
        await stage.turn(f"/model {OTHER_MODEL}")
        await stage.turn("/mode acceptedits")
        assert state.mode == "acceptEdits"
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        init = turn.of(SystemInit)[0]
        assert (init.model, init.permission_mode) == (OTHER_MODEL, "acceptEdits")


async def test_set_app_state_is_the_way_the_mode_is_changed() -> None:  # Q2 get/set_app_state
    state = SessionState(cwd="/project")
    changed: list[str] = []

    def change(f: Any) -> None:
        changed.append("asked")
        f(state)

    async with Stage(commands=BUILT_IN, get_app_state=lambda: state, set_app_state=change) as stage:
        await stage.turn("/mode plan")
        assert (state.mode, changed) == ("plan", ["asked"])


async def test_clear_forgets_the_conversation_and_the_transcript_keeps_it() -> None:
    async with Stage(commands=BUILT_IN) as stage:
        stage.api.reply(text("noted"))
        await stage.turn("my name is Ada")
        await stage.turn("/clear")
        stage.api.reply(text("who?"))
        await stage.turn("what is my name?")
        assert "Ada" not in str(stage.api.calls[1].messages)
        assert "Ada" in str(stage.engine.messages)
        stage.assert_reloads()
        resumed = stage.new_engine(initial_messages=reloaded(stage.transcript.written))
        stage.api.reply(text("who?"))
        await stage.turn("and now?", engine=resumed)
        assert "Ada" not in str(stage.api.calls[2].messages)


async def test_compact_by_hand_summarises_with_the_users_instructions() -> None:  # C5
    async with Stage(tools=[Echo()], commands=BUILT_IN) as stage:
        stage.api.reply(text("noted"))
        await stage.turn("my name is Ada")
        stage.api.when("keep the name", Reply(parts=(text("<summary>The user is Ada.</summary>"),)))
        turn = await stage.turn("/compact keep the name")
        assert turn.kinds == ["system/init", "system/compacting", "system/compact_boundary", "assistant", "result"]
        (boundary,) = turn.of(CompactBoundary)
        assert (boundary.trigger, boundary.summary) == ("manual", "The user is Ada.")
        assert boundary.tokens_before > 0
        stage.api.reply(text("Ada"))
        await stage.turn("what is my name?")
        sent = stage.api.calls[-1]
        assert "The user is Ada." in str(sent.messages)
        assert "noted" not in str(sent.messages)
        assert "Ada" in str(stage.engine.messages[0])
        summarising = stage.api.calls[1]
        assert summarising.body["system"] == stage.api.calls[0].body["system"]  # the same cached prefix
        assert [t["name"] for t in summarising.body["tools"]] == [t["name"] for t in stage.api.calls[0].body["tools"]]


# --- system prompt and contexts (Q8, Q12) -----------------------------------------------------------------------------


class Notes:
    """A memory source: quick, slow or broken."""

    def __init__(self, *files: MemoryFile, gate: anyio.Event | None = None, broken: bool = False) -> None:
        self.files = list(files)
        self.gate = gate
        self.broken = broken

    async def load(self, cwd: str) -> list[MemoryFile]:
        if self.gate is not None:
            await self.gate.wait()
        if self.broken:
            raise OSError("the disk is gone")
        return self.files

    async def nested(self, path: str, cwd: str) -> list[MemoryFile]:
        return []


NOTE = MemoryFile(path="/project/ASSENT.md", text="Use tabs.", scope="project")


async def test_prompt_layers_come_in_order_and_contexts_go_around_them() -> None:  # Q8
    async def git() -> str:
        return "On branch main, clean."

    async with Stage(
        memory=Notes(NOTE),
        custom_system_prompt="You are a pirate.",
        append_system_prompt="Be brief.",
        system_context=git,
    ) as stage:
        stage.api.reply(text("arr"))
        await stage.turn("hello")
        call = stage.api.calls[0]
        layers = [part["text"] for part in call.body["system"]]
        assert layers[0] == "You are a pirate."
        assert layers[1].startswith("# Memory")
        assert layers[2:] == ["Be brief.", "On branch main, clean."]
        first, prompt = call.messages[0]["content"]
        assert "Use tabs." in first["text"] and "/project" in first["text"] and "Today is" in first["text"]
        assert prompt["text"] == "hello"


async def test_contexts_are_frozen_until_a_compaction() -> None:  # Q8
    status = ["clean"]

    async def git() -> str:
        return f"git: {status[0]}"

    notes = Notes(NOTE)
    async with Stage(memory=notes, system_context=git, commands=BUILT_IN) as stage:
        stage.api.reply(text("a"))
        await stage.turn("one")
        status[0] = "dirty"
        notes.files = [replace(NOTE, text="Use spaces.")]
        stage.api.reply(text("b"))
        await stage.turn("two")
        one, two = stage.api.calls
        assert one.body["system"] == two.body["system"]
        assert one.messages[0]["content"][0]["text"] == two.messages[0]["content"][0]["text"]
        stage.api.when("about to be replaced", Reply(parts=(text("<summary>ab</summary>"),)))
        await stage.turn("/compact")
        stage.api.reply(text("c"))
        await stage.turn("three")
        assert "git: dirty" in str(stage.api.calls[-1].body["system"])
        assert "Use spaces." in str(stage.api.calls[-1].messages)


async def test_a_slow_memory_source_does_not_hold_up_the_turn_and_arrives_later() -> None:  # Q12
    gate = anyio.Event()
    async with Stage(memory=Notes(NOTE, gate=gate)) as stage:
        stage.api.reply(text("ok"))
        await stage.turn("one")
        assert "Use tabs." not in str(stage.api.calls[0].body)
        gate.set()
        with anyio.fail_after(5):
            while stage.engine._conversation.background.running:
                await anyio.lowlevel.checkpoint()
        stage.api.reply(text("ok"))
        turn = await stage.turn("two")
        assert [a.kind for a in turn.of(Attachment)] == ["memory"]
        assert "Use tabs." in stage.api.calls[1].last_text


async def test_a_broken_memory_source_is_left_out(caplog: pytest.LogCaptureFixture) -> None:  # Q12
    async with Stage(memory=Notes(broken=True)) as stage:
        stage.api.reply(text("ok"))
        assert (await stage.turn()).result.terminal == "completed"


async def test_without_a_person_the_prompt_says_so_and_questions_are_not_offered() -> None:  # Q2 interactive
    from assent.tools.ask_user_question import AskUserQuestion

    async with Stage(tools=[Echo(), AskUserQuestion()], interactive=False) as stage:
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert "AskUserQuestion" not in turn.of(SystemInit)[0].tools
        assert "Nobody is there" in str(stage.api.calls[0].body["system"])


# --- the rest of the config (Q2) --------------------------------------------------------------------------------------


async def test_thinking_effort_and_task_budget_reach_the_request() -> None:  # Q2
    async with Stage(
        thinking={"type": "adaptive"}, effort="low", task_budget=TaskBudget(total=50_000), model="claude-opus-5"
    ) as stage:
        stage.api.reply(text("ok"))
        await stage.turn()
        body = stage.api.calls[0].body
        assert body["thinking"]["type"] == "adaptive"
        assert body["output_config"]["effort"] == "low"
        assert body["output_config"]["task_budget"] == {"type": "tokens", "total": 50_000, "remaining": 50_000}


async def test_the_task_budget_shrinks_by_what_a_compaction_hides() -> None:  # L12
    async with Stage(task_budget=TaskBudget(total=50_000), model="claude-opus-5", commands=BUILT_IN) as stage:
        stage.api.reply(text("ok"))
        first = await stage.turn()
        held = first.of(AssistantFinal)[0].context_tokens
        stage.api.when("about to be replaced", Reply(parts=(text("<summary>s</summary>"),)))
        await stage.turn("/compact")
        stage.api.reply(text("ok"))
        await stage.turn()
        assert stage.api.calls[-1].body["output_config"]["task_budget"]["remaining"] == 50_000 - held


async def test_status_is_told_as_it_changes() -> None:  # Q2 set_status
    told: list[str] = []
    async with Stage(set_status=told.append, commands=BUILT_IN) as stage:
        stage.api.reply(text("ok"))
        await stage.turn()
        assert told == ["running", "idle"]
        told.clear()
        stage.api.when("about to be replaced", Reply(parts=(text("<summary>s</summary>"),)))
        await stage.turn("/compact")
        assert told == ["running", "compacting", "running", "idle"]


async def test_an_elicitation_nobody_handles_is_declined_and_the_turn_goes_on() -> None:  # Q2
    from assent.tools.ask_user_question import AskUserQuestion

    question = {
        "questions": [
            {
                "question": "Which?",
                "header": "Pick",
                "multiSelect": False,
                "options": [{"label": "a", "description": "x"}, {"label": "b", "description": "y"}],
            }
        ]
    }
    async with Stage(tools=[AskUserQuestion()]) as stage:
        stage.api.reply(tool("AskUserQuestion", question))
        stage.api.reply(text("then I choose a"))
        turn = await stage.turn()
        assert turn.result.terminal == "completed"


async def test_a_snip_leaves_the_view_and_the_host_may_drop_it_from_the_history() -> None:  # C2, Q2 snip_replay
    seen: list[Tombstone] = []

    def replay(stone: Tombstone, store: Sequence[ConversationMessage]) -> list[ConversationMessage]:
        seen.append(stone)
        return [message for message in store if message.uuid not in stone.message_uuids]

    async with Stage(snip_replay=replay) as stage:
        stage.api.reply(text("one"))
        await stage.turn("something long and no longer needed", uuid="gone")
        stage.engine.snip({"gone"})
        stage.api.reply(text("two"))
        await stage.turn("next")
        assert [stone.reason for stone in seen] == ["snip"]
        assert "no longer needed" not in str(stage.api.calls[1].messages)
        assert "gone" not in [message.uuid for message in stage.engine.messages]


async def test_an_orphaned_ask_is_put_once_more_and_then_denied() -> None:  # Q11
    asked: list[str] = []

    async def person(call: ToolCall) -> Verdict:
        asked.append(call.tool_use_id)
        return Deny(step="mode", reason="No longer needed.")

    history: list[ConversationMessage] = [
        UserMessage(uuid="u", content=(text_block("change it"),)),
        AssistantMessage(
            uuid="a",
            message_id="m",
            model="claude-opus-4-8",
            content=({"type": "tool_use", "id": "toolu_o", "name": "Change", "input": {"text": "x"}},),
        ),
    ]
    async with Stage(tools=[Change()]) as stage:
        orphan = OrphanedPermission(tool_use_id="toolu_o", tool="Change", input={"text": "x"})
        engine = stage.new_engine(initial_messages=history, orphaned_permission=orphan, can_use_tool=person)
        for prompt in ("go on", "and on"):
            stage.api.reply(text("all right"))
            turn = await stage.turn(prompt, engine=engine)
        assert asked == ["toolu_o"]
        assert stage.api.calls[0].tool_results["toolu_o"]["content"] == "No longer needed."
        assert [d.tool_use_id for d in turn.result.permission_denials] == ["toolu_o"]


async def test_an_orphaned_ask_that_is_allowed_runs_its_call() -> None:  # Q11
    change = Change()
    call: Json = {"type": "tool_use", "id": "toolu_o", "name": "Change", "input": {"text": "x"}}
    history: list[ConversationMessage] = [
        UserMessage(uuid="u", content=(text_block("change it"),)),
        AssistantMessage(uuid="a", message_id="m", model="claude-opus-4-8", content=(call,)),
    ]
    async with Stage(tools=[change]) as stage:
        orphan = OrphanedPermission(tool_use_id="toolu_o", tool="Change", input={"text": "x"})
        engine = stage.new_engine(initial_messages=history, orphaned_permission=orphan)
        stage.api.reply(text("done"))
        await stage.turn("go on", engine=engine)
        assert change.log == ["x"]
        assert stage.api.calls[0].tool_results["toolu_o"]["content"] == "Change: x"


async def test_a_call_orphaned_by_a_crash_gets_an_error_result_on_resume() -> None:  # L9
    call: Json = {"type": "tool_use", "id": "toolu_o", "name": "Change", "input": {"text": "x"}}
    history: list[ConversationMessage] = [
        UserMessage(uuid="u", content=(text_block("change it"),)),
        AssistantMessage(uuid="a", message_id="m", model="claude-opus-4-8", content=(call,)),
    ]
    async with Stage(tools=[Change()]) as stage:
        stage.api.reply(text("ok"))
        await stage.turn("go on", engine=stage.new_engine(initial_messages=history))
        block = stage.api.calls[0].tool_results["toolu_o"]
        assert block["is_error"] and "may have run in part" in block["content"]


async def test_context_is_explained_by_category() -> None:  # C8
    async with Stage(tools=[Reader(size=8_000)], memory=Notes(NOTE)) as stage:
        stage.api.reply(tool("Read", text="x"))
        stage.api.reply(text("ok"))
        await stage.turn()
        told = stage.engine.context()
        tokens = told["tokens"]
        assert tokens["messages"] > 2_000 and tokens["system"] > 300 and tokens["tools"] > 20 and tokens["memory"] > 5
        assert told["used"] == sum(tokens[name] for name in ("system", "tools", "memory", "messages"))
        assert tokens["free"] == told["window"] - told["used"]


async def test_verbose_tells_what_the_reductions_did() -> None:  # Q2 verbose
    async with Stage(tools=[Reader(size=8_000)], limits=Limits(window=60_000, max_output=8_000), verbose=True) as stage:
        for number in range(18):
            stage.api.reply(tool("Read", text=str(number)))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert any("microcompact freed" in notice.text for notice in turn.of(Notice))


async def test_hooks_that_ran_are_shown_and_their_context_reaches_the_model() -> None:  # H
    async def before(call: HookCall) -> HookOutcome:
        return HookOutcome(context=f"remember: {call.subject}")

    hooks = InProcessHooks((Hook(event="PreToolUse", matcher="Echo", run=before),))
    async with Stage(tools=[Echo(), Change()], hooks=hooks) as stage:
        stage.api.reply(tool("Echo", text="a"), tool("Change", text="b"))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert [(hook.event, hook.outcome) for hook in turn.of(HookRan)] == [("PreToolUse", "success")]
        assert "remember: Echo" in stage.api.calls[1].last_text


async def test_a_pre_tool_hook_can_deny_or_rewrite_and_is_judged_again() -> None:  # P11
    judged: list[Json] = []

    async def judge(call: ToolCall) -> Verdict:
        judged.append({**call.action.input, "hook": call.hook_decision})
        return Allow(step="rules", reason="ok")

    async def rewrite(call: HookCall) -> HookOutcome:
        said = str(call.data["tool_input"]["text"])
        if said == "bad":
            return HookOutcome(decision="deny", text="Never that.")
        return HookOutcome(decision="allow", updated_input={"text": said.upper()})

    echo = Echo()
    hooks = InProcessHooks((Hook(event="PreToolUse", run=rewrite),))
    async with Stage(tools=[echo], hooks=hooks, can_use_tool=judge) as stage:
        stage.api.reply(tool("Echo", id="toolu_1", text="good"), tool("Echo", id="toolu_2", text="bad"))
        stage.api.reply(text("ok"))
        await stage.turn()
        assert echo.log == ["GOOD"]
        assert judged == [{"text": "GOOD", "hook": "allow"}]
        assert stage.api.calls[1].tool_results["toolu_2"]["content"] == "Never that."


async def test_spilled_results_keep_a_preview_and_the_whole_can_be_read() -> None:  # C1
    from enginekit import Long

    async with Stage(tools=[Long()]) as stage:
        stage.api.reply(tool("Long", id="toolu_1", text="x"))
        stage.api.reply(text("ok"))
        await stage.turn()
        sent = str(stage.api.calls[1].tool_results["toolu_1"]["content"])
        assert sent.startswith("line 0\nline 1\n")
        assert "spill/toolu_1.txt" in sent and len(sent) < 3_000
        assert stage.spills.files["spill/toolu_1.txt"].endswith("line 4999")


async def test_a_reduction_that_hides_a_read_clears_its_re_read_stub() -> None:  # C7
    state = SessionState(cwd="/project")

    class Marking(Reader):
        async def call(self, input: Any, ctx: Any) -> Any:
            ctx.state.read_files[f"/project/{input.text}"] = ReadMark(
                sha256="x", mtime_ns=-1, tool_use_id=ctx.tool_use_id
            )
            return await super().call(input, ctx)

    async with Stage(
        tools=[Marking(size=8_000)],
        limits=Limits(window=60_000, max_output=8_000),
        get_app_state=lambda: state,
        services=ToolServices(),
    ) as stage:
        for number in range(18):
            stage.api.reply(tool("Read", text=str(number)))
        stage.api.reply(text("ok"))
        await stage.turn()
        seen = [mark.in_view for mark in state.read_files.values()]
        assert seen[0] is False and seen[-1] is True
