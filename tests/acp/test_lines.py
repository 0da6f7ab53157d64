"""Lines in, messages out: however they are cut and whatever lies between them."""

from itertools import pairwise, zip_longest
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assent.acp.lines import LineDecoder, Refusal

keys = st.sampled_from(["id", "method", "params", "result", "error", "jsonrpc", "x"])
leaves = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5)
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=3))
odd = values.map(orjson.dumps) | st.binary(max_size=30).map(lambda raw: raw.replace(b"\n", b""))


@given(
    methods=st.lists(st.text(max_size=8), max_size=6),
    between=st.lists(odd, max_size=7),
    cuts=st.lists(st.integers(0, 400), max_size=8),
)
@example(methods=[], between=[b'{"id":null,"params":[],"result":null}'], cuts=[])
def test_sound_messages_arrive_in_order_and_nothing_that_could_end_the_library_does(
    methods: list[str], between: list[bytes], cuts: list[int]
) -> None:
    wanted: list[Any] = [{"jsonrpc": "2.0", "id": f"#{number}", "method": name} for number, name in enumerate(methods)]
    lines = [part for pair in zip_longest(between, map(orjson.dumps, wanted), fillvalue=b"") for part in pair]
    stream = b"".join(line + b"\n" for line in lines)
    decoder = LineDecoder()
    read: list[Any] = []
    for start, end in pairwise(sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})):
        read += decoder.feed(stream[start:end])
    messages = [each for each in read if not isinstance(each, Refusal)]
    assert [message for message in messages if str(message.get("id")).startswith("#")] == wanted
    for message in messages:
        hash(message.get("id"))
        assert isinstance(message.get("params"), dict | None)
        assert "result" in message or isinstance(message.get("method", message.get("error")), str | dict)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"result": {"a": 1}}, "result"),
        ({"result": None}, "result"),
        ({"result": {"a": 1}, "error": None}, "result"),
        ({"result": {"a": 1}, "params": []}, "result"),
        ({"error": {"code": 1, "message": "no"}}, "error"),
        ({"error": {"code": 1, "message": "no"}, "result": None}, "error"),
        ({"error": {"code": 1, "message": "no"}, "result": {"a": 1}}, "error"),
        ({"error": {}, "result": {"a": 1}}, "error"),
        ({"error": "no", "result": {"a": 1}}, "error"),
        ({"error": "no"}, "error"),
        ({"error": {}}, "error"),
        ({}, "error"),
    ],
)
def test_a_reply_is_a_result_or_an_error_and_never_both_or_neither(given: dict[str, Any], kept: str) -> None:
    (reply,) = LineDecoder().feed(orjson.dumps({"jsonrpc": "2.0", "id": 7, **given}) + b"\n")
    assert isinstance(reply, dict)
    assert set(reply) == {"jsonrpc", "id", kept} and reply["id"] == 7
    if kept == "error":
        assert isinstance(reply["error"]["code"], int) and isinstance(reply["error"]["message"], str)


def test_a_line_that_is_too_long_is_refused_once_and_the_next_one_counts() -> None:
    for size in (11, 12, 40):
        for step in (1, 7, 100):
            decoder = LineDecoder(max_line=10)
            stream = b"x" * size + b"\n" + b"{}\n"
            read = [each for at in range(0, len(stream), step) for each in decoder.feed(stream[at : at + step])]
            texts = [each.text for each in read if isinstance(each, Refusal)]
            assert texts == ["the message is longer than 10 bytes", "a message needs a method or an id"]


def test_half_a_surrogate_pair_does_not_leave_a_request_without_an_answer() -> None:
    line = b'{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"text":"a\\ud800b"}}\n'
    assert list(LineDecoder().feed(line)) == [
        {"jsonrpc": "2.0", "id": 7, "method": "session/prompt", "params": {"text": "a\ufffdb"}}
    ]
    deep = b'{"id":8,"x":"\\ud800","method":' + b"[" * 100_000 + b"\n"
    assert [type(each) for each in LineDecoder().feed(deep)] == [Refusal]
