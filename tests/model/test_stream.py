"""Events to messages: blocks when they close, a final when the message does, nothing that looks whole and is not."""

import itertools
from typing import Any

import pytest

from assent.model import catalog
from assent.model.failures import CallFailed
from assent.model.streaming.sse import SseDecoder
from assent.model.streaming.stream import StreamedMessage
from assent.types.blocks import Json
from assent.types.errors import StreamInterrupted
from assent.types.messages import AssistantFinal, AssistantMessage, StreamEvent
from assent.types.ports import ModelEvent
from assent.types.usage import Usage
from fakeapi import frames, script
from fakeapi.signing import Prefix

MODEL = catalog.info("claude-opus-5-5")
STOP_REASONS = (
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
    "compaction",
    "one_of_tomorrow",
)


def new_answer() -> StreamedMessage:
    numbers = itertools.count(1)
    return StreamedMessage(MODEL, new_id=lambda: f"b{next(numbers)}", now=lambda: 5.0)


def streamed(*parts: script.Part, **options: Any) -> bytes:
    reply = frames.settled(
        script.Reply(parts=parts, **options), model=MODEL.id, prefix=Prefix(), next_tool_id=iter(["t1", "t2", "t3"])
    )
    usage = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 1}
    message = frames.Message(id="msg_1", model=MODEL.id, usage=usage, output_tokens=25)
    return b"".join(each for each in frames.stream(reply, message) if isinstance(each, bytes))


def taken(data: bytes, answer: StreamedMessage | None = None) -> list[ModelEvent]:
    answer = answer or new_answer()
    return [out for event in SseDecoder().feed(data) for out in answer.take(event)]


def blocks(events: list[ModelEvent]) -> list[Any]:
    return [event.content[0] for event in events if isinstance(event, AssistantMessage)]


def finals(events: list[ModelEvent]) -> list[AssistantFinal]:
    return [event for event in events if isinstance(event, AssistantFinal)]


def test_a_block_becomes_a_message_the_moment_it_closes() -> None:  # M2
    events = taken(streamed(script.text("Let me look."), script.tool("Read", file_path="a.py")))
    kinds = [event.event["type"] if isinstance(event, StreamEvent) else type(event).__name__ for event in events]
    text_closes = kinds.index("content_block_stop")
    assert kinds[text_closes + 1] == "AssistantMessage"
    assert kinds[text_closes + 2] == "content_block_start"
    assert kinds[-1] == "AssistantFinal"
    assert blocks(events) == [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.py"}},
    ]


def test_partials_name_the_message_and_the_block_they_belong_to() -> None:
    events = taken(streamed(script.text("ab", "cd"), script.text("ef", "gh")))
    deltas = [
        event for event in events if isinstance(event, StreamEvent) and event.event["type"] == "content_block_delta"
    ]
    uuids = [message.uuid for message in events if isinstance(message, AssistantMessage)]
    assert [delta.block_uuid for delta in deltas] == [uuids[0], uuids[0], uuids[1], uuids[1]]
    assert {delta.message_id for delta in deltas} == {"msg_1"}


def test_usage_starts_at_message_start_and_is_laid_over_by_message_delta() -> None:  # Q9
    (final,) = finals(taken(streamed(script.text("hi"), usage={"server_tool_use": {"web_search_requests": 2}})))
    usage = Usage(input_tokens=10, cache_read_input_tokens=90, output_tokens=25, web_search_requests=2)
    assert final == AssistantFinal(
        message_id="msg_1",
        model=MODEL.id,
        usage=usage,
        stop_reason="end_turn",
        cost_usd=catalog.cost(MODEL, usage),
        context_tokens=125,
    )


@pytest.mark.parametrize("reason", STOP_REASONS)
def test_every_stop_reason_is_told_by_name(reason: str) -> None:  # M9
    details = {"type": "refusal", "category": "cyber"} if reason == "refusal" else None
    (final,) = finals(taken(streamed(script.text("hi"), stop_reason=reason, stop_details=details)))
    assert (final.stop_reason, final.stop_details) == (reason, details)


def test_thinking_keeps_its_signature_and_redacted_thinking_its_data() -> None:  # M7
    found = blocks(taken(streamed(script.thinking("hm", " hm"), script.redacted_thinking("x"), script.text("ok"))))
    assert found[0]["thinking"] == "hm hm"
    assert found[0]["signature"].startswith("sig.")
    assert found[1] == {"type": "redacted_thinking", "data": "redacted:x"}


def test_thinking_whose_words_are_omitted_still_has_its_signature() -> None:
    (found,) = blocks(taken(streamed(script.thinking(signature="s"))))
    assert found == {"type": "thinking", "thinking": "", "signature": "s"}


def test_citations_and_the_endpoints_own_tools_are_kept() -> None:
    citation: Json = {"type": "web_search_result_location", "url": "https://example.org", "cited_text": "x"}
    search = script.server_tool("web_search", {"query": "q"}, {"type": "web_search_tool_result", "content": []})
    found = blocks(taken(streamed(*search, script.text("see", citations=[citation]))))
    assert found == [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "content": [], "tool_use_id": "srvtoolu_1"},
        {"type": "text", "text": "see", "citations": [citation]},
    ]


