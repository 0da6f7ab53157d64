"""Nonsense from the model or the user gets a clear message, and the session stays alive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assent.extensions.commands import BUILT_IN
from assent.storage.spill import SpillFolder
from assent.tools.tool import ToolServices
from enginekit import Change, Echo, Stage
from fakeapi import text, tool


async def still_alive(stage: Stage) -> None:
    stage.api.reply(text("alive"))
    assert (await stage.turn("well?")).result.result == "alive"


BAD_CALLS: list[tuple[str, Any, str]] = [
    ("JSON that was cut off", tool("Echo", id="toolu_1", raw_json='{"text": "half'), "cut off before it was complete"),
    ("JSON that is none", tool("Echo", id="toolu_1", raw_json="not json at all"), "cut off before it was complete"),
    ("JSON that is no object", tool("Echo", id="toolu_1", raw_json="[1, 2]"), "cut off before it was complete"),
    ("an unknown tool", tool("Teleport", id="toolu_1", to="mars"), "There is no tool named 'Teleport'"),
    ("an unknown field", tool("Echo", id="toolu_1", text="a", colour="red"), "unknown field `colour`"),
    ("a wrong type", tool("Echo", id="toolu_1", text=[1, 2]), "Expected `str`, got `array`"),
]


@pytest.mark.parametrize(("name", "call", "words"), BAD_CALLS, ids=[name.replace(" ", "-") for name, _, _ in BAD_CALLS])
async def test_a_bad_call_is_answered_with_what_is_wrong_and_the_turn_goes_on(name: str, call: Any, words: str) -> None:
    echo = Echo()
    async with Stage(tools=[echo]) as stage:
        stage.api.reply(text("Trying."), call)
        stage.api.reply(text("I see."))
        turn = await stage.turn()
        assert turn.transitions == ["next_turn"]
        block = stage.api.calls[1].tool_results["toolu_1"]
        assert block["is_error"] and words in str(block["content"])
        assert echo.log == []
        await still_alive(stage)


async def test_a_cut_call_beside_a_whole_one_never_runs_and_the_whole_one_does() -> None:  # L6
    echo, change = Echo(), Change()
    async with Stage(tools=[echo, change]) as stage:
        stage.api.reply(
            tool("Echo", id="toolu_1", text="whole"),
            tool("Change", id="toolu_2", raw_json='{"text": "ha'),
            stop_reason="max_tokens",
        )
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert turn.transitions == ["next_turn"]  # not escalated: the answer held a complete call
        assert (echo.log, change.log) == (["whole"], [])
        assert "cut off" in str(stage.api.calls[1].tool_results["toolu_2"]["content"])


@pytest.mark.parametrize("prompt", ["", "   \n", [], [{"type": "text", "text": ""}]])
async def test_an_empty_prompt_is_refused_in_words(prompt: Any) -> None:
    async with Stage() as stage:
        turn = await stage.turn(prompt)
        assert turn.result.is_error and "the prompt is empty" in turn.result.result
        assert stage.api.calls == []
        await still_alive(stage)


async def test_ten_megabytes_of_prompt_go_to_a_file_the_model_can_read() -> None:
    words = "all work and no play makes a dull prompt\n" * (10 * 1024 * 1024 // 41)
    async with Stage() as stage:
        stage.api.reply(text("I will read it in parts."))
        turn = await stage.turn(words)
        assert turn.result.terminal == "completed"
        (path,) = stage.spills.files
        assert stage.spills.files[path] == words
        assert path in stage.api.calls[0].last_text
        assert len(stage.api.calls[0].raw) < 50_000
        await still_alive(stage)


async def test_ten_megabytes_of_prompt_without_a_place_for_them_are_refused_in_words() -> None:
    async with Stage(services=ToolServices()) as stage:
        turn = await stage.turn("x" * (10 * 1024 * 1024))
        assert turn.result.is_error
        assert "Put it into a file and mention it with @" in turn.result.result
        assert stage.api.calls == []
        await still_alive(stage)


async def test_a_long_prompt_that_the_disk_does_not_take_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "full").write_text("no folder can be made below this")
    async with Stage(services=ToolServices(spill=SpillFolder(tmp_path / "full" / "spill"))) as stage:
        turn = await stage.turn("x" * (10 * 1024 * 1024))
        assert turn.result.is_error
        assert "could not be saved" in turn.result.result
        assert stage.api.calls == []
        await still_alive(stage)


@pytest.mark.parametrize("limit", [0, -5, float("nan")])
async def test_an_absurd_dollar_limit_stops_before_anything_is_spent(limit: float) -> None:
    async with Stage(max_budget_usd=limit) as stage:
        turn = await stage.turn()
        assert turn.result.terminal == "budget_usd"
        assert stage.api.calls == []


@pytest.mark.parametrize("limit", [0, -1])
async def test_an_absurd_step_limit_stops_before_anything_is_asked(limit: int) -> None:
    async with Stage(max_turns=limit) as stage:
        turn = await stage.turn()
        assert (turn.result.terminal, turn.result.subtype) == ("max_turns", "error_max_turns")
        assert stage.api.calls == []


@pytest.mark.parametrize("budget", [0, -100])
async def test_a_token_budget_of_nothing_is_none(budget: int) -> None:  # L12
    async with Stage(token_budget=budget) as stage:
        stage.api.reply(text("done"))
        turn = await stage.turn()
        assert (turn.result.terminal, turn.transitions) == ("completed", [])


async def test_no_model_is_said_in_words_and_can_be_set_by_command() -> None:
    async with Stage(commands=BUILT_IN) as stage:
        engine = stage.new_engine(model="")
        turn = await stage.turn(engine=engine)
        assert "No model is set" in turn.result.result
        turn = await stage.turn("/model claude-opus-4-8", engine=engine)
        assert turn.result.result == "The model is now claude-opus-4-8."
        stage.api.reply(text("hello"))
        assert (await stage.turn(engine=engine)).result.result == "hello"


async def test_a_model_nobody_knows_is_told_as_the_endpoint_told_it() -> None:
    async with Stage(model="claude-imaginary-9", check_requests=False) as stage:
        turn = await stage.turn()
        assert turn.result.terminal == "model_error"
        assert "claude-imaginary-9" in turn.result.result


@pytest.mark.parametrize("schema", [{"type": "array"}, {"type": "nonsense"}, {"properties": 3}])
async def test_a_json_schema_that_is_none_is_refused_in_words(schema: Any) -> None:
    async with Stage(json_schema=schema) as stage:
        turn = await stage.turn()
        assert turn.result.is_error and "schema" in turn.result.result
        assert stage.api.calls == []


async def test_an_unknown_command_is_named_and_a_path_is_not_taken_for_one() -> None:
    async with Stage(commands=BUILT_IN) as stage:
        turn = await stage.turn("/nope")
        assert turn.result.result == "There is no command /nope. /help lists the commands."
        stage.api.reply(text("a folder"))
        assert (await stage.turn("/usr/bin is what?")).result.result == "a folder"


async def test_text_that_is_no_unicode_does_not_break_the_turn() -> None:
    async with Stage(tools=[Echo()]) as stage:
        stage.api.reply(text("fine"))
        turn = await stage.turn("a \ud800 lone surrogate, a \x00 NUL and a \u2028 separator")
        assert turn.result.result == "fine"
