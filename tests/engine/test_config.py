"""The fields of the config that no other file shows, each at work (Q2), and what tools and hooks meet (H, C)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from assent.context.microcompact import CLEARED, endpoint_edit
from assent.context.thresholds import thresholds
from assent.engine.config import TaskBudget
from assent.engine.conversation_past import OrphanedPermission
from assent.extensions.commands import BUILT_IN
from assent.extensions.hooks import Hook, InProcessHooks
from assent.extensions.memory import MemoryFile
from assent.storage.spill import SpillFolder
from assent.tools.tool import ToolServices
from assent.types.blocks import Json, text_block
from assent.types.hooks import HookCall, HookOutcome
from assent.types.messages import (
    AssistantFinal,
    AssistantMessage,
    ConversationMessage,
    HookRan,
    Notice,
    Tombstone,
    UserMessage,
)
from assent.types.permissions import Allow, Deny, Verdict
from assent.types.ports import ModelInfo, ToolCall
from enginekit import Change, Echo, Reader, Stage
from fakeapi import Limits, Reply, event, text, tool


class Notes:
    """A memory source with one note."""

    async def load(self, cwd: str) -> list[MemoryFile]:
        return [MemoryFile(path="/project/ASSENT.md", text="Use tabs.", scope="project")]

    async def nested(self, path: str, cwd: str) -> list[MemoryFile]:
        return []


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
        engine = stage.new_engine(messages=history, orphans=(orphan,), can_use_tool=person)
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
        engine = stage.new_engine(messages=history, orphans=(orphan,))
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
        await stage.turn("go on", engine=stage.new_engine(messages=history))
        block = stage.api.calls[0].tool_results["toolu_o"]
        assert block["is_error"] and "may have run in part" in block["content"]


async def test_context_is_explained_by_category() -> None:  # C8
    async with Stage(tools=[Reader(size=8_000)], memory=Notes()) as stage:
        stage.api.reply(tool("Read", text="x"))
        stage.api.reply(text("ok"))
        await stage.turn()
        told = stage.engine.context()
        tokens = told["tokens"]
        assert tokens["messages"] > 2_000 and tokens["system"] > 300 and tokens["tools"] > 20 and tokens["memory"] > 5
        assert told["used"] == sum(tokens[name] for name in ("system", "tools", "memory", "messages"))
        assert tokens["free"] == told["window"] - told["used"]


@pytest.mark.parametrize("verbose", [False, True])
async def test_verbose_alone_tells_what_the_reductions_did(verbose: bool) -> None:  # Q2 verbose
    limits = Limits(window=60_000, max_output=8_000)
    async with Stage(tools=[Reader(size=8_000)], limits=limits, verbose=verbose) as stage:
        for number in range(18):
            stage.api.reply(tool("Read", text=str(number)))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert CLEARED in str(stage.api.calls[-1].messages)
        assert any("microcompact freed" in notice.text for notice in turn.of(Notice)) is verbose


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


async def test_a_disk_that_takes_no_spilled_result_costs_its_rest_and_not_the_turn(tmp_path: Path) -> None:  # C1
    from enginekit import Long

    (tmp_path / "full").write_text("no folder can be made below this")
    async with Stage(tools=[Long()], services=ToolServices(spill=SpillFolder(tmp_path / "full" / "spill"))) as stage:
        stage.api.reply(tool("Long", id="toolu_1", text="x"))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert (turn.result.terminal, turn.errors) == ("completed", [])
        sent = str(stage.api.calls[1].tool_results["toolu_1"]["content"])
        assert sent.startswith("line 0\nline 1\n") and len(sent) < 3_000
        assert "could not be saved" in sent and "full" not in sent


async def test_results_the_endpoint_cleared_lose_their_re_read_stubs_and_nothing_is_cleared_twice() -> None:  # C3, C7
    marks = thresholds(ModelInfo(id="m", context_window=60_000, max_output_tokens=8_000))
    edit = endpoint_edit(marks)
    async with Stage(
        tools=[Reader(size=8_000)],
        limits=Limits(window=60_000, max_output=8_000),
        services=ToolServices(),
        context_edits=(edit,),
    ) as stage:
        for number in range(16):
            stage.api.reply(tool("Read", id=f"toolu_{number}", text=str(number)))
        applied = {"applied_edits": [{"type": edit["type"], "cleared_tool_uses": 11, "cleared_input_tokens": 22_000}]}
        told = {"type": "message_delta", "delta": {}, "usage": {}, "context_management": applied}
        stage.api.reply(text("done"), event("message_delta", told))
        turn = await stage.turn()
        assert turn.of(AssistantFinal)[-1].cleared_tool_uses == 11
        known = stage.engine._conversation
        seen = [known.window.result(known.history.view(), f"toolu_{number}") for number in range(16)]
        assert [result is not None for result in seen] == [False] * 11 + [True] * 5
        last = stage.api.calls[-1]
        assert last.body["context_management"] == {"edits": [edit]}
        assert "context-management-2025-06-27" in last.headers["anthropic-beta"]
        assert "Cleared to save room" not in str(last.messages)  # ours did not do the endpoint's work