def test_unknown_blocks_deltas_events_and_fields_pass_through_unharmed() -> None:  # M2
    strange = script.Block(
        start={"type": "hologram", "seed": 7, "pixels": "a"},
        deltas=({"type": "hologram_delta", "pixels": "b", "depth": [1]}, {"type": "hologram_delta", "pixels": "c"}),
        whole={"type": "hologram"},
    )
    events = taken(streamed(script.event("weather", {"type": "weather", "sky": "clear"}), strange, script.ping()))
    assert blocks(events) == [{"type": "hologram", "seed": 7, "pixels": "abc", "depth": [1]}]
    raw = [event.event for event in events if isinstance(event, StreamEvent)]
    assert {"type": "weather", "sky": "clear"} in raw
    assert all(event["type"] != "ping" for event in raw)


def test_a_compaction_block_of_the_endpoint_comes_out_whole() -> None:  # M9
    compaction = script.Block(
        start={"type": "compaction", "content": None},
        deltas=({"type": "compaction_delta", "content": "We did "}, {"type": "compaction_delta", "content": "a lot."}),
        whole={"type": "compaction"},
    )
    (found,) = blocks(taken(streamed(compaction, stop_reason="compaction")))
    assert found == {"type": "compaction", "content": "We did a lot."}


@pytest.mark.parametrize("written", ['{"file_path": "a', "[1]", '"x"', "nul"])
def test_a_tool_input_that_is_not_a_whole_object_never_looks_like_one(written: str) -> None:  # L6
    (found,) = blocks(taken(streamed(script.tool("Read", raw_json=written), stop_reason="max_tokens")))
    assert found["input"] == written
    assert not isinstance(found["input"], dict)


def test_a_tool_without_input_has_an_empty_one() -> None:
    (found,) = blocks(taken(streamed(script.tool("Stop", raw_json=""))))
    assert found["input"] == {}


def test_what_observers_do_to_an_event_does_not_reach_the_block() -> None:  # M6
    answer = new_answer()
    out: list[ModelEvent] = []
    for event in SseDecoder().feed(streamed(script.tool("Read", file_path="a"))):
        out += answer.take(event)
        if event["type"] == "content_block_start":
            event["content_block"]["name"] = "Bash"
    assert blocks(out)[0]["name"] == "Read"


def test_cut_at_every_byte_there_is_no_final_no_unclosed_block_and_no_half_tool() -> None:
    """The whole table of cuts: whatever was closed before the cut is there, and nothing else."""
    data = streamed(script.thinking("hm"), script.text("some words"), script.tool("Bash", command="rm -r x"))
    whole = taken(data)
    for at in range(len(data)):
        answer = new_answer()
        events = taken(data[:at], answer)
        assert not answer.complete
        assert finals(events) == []
        arrived = data[:at].split(b"\n\n")[:-1]
        closed = sum(frame.startswith(b"event: content_block_stop") for frame in arrived)
        assert blocks(events) == blocks(whole)[:closed]
        broken = answer.broken()
        assert (broken is not None) == answer.begun
        if broken is not None:
            assert broken.stop_reason is None
            assert broken.usage.input_tokens == 10
    assert answer_is_complete(data)


def answer_is_complete(data: bytes) -> bool:
    answer = new_answer()
    taken(data, answer)
    return answer.complete and answer.broken() is None


def test_the_words_of_a_cut_text_block_are_kept_for_the_person() -> None:
    answer = new_answer()
    data = streamed(script.text("one ", "two ", "three"))
    taken(data[: data.index(b"three")], answer)
    assert answer.partial_text() == "one two "


def test_what_a_cut_answer_counts_is_the_last_that_was_known() -> None:  # Q9
    answer = new_answer()
    data = streamed(script.text("hi"))
    taken(data[: data.index(b"event: message_stop")], answer)
    broken = answer.broken()
    assert broken is not None
    assert broken.usage.output_tokens == 25


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("overloaded_error", 529),
        ("rate_limit_error", 429),
        ("api_error", 500),
        ("invalid_request_error", 400),
        ("new_error", 500),
    ],
)
def test_an_error_in_the_middle_is_a_failure_with_its_status(kind: str, status: int) -> None:
    with pytest.raises(CallFailed) as caught:
        taken(streamed(script.text("hi"), error={"type": kind, "message": "no"}))
    assert (caught.value.kind, caught.value.status, caught.value.message) == (kind, status, "no")


@pytest.mark.parametrize(
    "events",
    [
        [{"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}],
        [{"type": "message_stop"}],
        [{"type": "message_start", "message": {}}, {"type": "content_block_stop", "index": 3}],
        [{"type": "message_start", "message": {}}, {"type": "content_block_delta", "index": 0, "delta": {}}],
        [
            {"type": "message_start", "message": {}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta"}},
        ],
        [
            {"type": "message_start", "message": {}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "message_stop"},
        ],
        [{"type": "message_start", "message": "x"}],
        [{"type": "message_start", "message": {}}, {"type": "content_block_delta"}],
    ],
)
def test_events_out_of_order_or_shape_interrupt_the_stream(events: list[Json]) -> None:
    answer = new_answer()
    with pytest.raises(StreamInterrupted) as caught:
        for event in events:
            answer.take(event)
    assert caught.value.kind == "malformed"
