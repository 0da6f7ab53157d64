"""What counts as a summary, and what a compaction never loses: the words of the user nobody has answered (C5, C6, L7)."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from assent.context.thresholds import thresholds
from assent.engine.config import BackgroundCall
from assent.extensions.commands import BUILT_IN
from assent.types.blocks import Json, text_block
from assent.types.messages import Collapsed, CompactBoundary, CompactSoon, Notice, UserMessage
from assent.types.ports import ModelInfo
from enginekit import Echo, Reader, Stage
from fakeapi import Limits, Reply, Request, block, failure, text, tool
from fakeapi.script import Answer

SUMMARY = Reply(parts=(text("<summary>All there is to know.</summary>"),))
SMALL = Limits(window=60_000, max_output=8_000)


def limited(characters: int, answer: Callable[[Request], Answer]) -> Callable[[Request], Answer]:
    """An endpoint that takes only so much, whatever the model's window is said to be."""

    def judge(request: Request) -> Answer:
        if len(json.dumps(request.messages)) > characters:
            return failure(400, "prompt is too long")
        return answer(request)

    return judge


def answering(request: Request) -> Answer:
    return SUMMARY if "about to be replaced" in request.last_text else Reply(parts=(text("Understood."),))


def reading(files: int) -> Callable[[Request], Answer]:
    """Reads so many files, one a step, and summarises when asked to."""
    steps = [Reply(parts=(tool("Read", text=f"file{number}"),)) for number in range(files)]

    def work(request: Request) -> Answer:
        if "about to be replaced" in request.last_text:
            return SUMMARY
        return steps.pop(0) if steps else Reply(parts=(text("All read."),))

    return work


# --- what counts as a summary ----------------------------------------------------------------------------------------

NO_SUMMARY = {
    "refused": Reply(parts=(text("<summary>I cannot help with that.</summary>"),), stop_reason="refusal"),
    "cut": Reply(parts=(text("<summary>The user wanted to"),), stop_reason="max_tokens"),
    "empty": Reply(parts=(text("<analysis>hm</analysis>"),)),
}


@pytest.mark.parametrize("how", NO_SUMMARY)
async def test_an_answer_that_is_no_whole_summary_is_asked_for_again(how: str) -> None:  # C6
    async with Stage(commands=BUILT_IN) as stage:
        stage.api.reply(text("hello"))
        await stage.turn("remember the password is tulip")
        stage.api.when("about to be replaced", NO_SUMMARY[how], NO_SUMMARY[how], SUMMARY)
        turn = await stage.turn("/compact")
        assert [boundary.summary for boundary in turn.of(CompactBoundary)] == ["All there is to know."]


@pytest.mark.parametrize("how", NO_SUMMARY)
async def test_without_a_whole_summary_the_view_stays_and_the_user_is_told(how: str) -> None:  # C6
    async with Stage(commands=BUILT_IN) as stage:
        stage.api.reply(text("hello"))
        await stage.turn("remember the password is tulip")
        stage.api.when("about to be replaced", *[NO_SUMMARY[how]] * 3)
        turn = await stage.turn("/compact")
        assert turn.of(CompactBoundary) == []
        assert any("could not be compacted" in notice.text for notice in turn.of(Notice))
        stage.api.reply(text("tulip"))
        await stage.turn("what is it?")
        assert "the password is tulip" in str(stage.api.calls[-1].messages)


@pytest.mark.parametrize("how", ["refused", "cut"])
async def test_a_span_is_not_collapsed_to_an_answer_that_is_no_whole_summary(how: str) -> None:  # C4, C6
    background = frozenset[BackgroundCall]({"collapse"})
    words = "I cannot help" if how == "refused" else "The user wanted"
    async with Stage(tools=[Echo()], limits=SMALL, background_calls=background) as stage:
        stage.api.when("finished stretch", *[NO_SUMMARY[how]] * 9)
        for number in range(22):
            stage.api.reply(tool("Echo", text=f"{number} " + "word " * 600))
        stage.api.when("about to be replaced", *[SUMMARY] * 3)
        stage.api.otherwise(Reply(parts=(text("done"),)))
        turn = await stage.turn()
        assert any("finished stretch" in call.last_text for call in stage.api.calls)
        assert turn.of(Collapsed) == [] and stage.engine._conversation.window.staged == []
        assert words not in str(stage.api.calls[-1].messages)
        stage.api.forget()


# --- what is kept ----------------------------------------------------------------------------------------------------


