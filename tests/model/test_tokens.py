"""Counting without asking: the last real count and a guess of the rest (M8)."""

from assent.model import tokens
from assent.types.messages import CompactBoundary
from assent.types.ports import ModelRequest
from assent.types.usage import Usage
from fakeapi.talk import result, said, use, user


def test_the_last_real_usage_counts_and_what_follows_is_guessed() -> None:
    history = [user("x" * 33_000), said("answer", id="m1"), user("y" * 3_300)]
    usage = {"m1": Usage(input_tokens=9_000, output_tokens=50)}
    assert 10_050 <= tokens.in_context(history, usage) <= 10_200


def test_without_a_real_count_everything_is_guessed() -> None:
    assert 11_000 <= tokens.in_context([user("x" * 33_000)], {}, before=1_000) <= 11_100


def test_a_count_from_before_a_compaction_is_no_use() -> None:
    boundary = CompactBoundary(uuid="c", trigger="auto", tokens_before=9, tokens_after=1, summary="short")
    history = [said("a", id="m1"), boundary, user("hi")]
    assert tokens.in_context(history, {"m1": Usage(input_tokens=150_000)}) < 100


def test_what_reductions_freed_is_taken_off() -> None:
    history = [said("a", id="m1")]
    assert tokens.in_context(history, {"m1": Usage(input_tokens=1_000)}, freed=400) == 600
    assert tokens.in_context(history, {"m1": Usage(input_tokens=1_000)}, freed=9_000) == 0


def test_every_kind_of_block_weighs_something() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "a" * 100_000}}
    pdf = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "a" * 100_000}}
    assert tokens.of_blocks([image]) == tokens.IMAGE_TOKENS
    assert 4_000 < tokens.of_blocks([pdf]) < 10_000
    assert tokens.of_blocks([result("t", [image])]) == tokens.IMAGE_TOKENS
    assert tokens.of_blocks([use("Read", "t", file_path="x" * 330)]) > 100
    assert tokens.of_blocks([{"type": "thinking", "thinking": "x" * 330, "signature": "s"}]) > 100
    assert tokens.of_blocks([{"type": "hologram", "text": "\ud800"}]) > 0


def test_other_scripts_take_more_tokens_a_character() -> None:
    assert tokens.of_text("漢" * 100) > 2 * tokens.of_text("a" * 100)


def test_a_whole_request_is_system_tools_context_and_messages() -> None:
    request = ModelRequest(
        model="x",
        messages=(user("x" * 330),),
        system=("s" * 330,),
        user_context="c" * 330,
        tools=({"name": "Read", "description": "d" * 330, "input_schema": {}},),
    )
    assert 400 <= tokens.of_request(request) <= 450
