"""Every reason to loop and every reason to stop, each reached by a script against the strict fake API (L2, L3).

One row per way there. A row says what the model answers, and what must come of it: the transitions in order, the
terminal, and that the endpoint found every request valid (a row may expect refusals it provokes itself).
"""

from __future__ import annotations

import typing
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from assent.engine.query_engine import QueryEngine
from assent.engine.services import allow_everything
from assent.extensions.hooks import Hook, InProcessHooks
from assent.types.blocks import Json, text_of
from assent.types.hooks import HookCall, HookOutcome
from assent.types.messages import (
    AssistantMessage,
    ContinueReason,
    MaxTurnsReached,
    Message,
    StreamEvent,
    TerminalReason,
    Tombstone,
    ToolStarted,
)
from assent.types.permissions import Deny, Verdict
from assent.types.ports import ToolCall
from enginekit import Change, Echo, Gate, Stage, TurnLog
from enginekit.invariants import reloaded
from enginekit.stage import OTHER_MODEL
from fakeapi import FakeApi, Limits, Reply, block, hold, text, tool

Script = Callable[[FakeApi], object]
Check = Callable[[Stage, TurnLog], object]
Act = Callable[[Stage, int, Message], object]

TINY = Limits(window=40_000, max_output=8_000)
IMAGE: Json = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="},
}


def hooks(*given: Hook) -> InProcessHooks:
    return InProcessHooks(given)


def says(outcome: HookOutcome) -> Callable[[HookCall], Awaitable[HookOutcome]]:
    async def run(call: HookCall) -> HookOutcome:
        return outcome

    return run


async def stop_everything(call: ToolCall) -> Verdict:
    return Deny(step="mode", reason="No, and stop.", interrupt=True)


@dataclass(frozen=True, kw_only=True)
class Row:
    reaches: ContinueReason | TerminalReason
    script: Script
    transitions: list[str] = field(default_factory=list[str])
    terminal: TerminalReason = "completed"
    subtype: str = "success"
    prompt: Any = "go"
    config: dict[str, Any] = field(default_factory=dict[str, Any])
    stage: dict[str, Any] = field(default_factory=dict[str, Any])
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    check: Check = lambda _stage, _turn: None
    act: Act = lambda _stage, _at, _message: None
    refusals: int = 0
    name: str = ""


def tool_then_done(api: FakeApi) -> None:
    api.reply(text("Looking."), tool("Echo", text="a"))
    api.reply(text("done"))


def cut_text(api: FakeApi, times: int) -> None:
    for number in range(times):
        api.reply(text(f"part {number} of a long answer"), stop_reason="max_tokens")


def escalation(stage: Stage, _turn: TurnLog) -> None:
    """L6: the same request with the cap raised from 8k, and no message added."""
    first, second = stage.api.calls
    assert (first.body["max_tokens"], second.body["max_tokens"]) == (8_000, 64_000)
    assert first.messages[-1]["content"][-1]["text"] == second.messages[-1]["content"][-1]["text"]


def no_escalation(stage: Stage, _turn: TurnLog) -> None:
    assert {call.body["max_tokens"] for call in stage.api.calls} == {1_000}


def overflow(api: FakeApi) -> None:
    """A conversation too long for the endpoint, whatever we thought of it; then a summary; then an answer."""
    api.error(400, "prompt is too long: 210000 tokens > 200000 maximum")
    api.when("about to be replaced by a summary", Reply(parts=(text("<summary>All there is to know.</summary>"),)))
    api.reply(text("done"))


def overflow_twice(api: FakeApi) -> None:
    api.error(400, "prompt is too long: 210000 tokens > 200000 maximum")
    api.when("about to be replaced by a summary", Reply(parts=(text("<summary>All there is to know.</summary>"),)))
    api.error(400, "prompt is too long: 205000 tokens > 200000 maximum")


def media(api: FakeApi) -> None:
    api.error(400, "messages.0.content.1.image: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes")


def withdrawn(reason: str, count: int = 1) -> Check:
    """L10: what was partly shown is taken back before it is asked for again."""

    def check(_stage: Stage, turn: TurnLog) -> None:
        stones = [stone for stone in turn.of(Tombstone) if stone.reason == reason]
        assert len(stones) == count
        gone = {uuid for stone in stones for uuid in stone.message_uuids}
        assert gone
        assert not gone & {message.uuid for message in _stage.engine.messages}

    return check


def no_error_shown(_stage: Stage, turn: TurnLog) -> None:
    assert turn.errors == []  # L5: an error the engine recovered from is never seen


