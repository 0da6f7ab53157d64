"""An answer that reaches the output cap: raise it once, then ask to resume, then say so (L6)."""

from __future__ import annotations

from assent.engine.recovery import RESUME
from assent.types.blocks import text_of
from assent.types.messages import AssistantMessage, RequestStart, Tombstone, UserMessage
from enginekit import Change, Echo, Stage
from fakeapi import Limits, text, tool


async def test_nudges_to_resume_are_hidden_and_keep_what_was_already_written() -> None:  # L6
    async with Stage() as stage:
        for part in ("taken back", "first part", "second part"):
            stage.api.reply(text(part), stop_reason="max_tokens")
        stage.api.reply(text("third part"))
        turn = await stage.turn("write a book")
        looped = [(m.transition, m.attempt) for m in turn.of(RequestStart)]
        assert looped == [
            (None, 0),
            ("max_output_tokens_escalate", 0),
            ("max_output_tokens_recovery", 1),
            ("max_output_tokens_recovery", 2),
        ]
        asked = [
            (message["role"], [block["text"] for block in message["content"]])
            for message in stage.api.calls[-1].messages[1:]
        ]
        assert asked == [
            ("assistant", ["first part"]),
            ("user", [RESUME]),
            ("assistant", ["second part"]),
            ("user", [RESUME]),
        ]
        assert [(text_of(m.content), m.is_meta) for m in turn.of(UserMessage)] == [(RESUME, True), (RESUME, True)]
        assert [stone.reason for stone in turn.of(Tombstone)] == ["max_output_tokens_escalate"]
        kept = [text_of(m.content) for m in stage.engine.messages if isinstance(m, AssistantMessage)]
        assert kept == ["first part", "second part", "third part"]
        assert {call.body["max_tokens"] for call in stage.api.calls[1:]} == {64_000}  # the raised cap stays


async def test_the_cap_is_raised_no_further_than_the_model_can_write() -> None:  # L6
    async with Stage(limits=Limits(window=200_000, max_output=32_000)) as stage:
        stage.api.reply(text("cut"), stop_reason="max_tokens")
        stage.api.reply(text("whole"))
        await stage.turn()
        assert [call.body["max_tokens"] for call in stage.api.calls] == [8_000, 32_000]


async def test_a_model_that_cannot_write_more_is_asked_to_resume_at_once() -> None:  # L6
    async with Stage(limits=Limits(window=200_000, max_output=8_000)) as stage:
        stage.api.reply(text("cut"), stop_reason="max_tokens")
        stage.api.reply(text("whole"))
        turn = await stage.turn()
        assert turn.transitions == ["max_output_tokens_recovery"]


async def test_a_call_that_was_cut_never_runs_and_is_answered_before_the_nudge() -> None:  # L6, L9
    change = Change()
    async with Stage(tools=[change, Echo()]) as stage:
        for call in ("toolu_1", "toolu_2"):
            cut = tool("Change", id=call, raw_json='{"text": "a very lo')
            stage.api.reply(text("Changing."), cut, stop_reason="max_tokens")
        stage.api.reply(text("in pieces, then"))
        turn = await stage.turn()
        assert turn.transitions == ["max_output_tokens_escalate", "max_output_tokens_recovery"]
        assert change.log == []
        assert "toolu_1" not in str(stage.api.calls[-1].messages)  # taken back with its answer
        result, nudge = stage.api.calls[-1].messages[-1]["content"]
        assert (result["tool_use_id"], result["is_error"], nudge["text"]) == ("toolu_2", True, RESUME)
        assert "cut off before it was complete" in str(result["content"])
        stage.assert_reloads()


async def test_the_next_step_starts_from_the_ordinary_cap_again() -> None:  # L1, L6
    """`next_turn` resets the recovery fields: a later cut is escalated and resumed as if it were the first."""
    async with Stage(tools=[Echo()]) as stage:
        stage.api.reply(text("cut"), stop_reason="max_tokens")
        stage.api.reply(tool("Echo", text="a"))
        stage.api.reply(text("cut again"), stop_reason="max_tokens")
        stage.api.reply(text("whole"))
        turn = await stage.turn()
        assert turn.transitions == ["max_output_tokens_escalate", "next_turn", "max_output_tokens_escalate"]
        assert [call.body["max_tokens"] for call in stage.api.calls] == [8_000, 64_000, 8_000, 64_000]