async def test_prompts_that_outgrow_the_endpoint_are_each_answered_word_for_word() -> None:  # C6, L7
    """Two prompts of 40,000 characters and a short one, where 60,000 characters are too many."""
    prompts = ["first " + "a" * 40_000, "second " + "b" * 40_000, "and now the short one"]
    async with Stage(check_requests=False) as stage:
        stage.api.otherwise(limited(60_000, answering))
        for prompt in prompts:
            turn = await stage.turn(prompt)
            assert (turn.result.terminal, turn.result.result) == ("completed", "Understood.")
            assert prompt in str(stage.api.calls[-1].messages)
        boundaries = [m for m in stage.engine.messages if isinstance(m, CompactBoundary)]
        assert [boundary.summary for boundary in boundaries] == ["All there is to know."]


async def test_what_cannot_even_be_summarised_is_left_out_and_named() -> None:  # C6
    async with Stage(check_requests=False) as stage:
        stage.api.otherwise(limited(60_000, answering))
        turn = await stage.turn("too long for any call " + "a" * 70_000)
        assert turn.result.terminal == "prompt_too_long"
        assert turn.of(CompactBoundary) == []  # nothing could go, and a summary of nothing is none
        turn = await stage.turn("and now the short one")
        assert turn.result.result == "Understood."
        (boundary,) = turn.of(CompactBoundary)
        assert "because it did not fit" in boundary.summary and '"too long for any call' in boundary.summary
        assert "and now the short one" in str(stage.api.calls[-1].messages)


async def test_the_oldest_rounds_leave_first_and_the_prompt_stays_while_the_work_overflows() -> None:  # C6, L7
    async with Stage(tools=[Reader(size=9_000)], check_requests=False) as stage:
        stage.api.otherwise(limited(60_000, reading(16)))
        turn = await stage.turn("read all the files, and mind the semicolons")
        assert turn.result.result == "All read."
        assert turn.transitions.count("reactive_compact_retry") == 2
        calls = [call for call in stage.api.calls if "about to be replaced" not in call.last_text]
        assert all("mind the semicolons" in str(call.messages) for call in calls)
        asked = [call for call in stage.api.requests if "about to be replaced" in call.last_text]
        fitted = [str(call.messages) for call in asked if len(json.dumps(call.messages)) <= 60_000]
        assert "file6 line" in fitted[0] and "file0 line" not in fitted[0]
        assert all("latest message is not shown here" in call.last_text for call in asked)
        assert [call.cache.written for call in asked if call.cache is not None] == [0, 0]  # M6: nobody reads it again
        assert "did not fit" in turn.of(CompactBoundary)[0].summary


async def test_a_steered_message_is_kept_word_for_word_too() -> None:  # C6, L11
    queued = ["leave the tests alone"]

    def take() -> list[UserMessage]:
        taken = [UserMessage(uuid=f"q{at}", content=(text_block(words),)) for at, words in enumerate(queued)]
        queued.clear()
        return taken

    async with Stage(tools=[Reader(size=9_000)], check_requests=False, take_queued=take) as stage:
        stage.api.otherwise(limited(60_000, reading(8)))
        turn = await stage.turn("read the files")
        assert turn.of(CompactBoundary)
        assert "leave the tests alone" in str(stage.api.calls[-1].messages)


async def test_autocompact_keeps_the_prompt_it_interrupts() -> None:  # C5, C6
    async with Stage(tools=[Echo()], limits=SMALL) as stage:
        stage.api.when("about to be replaced", *[SUMMARY] * 3)
        for number in range(24):
            stage.api.reply(tool("Echo", text=f"{number} " * 1_400))
        stage.api.otherwise(Reply(parts=(text("done"),)))
        turn = await stage.turn("echo it all, and mind the semicolons")
        boundaries = turn.of(CompactBoundary)
        assert boundaries and all(boundary.trigger == "auto" for boundary in boundaries)
        for call in stage.api.calls:
            assert "mind the semicolons" in str(call.messages)
            assert "latest message is not shown here" not in call.last_text
        stage.api.forget()


async def test_compact_by_hand_keeps_a_prompt_that_was_never_answered() -> None:  # C6
    async with Stage(commands=BUILT_IN) as stage:
        stage.api.reply(text("hello"))
        await stage.turn("hi")
        stage.api.error(400, "something is wrong")
        assert (await stage.turn("mind the semicolons")).result.is_error
        for _ in range(2):  # the second time it is kept from the first boundary
            stage.api.when("about to be replaced", SUMMARY)
            await stage.turn("/compact")
        stage.api.reply(text("yes"))
        await stage.turn("go on")
        assert "mind the semicolons" in str(stage.api.calls[-1].messages)
        stage.api.when("about to be replaced", SUMMARY)
        await stage.turn("/compact")
        assert "mind the semicolons" in str(stage.api.calls[-1].messages)  # what fits is shown whole
        stage.api.reply(text("yes"))
        await stage.turn("go on")
        assert "mind the semicolons" not in str(stage.api.calls[-1].messages)  # it has been answered