def abort_at_words(stage: Stage, _at: int, message: Message) -> None:
    if isinstance(message, StreamEvent) and message.event.get("type") == "content_block_delta":
        stage.engine.abort()


def overloaded(api: FakeApi) -> None:
    for _ in range(3):
        api.error(529)
    api.reply(text("from the other model"))


def fallback_used(stage: Stage, turn: TurnLog) -> None:
    assert [call.body["model"] for call in stage.api.calls][-1] == OTHER_MODEL
    assert turn.result.result == "from the other model"


def cut_mid_answer(api: FakeApi, times: int) -> None:
    for _ in range(times):
        api.cut(text("half of an answer that never"), at_event=4)


def budget_turn(api: FakeApi, *outputs: int) -> None:
    for number, tokens in enumerate(outputs):
        api.reply(text(f"step {number}"), output_tokens=tokens)


ROWS = [
    Row(reaches="next_turn", script=tool_then_done, transitions=["next_turn"]),
    Row(
        reaches="max_output_tokens_escalate",
        script=lambda api: (cut_text(api, 1), api.reply(text("whole"))),
        transitions=["max_output_tokens_escalate"],
        check=lambda stage, turn: (
            escalation(stage, turn),
            withdrawn("max_output_tokens_escalate")(stage, turn),
            no_error_shown(stage, turn),
        ),
    ),
    Row(
        reaches="max_output_tokens_recovery",
        script=lambda api: (cut_text(api, 3), api.reply(text("the end"))),
        transitions=["max_output_tokens_escalate", "max_output_tokens_recovery", "max_output_tokens_recovery"],
        check=no_error_shown,
    ),
    Row(
        reaches="max_output_tokens_recovery",
        name="without escalation when the caller set max_tokens",
        script=lambda api: (cut_text(api, 1), api.reply(text("the end"))),
        transitions=["max_output_tokens_recovery"],
        config={"max_tokens": 1_000},
        check=no_escalation,
    ),
    Row(
        reaches="max_output_tokens_exhausted",
        script=lambda api: cut_text(api, 5),
        transitions=["max_output_tokens_escalate", *["max_output_tokens_recovery"] * 3],
        terminal="max_output_tokens_exhausted",
        subtype="error_during_execution",
        check=lambda _stage, turn: turn.errors != [] or pytest.fail("the error was not shown"),
    ),
    Row(
        reaches="reactive_compact_retry",
        script=overflow,
        transitions=["reactive_compact_retry"],
        check=no_error_shown,
    ),
    Row(
        reaches="prompt_too_long",
        script=overflow_twice,
        transitions=["reactive_compact_retry"],
        terminal="prompt_too_long",
        subtype="error_during_execution",
        check=lambda _stage, turn: "/compact" in turn.result.result or pytest.fail("no way out was named"),
    ),
    Row(
        reaches="prompt_too_long",
        name="by the stop reason model_context_window_exceeded",
        script=lambda api: (
            api.reply(text("and then"), stop_reason="model_context_window_exceeded"),
            api.when("about to be replaced", Reply(parts=(text("<summary>So far.</summary>"),))),
            api.reply(text("and"), stop_reason="model_context_window_exceeded"),
        ),
        transitions=["reactive_compact_retry"],
        terminal="prompt_too_long",
        subtype="error_during_execution",
    ),
    Row(
        reaches="image_error",
        script=lambda api: [media(api) for _ in range(2)],
        prompt=[{"type": "text", "text": "what is this"}, IMAGE],
        transitions=["reactive_compact_retry"],
        terminal="image_error",
        subtype="error_during_execution",
    ),
    Row(
        reaches="reactive_compact_retry",
        name="by taking out an image that is too large",
        script=lambda api: (media(api), api.reply(text("a picture"))),
        prompt=[{"type": "text", "text": "what is this"}, IMAGE],
        transitions=["reactive_compact_retry"],
        check=no_error_shown,
    ),
    Row(
        reaches="stop_hook_blocking",
        script=lambda api: (api.reply(text("done?")), api.reply(text("done!"))),
        transitions=["stop_hook_blocking"],
        config={
            "hooks": hooks(Hook(event="Stop", run=says(HookOutcome(status="blocked", text="the tests still fail"))))
        },
        check=lambda stage, _turn: "the tests still fail" in stage.api.calls[1].last_text or pytest.fail("not told"),
    ),
    Row(
        reaches="stop_hook_prevented",
        script=lambda api: api.reply(text("done")),
        terminal="stop_hook_prevented",
        config={"hooks": hooks(Hook(event="Stop", run=says(HookOutcome(status="prevented", text="enough"))))},
    ),
    Row(
        reaches="hook_stopped",
        script=lambda api: api.reply(tool("Echo", text="a")),
        terminal="hook_stopped",
        config={"hooks": hooks(Hook(event="PostToolUse", run=says(HookOutcome(status="prevented", text="stop"))))},
    ),
    Row(
        reaches="token_budget_continuation",
        script=lambda api: budget_turn(api, 3_000, 5_000, 2_000),
        prompt="work hard +10k",
        transitions=["token_budget_continuation", "token_budget_continuation"],
        terminal="token_budget_stop",
    ),
    Row(
        reaches="token_budget_stop",
        name="when the model is only spinning",
        script=lambda api: budget_turn(api, 3_000, 2_000, 100, 100),
        options={"token_budget": 1_000_000},
        transitions=["token_budget_continuation"] * 3,
        terminal="token_budget_stop",
    ),
    Row(
        reaches="fallback_model_retry",
        script=overloaded,
        transitions=["fallback_model_retry"],
        config={"fallback_model": OTHER_MODEL},
        check=fallback_used,
    ),
    Row(
        reaches="stream_retry",
        script=lambda api: (cut_mid_answer(api, 1), api.reply(text("all of it"))),
        transitions=["stream_retry"],
        check=lambda stage, turn: (no_error_shown(stage, turn), withdrawn("stream_retry")(stage, turn)),
    ),
    Row(
        reaches="model_error",
        name="when the stream keeps breaking",
        script=lambda api: cut_mid_answer(api, 11),
        transitions=["stream_retry"] * 10,
        terminal="model_error",
        subtype="error_during_execution",
    ),
    Row(
        reaches="pause_turn",
        script=lambda api: (api.reply(text("searching"), stop_reason="pause_turn"), api.reply(text("found"))),
        transitions=["pause_turn"],
    ),
    Row(
        reaches="pause_turn",
        name="after the endpoint compacted the conversation itself",
        script=lambda api: (
            api.reply(block({"type": "compaction", "content": "So far so good."}), stop_reason="compaction"),
            api.reply(text("going on")),
        ),
        transitions=["pause_turn"],
        config={"context_edits": ({"type": "compact_20260112"},)},
    ),
    Row(
        reaches="structured_output_retry",
        script=lambda api: (
            api.reply(text("It is 4.")),
            api.reply(tool("StructuredOutput", {"answer": "four"})),
            api.reply(tool("StructuredOutput", {"answer": 4})),
        ),
        transitions=["structured_output_retry", "structured_output_retry"],
        config={
            "json_schema": {
                "type": "object",
                "properties": {"answer": {"type": "integer"}},
                "required": ["answer"],
            }
        },
        check=lambda _stage, turn: (
            (turn.result.structured_output, turn.result.result) == ({"answer": 4}, '{"answer":4}')
            or pytest.fail(str(turn.result))
        ),
    ),
    Row(
        reaches="model_error",
        name="when no answer ever matches the schema",
        script=lambda api: [api.reply(text("no")) for _ in range(6)],
        transitions=["structured_output_retry"] * 5,
        terminal="model_error",
        subtype="error_max_structured_output",
        config={"json_schema": {"type": "object", "required": ["answer"]}},
    ),
    Row(
        reaches="completed",
        script=lambda api: api.reply(text("hello")),
        check=lambda _stage, turn: turn.result.result == "hello" or pytest.fail(turn.result.result),
    ),
    Row(
        reaches="max_turns",
        script=lambda api: [api.reply(tool("Echo", text=str(n))) for n in range(2)],
        transitions=["next_turn"],
        terminal="max_turns",
        subtype="error_max_turns",
        config={"max_turns": 2},
        check=lambda _stage, turn: (
            ([(m.max_turns, m.turn_count) for m in turn.of(MaxTurnsReached)] == [(2, 3)] and turn.result.num_turns == 2)
            or pytest.fail("max_turns_reached")
        ),
    ),
    Row(
        reaches="aborted_streaming",
        script=lambda api: api.reply(text("this takes ", hold("for ever"))),
        terminal="aborted_streaming",
        subtype="error_during_execution",
        config={"include_partial_messages": True},
        act=abort_at_words,
        check=lambda stage, turn: (
            turn.result.result == "Aborted" or pytest.fail(turn.result.result),
            text_of(turn.of(AssistantMessage)[-1].content) == "this takes " or pytest.fail("the words were not kept"),
        ),
    ),
    Row(
        reaches="aborted_tools",
        script=lambda api: api.reply(tool("Gate", text="a")),
        terminal="aborted_tools",
        subtype="error_during_execution",
        name="while a tool runs",
    ),
    Row(
        reaches="aborted_tools",
        name="when a person denies and wants the turn to stop",
        script=lambda api: api.reply(tool("Echo", text="a")),
        terminal="aborted_tools",
        subtype="error_during_execution",
        config={"can_use_tool": stop_everything},
    ),
    Row(
        reaches="blocking_limit",
        script=lambda api: api.when("about to be replaced", *[Reply(parts=(text("<summary></summary>"),))] * 3),
        prompt=[{"type": "text", "text": "word " * 6_500}] * 3,
        stage={"limits": TINY},
        terminal="blocking_limit",
        subtype="error_during_execution",
        check=lambda _stage, turn: "/compact" in turn.result.result or pytest.fail(turn.result.result),
    ),
    Row(
        reaches="model_error",
        script=lambda api: api.error(403, "Your account may not do this."),
        terminal="model_error",
        subtype="error_during_execution",
        check=lambda _stage, turn: turn.errors == ["Your account may not do this."] or pytest.fail(str(turn.errors)),
    ),
    Row(
        reaches="refusal",
        script=lambda api: api.reply(text("I"), stop_reason="refusal"),
        terminal="refusal",
        subtype="error_during_execution",
    ),
    Row(
        reaches="budget_usd",
        script=lambda api: api.reply(tool("Echo", text="a"), output_tokens=100_000),
        terminal="budget_usd",
        subtype="error_max_budget_usd",
        config={"max_budget_usd": 0.5},
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.reaches} {row.name}".strip().replace(" ", "-"))
async def test_reason_is_reached(row: Row) -> None:  # L2, L3, L6, M9, Q6, Q10
    gate = Gate()
    async with Stage(tools=[Echo(), Change(), gate], **row.stage, **row.config) as stage:
        row.script(stage.api)
        stage.api.expect_refusal(row.refusals)

        def act(at: int, message: Message) -> None:
            row.act(stage, at, message)
            if isinstance(message, ToolStarted) and message.tool == "Gate":
                stage.engine.abort()

        turn = await stage.turn(row.prompt, on_message=act, **row.options)
        assert turn.transitions == row.transitions
        assert turn.result.terminal == row.terminal
        assert turn.result.subtype == row.subtype
        assert turn.result.is_error == (row.subtype != "success")
        row.check(stage, turn)
        stage.assert_reloads()
        assert stage.api.left == 0
        stage.api.reply(text("the next turn works"))
        after = await stage.turn("and now?", engine=_resumed(stage, afresh=row.terminal == "blocking_limit"))
        assert after.result.result == "the next turn works"


async def test_staged_collapses_are_drained_on_an_overflow_before_anything_is_compacted() -> None:  # L2, L7
    """collapse_drain_retry: summaries staged in the background are all put in place, and the call is made again."""
    async with Stage(
        tools=[Echo()], limits=Limits(window=70_000, max_output=8_000), background_calls={"collapse"}
    ) as stage:
        for number in range(27):  # what Echo says is never cleared, so only collapsing helps
            stage.api.reply(tool("Echo", text=f"file{number} " + "word " * 600))
        stage.api.when("finished stretch", *[Reply(parts=(text("Looked at files."),)) for _ in range(4)])
        stage.api.error(400, "prompt is too long: 71000 tokens > 70000 maximum")
        stage.api.reply(text("done"))
        turn = await stage.turn("read them all")
        assert turn.transitions == [*["next_turn"] * 27, "collapse_drain_retry"]
        assert turn.result.terminal == "completed"
        assert "Looked at files." in str(stage.api.calls[-1].messages)
        assert len([m for m in stage.engine.messages if m.type == "user"]) == 28  # people still see all of it


def _resumed(stage: Stage, *, afresh: bool) -> QueryEngine:
    """The same conversation from its transcript, without the limits and hooks that ended the turn."""
    return stage.new_engine(
        messages=() if afresh else reloaded(stage.transcript.written),
        json_schema=None,
        max_budget_usd=None,
        max_turns=None,
        hooks=InProcessHooks(),
        context_edits=(),
        can_use_tool=allow_everything,
    )


def test_every_reason_has_a_row() -> None:
    reached = {row.reaches for row in ROWS} | {"collapse_drain_retry"}  # has a test of its own, below
    assert reached == set(typing.get_args(ContinueReason)) | set(typing.get_args(TerminalReason))
