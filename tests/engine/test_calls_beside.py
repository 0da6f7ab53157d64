"""What calls beside the conversation are sent with, what counts as their answer, and what is left when they fail."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest

from assent.context.microcompact import CLEARED
from assent.context.reread import result_in_view
from assent.context.snip import snip
from assent.context.tokens import Anchor
from assent.engine.config import BackgroundCall
from assent.engine.history import History
from assent.engine.reduction.reducing import take
from assent.engine.reduction.window import Window
from assent.extensions.commands import BUILT_IN
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.read import Read
from assent.tools.tool import ToolServices
from assent.types.blocks import tool_result_block
from assent.types.messages import CompactBoundary, Notice, ToolUseSummary, UserMessage
from assent.types.pointers import unchanged
from assent.types.ports import ModelRequest
from enginekit import Echo, Stage
from enginekit.stage import OTHER_MODEL, SMALL_MODEL, Spills
from fakeapi import Limits, Reply, Request, failure, text, tool
from fakeapi.script import Answer, Cut

SUMMARY = Reply(parts=(text("<summary>All there is to know.</summary>"),))
ASKED = "about to be replaced"
SMALL = Limits(window=60_000, max_output=8_000)


def sent(stage: Stage, source: str) -> list[ModelRequest]:
    return [request for request in stage.requests if request.source == source]


async def test_a_small_call_is_sent_in_the_background_whole_and_forked() -> None:  # M6, M10
    async with Stage(tools=[Echo()], background_calls=frozenset({"summary"})) as stage:
        stage.api.when("what these tool calls", Reply(parts=(text("Looked around"),)))
        stage.api.reply(tool("Echo", text="a"))
        stage.api.reply(text("ok"))
        await stage.turn()
        await idle(stage)
        [small], main = sent(stage, "summary"), sent(stage, "main")[0]
        assert (small.model, small.thinking, small.tools) == (SMALL_MODEL, {"type": "disabled"}, ())
        assert (small.foreground, small.whole, small.forked) == (False, True, True)
        assert (small.chain.id, small.chain.depth) == (main.chain.id, main.chain.depth + 1)


async def test_one_line_about_a_batch_may_be_cut() -> None:  # L15
    """Only the callers that need a whole answer say so."""
    async with Stage(tools=[Echo()], background_calls=frozenset({"summary"})) as stage:
        cut = Reply(parts=(text("Looked around"),), stop_reason="max_tokens")
        stage.api.when("what these tool calls", *[cut] * 4)
        for number in range(4):
            stage.api.reply(tool("Echo", id=f"toolu_{number}", text="a"))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert turn.of(ToolUseSummary)[0].text == "Looked around"
        await idle(stage)


async def test_the_summarising_call_is_sent_whole_forked_and_for_the_conversations_own_cache() -> None:  # C5, M6
    async with Stage(tools=[Echo()], commands=BUILT_IN) as stage:
        stage.api.reply(text("hello"))
        await stage.turn("remember tulip")
        stage.api.when(ASKED, SUMMARY)
        await stage.turn("/compact")
        [asked], main = sent(stage, "compact"), sent(stage, "main")[0]
        assert (asked.model, asked.tools, asked.system) == (main.model, main.tools, main.system)
        assert (asked.whole, asked.forked, asked.unshared) == (True, True, False)
        assert asked.chain.depth == main.chain.depth + 1


async def test_words_of_a_summary_that_broke_off_are_no_part_of_the_one_that_came() -> None:  # C6, M3
    half = Reply(parts=(text("<summary>Half of it.</summary>"), text("and more")), cut=Cut(at_event=5))
    async with Stage(commands=BUILT_IN) as stage:
        stage.api.reply(text("hello"))
        await stage.turn("remember tulip")
        stage.api.when(ASKED, half, SUMMARY)
        turn = await stage.turn("/compact")
        assert [boundary.summary for boundary in turn.of(CompactBoundary)] == ["All there is to know."]


async def test_a_summarising_call_is_known_as_open_from_the_moment_it_is_sent() -> None:  # Q9
    open_calls: list[int] = []
    async with Stage(commands=BUILT_IN) as stage:

        def look(_request: Request) -> Answer:
            open_calls.append(stage.engine.ledger.open_calls)
            return SUMMARY

        stage.api.reply(text("hello"))
        await stage.turn("remember tulip")
        stage.api.otherwise(look)
        await stage.turn("/compact")
        assert open_calls == [1] and stage.engine.ledger.open_calls == 0


async def test_a_summary_comes_from_the_fallback_when_the_model_is_overloaded_and_people_are_told() -> None:  # M3, C6
    async with Stage(commands=BUILT_IN, fallback_model=OTHER_MODEL) as stage:
        stage.api.reply(text("hello"))
        await stage.turn("remember tulip")
        stage.api.when(ASKED, *[failure(529, "overloaded")] * 3, SUMMARY)
        turn = await stage.turn("/compact")
        assert [boundary.summary for boundary in turn.of(CompactBoundary)] == ["All there is to know."]
        assert [request.model for request in sent(stage, "compact")] == [sent(stage, "main")[0].model, OTHER_MODEL]
        assert [notice.text for notice in turn.of(Notice) if OTHER_MODEL in notice.text]


async def test_a_prompt_that_leaves_no_room_for_a_summary_is_kept_apart_and_nothing_is_left_out() -> None:  # C6
    """By hand, so that not all of it was refused before: the first try has the prompt, the second has not."""
    asked: list[Request] = []

    def endpoint(request: Request) -> Answer:
        if ASKED in request.last_text:
            asked.append(request)
        elif request.last_text.startswith("second"):
            return failure(400, "no such thing")
        if len(str(request.messages)) > 60_000:
            return failure(400, "prompt is too long")
        return SUMMARY if ASKED in request.last_text else Reply(parts=(text("Understood."),))

    async with Stage(commands=BUILT_IN, check_requests=False) as stage:
        stage.api.otherwise(endpoint)
        await stage.turn("first " + "a" * 20_000)
        await stage.turn("second " + "b" * 45_000)
        turn = await stage.turn("/compact")
        [boundary] = turn.of(CompactBoundary)
        assert boundary.summary == "All there is to know."  # names nothing that was left out
        assert "b" * 45_000 in str(boundary.kept)
        assert ["latest message is not shown here" in each.last_text for each in asked] == [False, True]
        assert "a" * 20_000 in str(asked[-1].messages) and "bbb" not in str(asked[-1].messages)


async def test_each_refused_try_for_a_summary_shows_half_of_the_one_before() -> None:  # C6
    shown: list[int] = []

    def endpoint(request: Request) -> Answer:
        if ASKED not in request.last_text:
            return Reply(parts=(text("Understood."),))
        shown.append(str(request.messages).count("remember") // 100)
        return failure(400, "prompt is too long") if shown[-1] > 3 else SUMMARY

    async with Stage(commands=BUILT_IN, check_requests=False) as stage:
        stage.api.otherwise(endpoint)
        for _ in range(32):
            await stage.turn("remember " * 100)
        turn = await stage.turn("/compact")
        [boundary] = turn.of(CompactBoundary)
        assert shown == [32, 16, 8, 4, 2]
        assert "because it did not fit" in boundary.summary


@pytest.mark.parametrize("trigger", ["manual", "reactive"])
async def test_files_are_kept_beside_a_summary_only_as_far_as_the_endpoint_is_known_to_take_them(
    tmp_path: Path, trigger: str
) -> None:  # C6
    file = tmp_path / "a.txt"
    file.write_text("short\n")
    services = ToolServices(workspace=DiskWorkspace(), spill=Spills())
    async with Stage(tools=[Read()], cwd=str(tmp_path), services=services, commands=BUILT_IN) as stage:
        stage.api.reply(tool("Read", file_path=str(file)))
        stage.api.reply(text("read"))
        await stage.turn("read it")
        file.write_text("grown\n" * 3_000)
        stage.api.when(ASKED, SUMMARY)
        if trigger == "manual":
            turn = await stage.turn("/compact")
        else:
            stage.api.error(400, "prompt is too long")
            stage.api.reply(text("done"))
            turn = await stage.turn("go on")
        [boundary] = turn.of(CompactBoundary)
        assert boundary.trigger == trigger
        assert ("grown" in str(boundary.kept)) is (trigger == "manual")


async def test_a_span_is_tried_again_after_a_failure_until_three_in_a_row() -> None:  # C4
    background = frozenset[BackgroundCall]({"collapse"})
    bad, good = Reply(parts=(text(""),), stop_reason="max_tokens"), Reply(parts=(text("A stretch."),))
    async with Stage(tools=[Echo()], limits=SMALL, background_calls=background) as stage:
        window = stage.engine._conversation.window
        failures: list[int] = []
        answers = [bad, bad, good, bad, bad, bad]
        steps = [Reply(parts=(tool("Echo", text=f"{number} " + "word " * 400),)) for number in range(60)]

        def endpoint(request: Request) -> Answer:
            if "finished stretch" in request.last_text:
                failures.append(window.staging_failures)
                return answers.pop(0)
            if ASKED in request.last_text:
                return SUMMARY
            return steps.pop(0) if steps and answers else Reply(parts=(text("done"),))

        stage.api.otherwise(endpoint)
        await stage.turn()
        await idle(stage)
        assert failures == [0, 1, 2, 0, 1, 2]


def test_a_stub_leaves_with_a_result_that_the_endpoint_took_out_and_what_was_freed_is_counted() -> None:  # C3, C7
    history = History()
    for uuid, call, words in (
        ("a", "t1", "the file"),
        ("b", "t2", unchanged("a.py", "t1")),
        ("c", "t3", "words " * 50),
    ):
        history.add(UserMessage(uuid=uuid, content=(tool_result_block(call, words),)))
    window = Window(anchor=Anchor(message_id="m", tokens=900), cleared_results={"t1"})
    reduced = snip(history.view(), ("c",))
    take(cast("Any", SimpleNamespace(history=history, window=window)), reduced)
    assert [result_in_view(history.view(), call) for call in ("t1", "t2", "t3")] == ["the file", CLEARED, None]
    assert window.anchor == Anchor(message_id="m", tokens=900, freed=reduced.freed) and reduced.freed > 0


async def idle(stage: Stage) -> None:
    with anyio.fail_after(120):
        while stage.engine._conversation.background.running:
            await anyio.lowlevel.checkpoint()