@pytest.mark.parametrize("after", ["a summary", "none"])
async def test_a_compaction_by_the_endpoint_keeps_the_prompt_too(after: str) -> None:  # C6, M9
    """A compaction block without content says that there is no summary: then the view stays as it was."""
    made: Json = {"type": "compaction", "content": "They said hello." if after == "a summary" else None}
    async with Stage() as stage:
        stage.api.reply(text("hello"))
        await stage.turn("the password is tulip")
        stage.api.reply(block(made), stop_reason="compaction")
        stage.api.reply(text("yes"))
        turn = await stage.turn("and mind the semicolons")
        assert turn.transitions == ["pause_turn"] and turn.result.result == "yes"
        asked = str(stage.api.calls[-1].messages)
        assert asked.count("mind the semicolons") == 1
        assert ("the password is tulip" in asked) is (after == "none")
        assert len(turn.of(CompactBoundary)) == (after == "a summary")
        stage.assert_reloads()


async def test_people_are_warned_again_when_the_view_fills_at_once_after_a_compaction() -> None:  # C5
    seen: list[str] = []

    def note(_at: int, message: object) -> None:
        if isinstance(message, CompactSoon | CompactBoundary):
            seen.append(message.type)

    async with Stage(limits=SMALL) as stage:
        stage.api.when("about to be replaced", *[SUMMARY] * 3)
        stage.api.otherwise(Reply(parts=(text("ok"),)))
        for parts in ([8_000], [8_000], [8_000], [4_500], [8_000], [8_000, 8_000, 2_500]):
            await stage.turn([text_block("word " * words) for words in parts], on_message=note)
        assert seen == ["system/compact_soon", "system/compact_boundary", "system/compact_soon"]
        stage.api.forget()


async def test_people_are_warned_once_before_a_compaction_and_again_after_there_was_room() -> None:  # C5
    async with Stage(limits=Limits(window=60_000, max_output=8_000)) as stage:
        stage.api.when("about to be replaced", *[Reply(parts=(text("<summary>So far.</summary>"),))] * 9)
        seen: list[str] = []
        for number in range(70):
            stage.api.reply(text("ok"))
            turn = await stage.turn(f"{number} " + "word " * 1_200)
            for message in turn.messages:
                if isinstance(message, CompactSoon):
                    seen.append("warned")
                    assert message.threshold > message.tokens >= int(0.9 * message.threshold)
                    assert (
                        "messages become a summary" in message.would_go and "your last prompt stays" in message.would_go
                    )
                elif isinstance(message, CompactBoundary):
                    seen.append("compacted")
        assert seen[:4] == ["warned", "compacted", "warned", "compacted"]


async def test_a_summarising_call_reads_the_cache_and_writes_nothing_to_it() -> None:  # C5, M6
    async with Stage(tools=[Reader(size=3_000)], commands=BUILT_IN) as stage:
        stage.api.when("about to be replaced", SUMMARY)
        for number in range(6):
            stage.api.reply(tool("Read", text=str(number)))
        stage.api.reply(text("read"))
        await stage.turn()
        await stage.turn("/compact")
        *_, before, compacting = stage.api.calls
        assert compacting.cache is not None and before.cache is not None
        assert compacting.cache.written == 0
        assert compacting.cache.read >= before.cache.read + before.cache.written


@pytest.mark.parametrize(("reads", "called"), [(16, False), (20, True)])
async def test_nothing_is_summarised_in_the_background_below_four_fifths_of_the_compaction_mark(
    reads: int, called: bool
) -> None:  # C4, M10
    limits = Limits(window=60_000, max_output=8_000)
    mark = thresholds(ModelInfo(id="x", context_window=limits.window, max_output_tokens=limits.max_output)).autocompact
    background = frozenset[BackgroundCall]({"collapse"})
    async with Stage(tools=[Echo()], limits=limits, background_calls=background) as stage:
        stage.api.when("finished stretch", *[Reply(parts=(text("Looked."),))] * 9)
        for number in range(reads):
            stage.api.reply(tool("Echo", text=f"{number} " + "word " * 600))
        stage.api.reply(text("done"))
        await stage.turn()
        fullest = max(call.cache.total for call in stage.api.calls if call.cache is not None)
        assert (fullest >= 0.8 * mark) is called
        assert any("finished stretch" in call.last_text for call in stage.api.calls) is called
