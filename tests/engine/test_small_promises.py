"""Small promises of the engine, each broken once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from assent.context.microcompact import CLEARED
from assent.engine.prompting.user_input import parse_token_budget
from assent.engine.services import McpClient
from assent.extensions.commands import BUILT_IN
from assent.extensions.hooks import Hook, InProcessHooks
from assent.tools.edit import Edit
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.read import Read
from assent.tools.tool import ToolContext, ToolOutput, ToolServices
from assent.tools.write import Write
from assent.types.hooks import HookCall, HookOutcome
from assent.types.messages import (
    Attachment,
    CompactBoundary,
    ConversationMessage,
    Tombstone,
    UserMessage,
)
from assent.types.permissions import Allow, Verdict
from assent.types.ports import ToolCall
from enginekit import Change, Crash, Echo, Fail, Gate, Reader, Stage, TurnLog
from enginekit.invariants import reloaded
from enginekit.stage import WAIT
from enginekit.tools import TextInput
from fakeapi import Limits, Reply, text, tool

SUMMARY = Reply(parts=(text("<summary>All there is to know.</summary>"),))
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def test_commands_that_cost_nothing_answer_with_a_spent_budget() -> None:  # Q7, Q9
    async with Stage(commands=BUILT_IN, max_budget_usd=0.1) as stage:
        stage.api.reply(text("dear"), output_tokens=100_000)
        assert (await stage.turn()).result.terminal == "budget_usd"
        for command, words in (("/cost", "has cost"), ("/help", "Commands:"), ("/status", "session")):
            turn = await stage.turn(command)
            assert turn.result.terminal == "completed" and words in turn.result.result
        assert (await stage.turn("go on")).result.terminal == "budget_usd"


@pytest.mark.parametrize(
    ("prompt", "budget"),
    [
        ("fix it +500k", 500_000),
        ("fix it\n+1.5m  ", 1_500_000),
        ("Is 10k + 5k", None),
        ("Is 10k + 5k ", None),
        ("raise it by+5k", None),
        ("+500k is what I earn", None),
        ("+500k", None),
        ("fix it +500", None),
        ("fix it + 500k", None),
    ],
)
def test_only_a_mark_that_stands_alone_at_the_end_is_a_token_budget(prompt: str, budget: int | None) -> None:  # L12
    assert parse_token_budget(prompt)[1] == budget


async def test_hooks_hear_of_a_call_that_raised_crashed_or_ran_out_of_time() -> None:  # H
    heard: list[tuple[str, str]] = []

    async def note(call: HookCall) -> HookOutcome:
        heard.append((call.subject, str(call.data["error"])))
        return HookOutcome(context=f"{call.subject} was noted")

    class Slow(Gate):
        name = "Slow"
        timeout = 0.01

    hooks = InProcessHooks((Hook(event="PostToolUseFailure", run=note),))
    async with Stage(tools=[Fail(), Crash(), Slow()], hooks=hooks) as stage:
        for name in ("Fail", "Crash", "Slow"):
            stage.api.reply(tool(name, text="x"))
        stage.api.reply(text("done"))
        await stage.turn()
        assert [name for name, _ in heard] == ["Fail", "Crash", "Slow"]
        assert "cannot be done" in heard[0][1] and "ZeroDivisionError" in heard[1][1] and "timed out" in heard[2][1]
        assert "Slow was noted" in str(stage.api.calls[-1].messages)


async def test_hooks_hear_of_an_edit_that_could_not_even_be_planned(tmp_path: Path) -> None:  # H, T3
    heard: list[str] = []

    async def note(call: HookCall) -> HookOutcome:
        heard.append(f"{call.event} {call.subject}: {call.data.get('error', '')}")
        return HookOutcome(context=f"{call.event} was noted")

    hooks = InProcessHooks(tuple(Hook(event=event, run=note) for event in ("PostToolUse", "PostToolUseFailure")))
    file = tmp_path / "a.txt"
    file.write_text("hello\n")
    services = ToolServices(workspace=DiskWorkspace())
    async with Stage(tools=[Read(), Edit(), Write()], services=services, hooks=hooks, cwd=str(tmp_path)) as stage:
        stage.api.reply(tool("Write", file_path=str(file), content="unread"))
        stage.api.reply(tool("Read", file_path=str(file)))
        stage.api.reply(tool("Edit", file_path=str(file), old_string="nothing like it", new_string="x"))
        stage.api.reply(text("done"))
        await stage.turn()
        assert [each.partition(":")[0] for each in heard] == [
            "PostToolUseFailure Write",
            "PostToolUse Read",
            "PostToolUseFailure Edit",
        ]
        assert "has not been read" in heard[0] and heard[2].partition(": ")[2]
        assert "PostToolUseFailure was noted" in str(stage.api.calls[-1].messages)


async def test_clear_lets_autocompact_try_again() -> None:  # C5
    def asked() -> int:
        return sum("about to be replaced" in call.last_text for call in stage.api.calls)

    async def fill() -> TurnLog:
        for number in range(30):
            stage.api.reply(tool("Echo", text=f"{number} " * 1_400))
        stage.api.reply(text("done"))
        return await stage.turn()

    limits = Limits(window=60_000, max_output=8_000)
    async with Stage(tools=[Echo()], commands=BUILT_IN, limits=limits) as stage:
        stage.api.when("about to be replaced", *[Reply(parts=(text("<analysis>hm"),))] * 9, *[SUMMARY] * 3)
        assert (await fill()).result.terminal == "blocking_limit"  # it gave up after three failures
        assert asked() == 9
        stage.api.forget()
        stage.api.when("about to be replaced", *[SUMMARY] * 3)
        await stage.turn("/clear")
        turn = await fill()
        assert turn.result.terminal == "completed" and asked() > 9
        assert {boundary.trigger for boundary in turn.of(CompactBoundary)} == {"auto"}
        stage.api.forget()


async def test_the_result_of_an_answer_that_was_cut_and_resumed_is_all_of_it() -> None:  # L6, Q6
    async with Stage(max_tokens=1_000) as stage:
        stage.api.reply(text("The first half, "), stop_reason="max_tokens")
        stage.api.reply(text("the second "), stop_reason="max_tokens")
        stage.api.reply(text("and the end."))
        turn = await stage.turn()
        assert turn.transitions == ["max_output_tokens_recovery"] * 2
        assert turn.result.result == "The first half, the second and the end."


def stopping(*says: bool) -> tuple[InProcessHooks, list[bool]]:
    """A stop hook that blocks as often as it is told to; what it was told of `stop_hook_active`."""
    left, active = list(says), list[bool]()

    async def stop(call: HookCall) -> HookOutcome:
        active.append(bool(call.data["stop_hook_active"]))
        return HookOutcome(status="blocked", text="not yet") if (left.pop(0) if left else False) else HookOutcome()

    return InProcessHooks((Hook(event="Stop", run=stop),)), active


async def test_stop_hooks_run_again_after_a_blocked_round_that_used_a_tool() -> None:  # L13
    hooks, active = stopping(True, True, False)
    async with Stage(tools=[Echo()], hooks=hooks) as stage:
        for _ in range(2):
            stage.api.reply(text("done?"))
            stage.api.reply(tool("Echo", text="more"))
        stage.api.reply(text("done."))
        turn = await stage.turn()
        assert active == [False, True, True]
        assert turn.transitions == ["stop_hook_blocking", "next_turn", "stop_hook_blocking", "next_turn"]


async def test_a_blocked_round_without_tools_ends_the_turn() -> None:  # L13
    hooks, active = stopping(True, True, True)
    async with Stage(tools=[Echo()], hooks=hooks) as stage:
        stage.api.reply(text("done?"))
        stage.api.reply(text("done."))
        turn = await stage.turn()
        assert (turn.result.result, active) == ("done.", [False])


async def test_stop_hooks_cannot_send_the_model_back_for_ever() -> None:  # L13
    hooks, active = stopping(*[True] * 50)
    async with Stage(tools=[Echo()], hooks=hooks) as stage:
        for _ in range(8):
            stage.api.reply(text("done?"))
            stage.api.reply(tool("Echo", text="more"))
        stage.api.reply(text("done."))
        turn = await stage.turn()
        assert turn.result.terminal == "completed" and len(active) == 8


async def test_stop_hooks_run_on_a_structured_answer_too() -> None:  # L13, Q10
    hooks, active = stopping(True, False)
    async with Stage(hooks=hooks, json_schema=SCHEMA) as stage:
        stage.api.reply(tool("StructuredOutput", n=1))
        stage.api.reply(tool("StructuredOutput", n=2))
        turn = await stage.turn()
        assert active == [False, True]
        assert turn.result.structured_output == {"n": 2}


async def test_the_status_says_waiting_while_someone_decides() -> None:  # Q2
    status: list[str] = []
    asked, decided = anyio.Event(), anyio.Event()

    async def judge(call: ToolCall) -> Verdict:
        if call.action.tool == "Change":
            asked.set()
            await decided.wait()
        return Allow(step="tool", reason="fine")

    async with Stage(tools=[Change(), Echo()], can_use_tool=judge, set_status=status.append) as stage:
        stage.api.reply(tool("Echo", text="x"))
        stage.api.reply(tool("Change", text="x"))
        stage.api.reply(text("done"))

        async def decide() -> None:
            await asked.wait()
            with anyio.fail_after(WAIT):
                while status[-1] != "waiting":
                    await anyio.lowlevel.checkpoint()
            decided.set()

        async with anyio.create_task_group() as group:
            group.start_soon(decide)
            await stage.turn()
        assert status == ["running", "waiting", "running", "idle"]


async def test_a_git_snapshot_that_comes_late_arrives_as_an_attachment() -> None:  # Q8, Q12
    ready = anyio.Event()

    async def snapshot() -> str:
        await ready.wait()
        return "Git status: on branch main"

    async with Stage(tools=[Echo()], system_context=snapshot, source_seconds=0.01) as stage:
        stage.api.reply(text("one"))
        await stage.turn()
        ready.set()
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        stage.api.reply(text("two"))
        await stage.turn()
        stage.api.reply(text("three"))
        turn = await stage.turn()
        first, *_, last = stage.api.calls
        assert first.body["system"] == last.body["system"]  # the cached prefix stays as it was
        assert "Git status" not in str(first.messages)
        assert str(last.messages).count("Git status: on branch main") == 1
        assert not [a for a in turn.of(Attachment) if a.kind == "system_context"]


@pytest.mark.parametrize(("cache_seconds", "cleared"), [(300.0, True), (3600.0, False)])
async def test_old_results_are_cleared_when_the_cache_is_cold_as_long_as_that_lives(
    cache_seconds: float, cleared: bool
) -> None:  # C3
    limits = Limits(window=60_000, max_output=8_000)
    async with Stage(tools=[Reader(size=2_500)], limits=limits, cache_seconds=cache_seconds) as stage:
        for number in range(12):
            stage.api.reply(tool("Read", text=str(number)))
        stage.api.reply(text("ok"))
        await stage.turn()
        window = stage.engine._conversation.window
        assert window.last_call is not None
        window.last_call -= 600  # ten minutes ago
        stage.api.reply(text("ok"))
        await stage.turn()
        assert (CLEARED in str(stage.api.calls[-1].messages)) == cleared


async def test_a_host_is_told_of_snips_and_compactions_also_when_it_resumes() -> None:  # Q2, C2
    told: list[tuple[str, int]] = []

    def replay(marker: Any, messages: Sequence[ConversationMessage]) -> Sequence[ConversationMessage]:
        assert isinstance(marker, Tombstone | CompactBoundary)
        told.append((marker.type, len(messages)))
        if isinstance(marker, CompactBoundary):
            at = next(at for at, message in enumerate(messages) if message.uuid == marker.uuid)
            return messages[at:]
        return [message for message in messages if message.uuid not in marker.message_uuids]

    async with Stage(commands=BUILT_IN, snip_replay=replay) as stage:
        stage.api.reply(text("hello"))
        await stage.turn("hi")
        stage.api.when("about to be replaced", SUMMARY)
        await stage.turn("/compact")
        assert told == [("system/compact_boundary", 3)]
        assert isinstance(stage.engine.messages[0], CompactBoundary)
        told.clear()
        written = reloaded(stage.transcript.written)
        gone = next(message.uuid for message in written if isinstance(message, UserMessage))
        stage.new_engine(messages=written, snipped=frozenset({gone}))
        assert [kind for kind, _ in told] == ["tombstone", "system/compact_boundary"]


@pytest.mark.parametrize("pauses", [25, 26])
async def test_an_answer_may_pause_twenty_five_times_and_no_more(pauses: int) -> None:  # M9
    async with Stage() as stage:
        for _ in range(pauses):
            stage.api.reply(text("searching"), stop_reason="pause_turn")
        if pauses == 25:
            stage.api.reply(text("found"))
        turn = await stage.turn()
        assert turn.transitions == ["pause_turn"] * 25
        assert turn.result.terminal == ("completed" if pauses == 25 else "model_error")


async def test_a_tool_that_a_server_brings_in_mid_turn_is_in_the_next_request() -> None:  # T9
    clients: list[McpClient] = []

    class Connecting(Echo):
        async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
            clients.append(McpClient(name="late", tools=(Change(),)))
            return await super().call(input, ctx)

    async with Stage(tools=[Connecting()], mcp_clients=lambda: tuple(clients)) as stage:
        stage.api.reply(tool("Echo", text="x"))
        stage.api.reply(tool("Change", id="toolu_2", text="y"))
        stage.api.reply(text("done"))
        await stage.turn()
        offered = [[each["name"] for each in call.body["tools"]] for call in stage.api.calls]
        assert ["Change" in names for names in offered] == [False, True, True]
