"""The decoder: any framing, any cut."""

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.model.streaming.eventstream import EventStreamDecoder, encode
from assent.model.streaming.sse import SseDecoder
from assent.types.blocks import Json
from assent.types.errors import StreamInterrupted

EVENTS: list[Json] = [
    {"type": "message_start", "message": {"id": "msg_1", "usage": {"input_tokens": 3}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "π \u2028 \n\n data: x"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_stop"},
]


def framed(events: list[Json], end: str = "\n") -> bytes:
    lines = "".join(f"event: {event['type']}{end}data: {orjson.dumps(event).decode()}{end}{end}" for event in events)
    return lines.encode()


def fed(data: bytes, *cuts: int) -> list[Json]:
    decoder = SseDecoder()
    out: list[Json] = []
    for start, end in zip((0, *cuts), (*cuts, len(data)), strict=True):
        out += decoder.feed(data[start:end])
    assert not decoder.pending
    return out


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_events_come_out_whole_however_the_bytes_are_cut_in_two(end: str) -> None:
    data = framed(EVENTS, end)
    for at in range(len(data) + 1):
        assert fed(data, at) == EVENTS


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_events_come_out_whole_one_byte_at_a_time(end: str) -> None:
    data = framed(EVENTS, end)
    assert fed(data, *range(1, len(data))) == EVENTS


@given(
    st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=30), max_size=3), max_size=6),
    st.lists(st.integers(0, 600), max_size=6),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
@settings(max_examples=200, deadline=None)
def test_any_events_survive_any_cuts(values: list[dict[str, str]], cuts: list[int], end: str) -> None:
    events: list[Json] = [{"type": "x", "value": value} for value in values]
    data = framed(events, end)
    assert fed(data, *sorted(min(cut, len(data)) for cut in cuts)) == events


def test_an_event_is_given_on_as_soon_as_its_blank_line_is_there() -> None:
    decoder = SseDecoder()
    data = framed(EVENTS[:1], "\r\n")
    assert decoder.feed(data[:-1]) == EVENTS[:1]  # the blank line is seen at its CR
    assert decoder.feed(data[-1:]) == []


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b": comment\n\n", []),
        (b"\n\n\n\n", []),
        (b"id: 3\nretry: 10\n\n", []),
        (b"event: ping\ndata: {}\n\n", [{"type": "ping"}]),
        (b'data: {"type": "x"}\n\n', [{"type": "x"}]),
        (b'data:{"type":"x"}\n\n', [{"type": "x"}]),
        (b'event: x\ndata: {"a":\ndata: 1}\n\n', [{"a": 1, "type": "x"}]),
        (b'event: x\n: note\ndata: {"a": 1}\nid: 7\n\n', [{"a": 1, "type": "x"}]),
        (b"data: [DONE]\n\n", []),
        (b"event: vendor_thing\ndata: not json\n\n", []),
        (b"event: vendor_thing\ndata: 17\n\n", []),
        (b'\xef\xbb\xbfdata: {"type": "x"}\n\n', [{"type": "x"}]),
        (b"event: content_block_delta\n\n", []),
        (b"nonsense\n\n", []),
    ],
)
def test_everything_the_format_allows_is_read(raw: bytes, expected: list[Json]) -> None:
    assert fed(raw) == expected
    assert fed(raw, *range(1, len(raw))) == expected


@pytest.mark.parametrize(
    "raw",
    [
        b"event: content_block_delta\ndata: {cut\n\n",
        b"data: {cut\n\n",
        b'event: message_stop\ndata: "x"\n\n',
        b"event: error\ndata: <html>\n\n",
        b'event: message_start\ndata: {"text": "\xff"}\n\n',
    ],
)
def test_a_frame_of_ours_that_is_not_a_json_object_ends_the_trust_in_the_stream(raw: bytes) -> None:
    with pytest.raises(StreamInterrupted) as caught:
        fed(raw)
    assert caught.value.kind == "malformed"


def test_a_frame_without_end_is_not_collected_for_ever() -> None:
    decoder = SseDecoder(limit=1000)
    with pytest.raises(StreamInterrupted):
        for _ in range(20):
            decoder.feed(b"data: " + b"x" * 100)


def test_bytes_that_end_inside_a_frame_are_pending() -> None:
    decoder = SseDecoder()
    decoder.feed(framed(EVENTS)[:-1])
    assert decoder.pending


class TestBedrockFrames:
    def test_events_come_out_whole_however_the_bytes_are_cut(self) -> None:
        data = b"".join(encode(event) for event in EVENTS)
        for at in range(0, len(data) + 1, 7):
            decoder = EventStreamDecoder()
            assert decoder.feed(data[:at]) + decoder.feed(data[at:]) == EVENTS

    def test_a_damaged_frame_ends_the_trust_in_the_stream(self) -> None:
        data = bytearray(encode(EVENTS[0]))
        data[-10] ^= 1
        with pytest.raises(StreamInterrupted):
            EventStreamDecoder().feed(bytes(data))

    def test_a_damaged_length_is_not_waited_for(self) -> None:
        with pytest.raises(StreamInterrupted):
            EventStreamDecoder().feed(b"\xff" * 16)
