"""Whatever breaks, and wherever: one result last, every call answered once, the transcript reloads, the next turn works.

The same turn (thinking, words, two safe calls at once, one unsafe call, then the answer) is interrupted at every
message, failed at every request in every way, and cut around every event of its stream.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import Any, Literal

import anyio
import pytest

from assent.types.blocks import text_of
from assent.types.messages import AssistantMessage, Message, Result, Tombstone, ToolStarted
from enginekit import Change, Crash, Echo, Gate, Stage, assert_conversation_valid
from enginekit.invariants import reloaded
from enginekit.stage import WAIT
from fakeapi import Block, Cut, Drop, FakeApi, Reply, failure, frames, raw, text, thinking, tool
from fakeapi.signing import Prefix

FIRST = (thinking("hm"), text("I will look."), tool("Echo", text="a"), tool("Echo", text="b"))
SECOND = (text("Now the change."), tool("Change", text="c"))
LAST = (text("All done."),)


def scripted(api: FakeApi) -> None:
    api.reply(*FIRST)
    api.reply(*SECOND)
    api.reply(*LAST)


async def next_turn_works(stage: Stage) -> None:
    """On the same engine, and on one resumed from the transcript; no task of the turn is left behind."""
    await stage.nothing_left_running()
    stage.assert_reloads()
    stage.api._script.clear()  # pyright: ignore[reportPrivateUsage] -- what the broken turn did not ask for
    stage.api.reply(text("still here"))
    assert (await stage.turn("are you there?")).result.result == "still here"
    stage.api.reply(text("here too"))
    resumed = stage.new_engine(messages=reloaded(stage.transcript.written))
    assert (await stage.turn("and you?", engine=resumed)).result.result == "here too"


async def length_of_the_turn() -> int:
    async with Stage(tools=[Echo(), Change()], include_partial_messages=True, ahead=1) as stage:
        scripted(stage.api)
        return len((await stage.turn()).messages)


async def test_interrupt_at_every_message() -> None:  # L14, Q3
    """`ahead=1`: the turn waits at each message until it is read, so the abort comes at every place it can."""
    total = await length_of_the_turn()
    assert total > 40
    for at in range(total):
        async with Stage(tools=[Echo(), Change()], include_partial_messages=True, ahead=1) as stage:
            scripted(stage.api)

            def stop(now: int, _message: Message, at: int = at, stage: Stage = stage) -> None:
                if now == at:
                    stage.engine.abort()

            turn = await stage.turn(on_message=stop)
            assert turn.result.terminal in ("aborted_streaming", "aborted_tools", "completed"), at
            await next_turn_works(stage)


async def test_closing_the_generator_at_every_message_leaves_the_history_valid() -> None:  # Q3
    total = await length_of_the_turn()
    for at in range(total):
        async with Stage(tools=[Echo(), Change()], include_partial_messages=True, ahead=1) as stage:
            scripted(stage.api)
            messages = stage.engine.submit("go")
            with anyio.fail_after(WAIT):
                for _ in range(at + 1):
                    await anext(messages)
                await messages.aclose()
            assert not stage.engine.running
            assert_conversation_valid(stage.engine.messages)
            assert not any(isinstance(m, Result) for m in stage.transcript.written) or at == total - 1
            await next_turn_works(stage)


async def test_cancelling_the_consumer_raises_its_cancellation_and_leaves_the_history_valid() -> None:
    async with Stage(tools=[Gate()]) as stage:
        gate = Gate()
        engine = stage.new_engine(tools=[gate])
        stage.api.reply(tool("Gate", text="x"))

        async def consume() -> None:
            async for _ in engine.submit("go"):
                pass

        task = asyncio.create_task(consume())
        with anyio.fail_after(WAIT):
            await gate.reached.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert gate.cancelled == ["x"]
        assert_conversation_valid(engine.messages)


OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}

FAILURES: list[tuple[str, Any]] = [
    ("refused", failure(400, "something is wrong with this request")),
    ("forbidden", failure(403, "no")),
    ("a server error for ever", failure(500)),
    ("an error page that is no JSON", failure(502, body=b"<html>Bad gateway</html>")),
    ("overloaded for ever", failure(529)),
    ("no credentials", failure(401, "invalid x-api-key")),
    ("a connection that is reset for ever", Drop(how="reset")),
    ("a connection that is closed for ever", Drop(how="close")),
    ("an error inside the stream before a word", Reply(parts=(), error=OVERLOADED)),
    ("an error inside the stream after some words", Reply(parts=(text("half"),), error=OVERLOADED)),
    ("nonsense instead of events", Reply(parts=(raw(b"data: {nonsense\n\n"),))),
    ("an answer that never ends", Reply(parts=(text("half"),), cut=Cut(at_event=3, how="clean"))),
]


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize(("name", "answer"), FAILURES, ids=[name.replace(" ", "-") for name, _ in FAILURES])
async def test_fail_at_every_request(number: int, name: str, answer: Any) -> None:  # L8
    async with Stage(tools=[Echo(), Change()]) as stage:
        for parts in (FIRST, SECOND, LAST)[:number]:
            stage.api.reply(*parts)
        stage.api.otherwise(answer)
        turn = await stage.turn()
        assert turn.result.terminal == "model_error"
        assert turn.result.subtype == "error_during_execution"
        assert len(turn.errors) == 1
        assert len(stage.engine.messages) >= [2, 5, 8][number]  # what went well before is kept
        await next_turn_works(stage)


async def test_dropped_connections_are_tried_again_and_nobody_sees_an_error() -> None:  # L5, M3
    async with Stage(tools=[Echo(), Change()]) as stage:
        stage.api.drop()
        stage.api.reply(*FIRST)
        stage.api.drop("close")
        stage.api.reply(*SECOND)
        stage.api.reply(*LAST)
        turn = await stage.turn()
        assert (turn.result.terminal, turn.errors) == ("completed", [])
        assert len(turn.of(ToolStarted)) == 3


def events_in(*parts: Block) -> int:
    message = frames.Message(id="m", model="m", usage={}, output_tokens=1)
    ids = (f"toolu_{number}" for number in itertools.count())
    reply = frames.settled(Reply(parts=parts), model="m", prefix=Prefix(), next_tool_id=ids)
    return len(list(frames.stream(reply, message)))


@pytest.mark.parametrize("extra", [-1, 0, 1])
async def test_cut_around_every_event_of_an_answer_that_changes_something(extra: int) -> None:  # M5, L9, L10
    """Before the change has begun the answer is asked for again, afterwards never: it is made exactly once."""
    for at in range(1, events_in(*SECOND) + 1):
        change = Change()
        async with Stage(tools=[Echo(), change]) as stage:
            stage.api.reply(*FIRST)
            stage.api.cut(*SECOND, at_event=at, extra_bytes=extra, how="close")
            stage.api.otherwise(
                lambda call, change=change: Reply(parts=LAST if change.log or "Change: c" in str(call.body) else SECOND)
            )
            turn = await stage.turn()
            assert turn.result.terminal == "completed", (at, turn.transitions)
            assert turn.errors == []
            assert change.log == ["c"], at
            await next_turn_works(stage)


@pytest.mark.parametrize("extra", [-1, 0, 1])
async def test_cut_around_every_event_of_the_stream(extra: int) -> None:  # M5, L9
    """L10, M5: a cut stream is never taken for an answer; what was shown is withdrawn before it is asked for again."""
    total = events_in(*FIRST)
    assert total > 20
    retried = 0
    ways: list[Literal["close", "reset", "clean"]] = ["close", "reset", "clean"]
    for at in range(1, total + 1):
        async with Stage(tools=[Echo(), Change()]) as stage:
            stage.api.cut(*FIRST, at_event=at, extra_bytes=extra, how=ways[at % 3])
            scripted(stage.api)
            turn = await stage.turn()
            assert turn.result.terminal == "completed", (at, turn.transitions)
            assert turn.errors == []
            retried += "stream_retry" in turn.transitions
            withdrawn = {uuid for stone in turn.of(Tombstone) for uuid in stone.message_uuids}
            assert not withdrawn & {message.uuid for message in stage.engine.messages}
            told = [text_of(m.content) for m in stage.engine.messages if isinstance(m, AssistantMessage)]
            assert told.count("I will look.") == (1 if at < total or extra < 0 else 2), at
            await next_turn_works(stage)
    assert retried >= total - 4


async def test_cut_after_an_unsafe_call_has_started_keeps_what_is_closed_and_goes_on() -> None:  # L10
    change = Change()
    async with Stage(tools=[change]) as stage:
        stage.api.cut(text("Changing."), tool("Change", text="x"), text("and then some more words here"), at_event=14)
        stage.api.reply(text("done"))
        turn = await stage.turn()
        assert turn.transitions == ["next_turn"]
        assert turn.result.terminal == "completed"
        assert change.log == ["x"]
        assert turn.of(Tombstone) == []
        stage.assert_reloads()


async def test_a_crash_in_a_tool_is_an_error_result_and_the_turn_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:  # L9
    async with Stage(tools=[Crash()]) as stage:
        stage.api.reply(tool("Crash", id="toolu_x", text="x"))
        stage.api.reply(text("I see"))
        turn = await stage.turn()
        assert turn.result.terminal == "completed"
        block = stage.api.calls[1].tool_results["toolu_x"]
        assert block["is_error"] and "ZeroDivisionError" in str(block["content"])
