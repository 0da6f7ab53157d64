"""An answer that breaks after it began is tried again by the same rules as one that never began (M3, M4, M5, L10)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assent.extensions.commands import BUILT_IN
from assent.types.blocks import text_of
from assent.types.messages import ApiRetry, AssistantMessage, CompactBoundary, Heartbeat
from enginekit import Change, Stage
from enginekit.stage import OTHER_MODEL
from fakeapi import Reply, text, tool
from fakeapi.script import Cut


def broken(kind: str) -> Reply:
    """Some words, and then an error where more words should be."""
    return Reply(parts=(text("some words"),), error={"type": kind, "message": f"this is {kind}"})


async def test_the_waits_between_cut_answers_grow_and_are_told_before_they_begin() -> None:  # M3
    async with Stage() as stage:
        for _ in range(3):
            stage.api.cut(text("half of ", "an answer"), at_event=3)
        stage.api.reply(text("whole"))
        turn = await stage.turn()
        assert turn.transitions == ["stream_retry"] * 3
        assert [retry.attempt for retry in turn.of(ApiRetry)] == [1, 2, 3]
        assert stage.clock.slept == [0.5, 1.0, 2.0]
        assert turn.result.result == "whole"


@pytest.mark.parametrize("how", ["an error event", "a lost connection"])
async def test_what_the_endpoint_asked_for_in_retry_after_is_waited_for_after_a_break_too(how: str) -> None:  # M3
    said = {"retry-after": "7"}
    asked = broken("overloaded_error") if how == "an error event" else Reply(parts=(text("half"),), cut=Cut(at_event=3))
    async with Stage() as stage:
        stage.api.add(replace(asked, headers=said))
        stage.api.add(replace(asked, headers={"retry-after": "0.01"}))  # the backoff is longer
        stage.api.reply(text("whole"), headers=said)
        turn = await stage.turn()
        assert turn.transitions == ["stream_retry"] * 2
        assert stage.clock.slept == [7.0, 1.0]
        assert [retry.delay_ms for retry in turn.of(ApiRetry)] == [7_000, 1_000]


async def test_an_endpoint_that_says_not_to_try_again_is_believed_after_a_break_too() -> None:  # M3
    async with Stage() as stage:
        stage.api.add(replace(broken("api_error"), headers={"x-should-retry": "false"}))
        turn = await stage.turn()
        assert (turn.result.terminal, turn.of(ApiRetry)) == ("model_error", [])


async def test_tries_before_and_after_the_first_word_are_counted_together() -> None:  # M3
    async with Stage() as stage:
        for _ in range(5):
            stage.api.error(500)
            stage.api.cut(text("half of ", "an answer"), at_event=3)
        stage.api.cut(text("the last ", "try"), at_event=3)
        turn = await stage.turn()
        assert turn.result.terminal == "model_error"
        assert [retry.attempt for retry in turn.of(ApiRetry)] == list(range(1, 11))
        assert [text_of(m.content) for m in turn.of(AssistantMessage) if not m.error] == ["the last "]


async def test_three_overloads_in_a_row_fall_back_wherever_they_came() -> None:  # M3
    async with Stage(fallback_model=OTHER_MODEL) as stage:
        stage.api.add(broken("overloaded_error"))
        stage.api.error(529)
        stage.api.add(broken("overloaded_error"))
        stage.api.reply(text("from the other"))
        turn = await stage.turn()
        assert turn.transitions == ["stream_retry", "fallback_model_retry"]
        assert [call.body["model"] for call in stage.api.calls][-1] == OTHER_MODEL
        assert turn.result.result == "from the other"


async def test_what_would_not_be_retried_before_the_first_word_is_not_retried_after_it() -> None:  # M3, L10
    async with Stage() as stage:
        stage.api.add(broken("invalid_request_error"))
        turn = await stage.turn()
        assert (turn.result.terminal, turn.transitions) == ("model_error", [])
        assert [text_of(m.content) for m in turn.of(AssistantMessage) if not m.error] == ["some words"]


async def test_an_unattended_session_never_gives_up_on_a_stream_that_breaks() -> None:  # M4
    async with Stage(persistent=True) as stage:
        for _ in range(14):
            stage.api.cut(text("half of ", "an answer"), at_event=3)
        stage.api.reply(text("whole"))
        turn = await stage.turn()
        assert turn.result.result == "whole"
        assert turn.of(ApiRetry)[-1].max_attempts == 0
        assert turn.of(Heartbeat)


async def test_a_tried_call_starts_counting_afresh_once_an_answer_came() -> None:  # M3
    async with Stage(tools=[Change()]) as stage:
        for _ in range(2):
            for _ in range(10):
                stage.api.cut(text("half of ", "an answer"), at_event=3)
            stage.api.reply(tool("Change", text="x"))
        stage.api.reply(text("done"))
        turn = await stage.turn()
        assert turn.result.result == "done"


@pytest.mark.parametrize("persistent", [False, True])
async def test_a_summary_that_breaks_in_the_middle_is_asked_for_again(persistent: bool) -> None:  # M5, C5
    async with Stage(commands=BUILT_IN, persistent=persistent) as stage:
        stage.api.reply(text("hello"))
        await stage.turn("hi")
        summary = text("<summary>They said hello.</summary>", piece=8)
        failed: list[Any] = [Reply(parts=(summary,), cut=Cut(at_event=4)) for _ in range(12 if persistent else 3)]
        stage.api.when("about to be replaced", *failed, Reply(parts=(summary,)))
        turn = await stage.turn("/compact")
        (boundary,) = turn.of(CompactBoundary)
        assert boundary.summary == "They said hello."


async def test_a_break_after_a_changing_call_began_waits_and_counts_like_any_other() -> None:  # M3, L10
    """The answer is kept, because its call cannot be taken back; the next request goes out by the rules of a retry."""
    change = Change()
    async with Stage(tools=[change], fallback_model=OTHER_MODEL) as stage:
        for number in range(3):
            parts = (tool("Change", id=f"toolu_{number}", text=str(number)), text("words"))
            stage.api.add(Reply(parts=parts, error={"type": "overloaded_error", "message": "Overloaded"}))
        stage.api.reply(text("from the other"))
        turn = await stage.turn()
        assert change.log == ["0", "1", "2"]
        assert turn.transitions == ["next_turn"] * 3
        assert [retry.attempt for retry in turn.of(ApiRetry)] == [1, 2]
        assert stage.clock.slept == [0.5, 1.0]
        assert [call.body["model"] for call in stage.api.calls][-1] == OTHER_MODEL
        assert turn.result.result == "from the other"
