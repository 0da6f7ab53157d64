"""The answer of one call as it grows: what was shown of it, and what is kept when it ends early."""

from __future__ import annotations

from assent.engine.answer import ModelAnswer
from assent.types.blocks import text_block
from assent.types.errors import ModelError, StreamInterrupted
from assent.types.messages import AssistantFinal, AssistantMessage, StreamEvent
from assent.types.tries import Tries
from assent.types.usage import Usage


def streamed(kind: str, block: str = "b1", **delta: object) -> StreamEvent:
    event = {"type": f"content_block_{kind}", **({"delta": delta} if delta else {})}
    return StreamEvent(event=event, message_id="m1", block_uuid=block)


def begun(*texts: str) -> ModelAnswer:
    answer = ModelAnswer()
    answer.watch(streamed("start"))
    for each in texts:
        answer.watch(streamed("delta", text=each))
    return answer


def test_an_answer_that_has_not_begun_has_nothing_to_keep() -> None:
    answer = ModelAnswer()
    answer.watch(streamed("delta", text="of no block"))
    assert answer.unfinished(model="m", timestamp=1.0) is None
    assert (answer.messages, answer.calls, answer.uuids, answer.text, answer.open_text) == ([], 0, (), "", [])
    assert (answer.stop_reason, answer.tries) == (None, None)


def test_the_words_of_an_open_block_are_kept_under_its_own_name() -> None:  # L14
    answer = begun("half ", "an answer")
    answer.watch(streamed("delta", partial_json='{"a'))  # not text
    kept = answer.unfinished(model="big", timestamp=7.0)
    assert kept == AssistantMessage(
        uuid="b1", message_id="m1", content=(text_block("half an answer"),), model="big", timestamp=7.0
    )


def test_a_block_that_closed_or_holds_no_word_leaves_nothing_unfinished() -> None:
    closed = begun("whole")
    closed.watch(streamed("stop"))
    assert closed.unfinished(model="m", timestamp=1.0) is None and closed.uuids == ()
    assert begun(" \n").unfinished(model="m", timestamp=1.0) is None
    assert begun().unfinished(model="m", timestamp=1.0) is None


def test_each_block_begins_its_own_words() -> None:
    answer = begun("first")
    answer.watch(streamed("start", "b2"))
    answer.watch(streamed("delta", "b2", text="second"))
    kept = answer.unfinished(model="m", timestamp=1.0)
    assert kept is not None and (kept.uuid, kept.content) == ("b2", (text_block("second"),))


def test_people_may_have_seen_the_closed_blocks_and_the_open_one() -> None:  # L10
    answer = begun("half")
    for uuid, words in (("a1", "one"), ("a2", ""), ("a3", "three")):
        answer.messages.append(
            AssistantMessage(uuid=uuid, message_id="m1", content=(text_block(words),) if words else (), model="m")
        )
    assert answer.uuids == ("a1", "a2", "a3", "b1")
    assert answer.text == "one\nthree"


def test_how_it_ended_comes_from_its_end_and_the_tries_only_from_a_break_in_the_middle() -> None:  # M3
    answer = ModelAnswer()
    answer.final = AssistantFinal(message_id="m1", model="m", usage=Usage(), stop_reason="end_turn")
    assert answer.stop_reason == "end_turn"
    answer.failure = ModelError("no", kind="api_error")
    assert answer.tries is None
    answer.failure = StreamInterrupted("broke", kind="api_error", tries=Tries(retries=3))
    assert answer.tries == Tries(retries=3)
