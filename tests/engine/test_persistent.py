"""A compaction in an unattended session while the endpoint stays overloaded for hours (M3, M4, C5, C6).

The clock moves only by what is waited for: the endpoint answers by how much that is.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import pytest

from assent.extensions.commands import BUILT_IN
from assent.types.messages import ApiRetry, CompactBoundary, Heartbeat, Message, Notice
from enginekit import Echo, Stage
from fakeapi import Limits, Reply, Request, failure, text, tool
from fakeapi.script import Answer, Cut

ASKED = "about to be replaced"
SUMMARY = Reply(parts=(text("<summary>All there is to know.</summary>"),))
OVERLOADED: tuple[Answer, ...] = (
    failure(529, "overloaded"),
    Reply(parts=(text("<summary>Half"),), error={"type": "overloaded_error", "message": "Overloaded"}),
    Reply(parts=(text("<summary>Half of ", "it.</summary>"),), cut=Cut(at_event=3)),
    failure(429, "too many requests"),
)
THREE_HOURS = 3 * 3_600.0
HALF_AN_HOUR = 30 * 60.0
SMALL = Limits(window=60_000, max_output=8_000)


def overloaded_for(stage: Stage, seconds: float, work: Callable[[Request], Answer]) -> Callable[[Request], Answer]:
    """No summary until so much time has passed, in every way that an overload shows itself; all else is answered."""
    ways = cycle(OVERLOADED)

    def judge(request: Request) -> Answer:
        if ASKED not in request.last_text:
            return work(request)
        return SUMMARY if sum(stage.clock.slept) >= seconds else next(ways)

    return judge


def filling(steps: int) -> Callable[[Request], Answer]:
    """Calls a tool so many times, with a long answer each; then it is done."""
    left = iter(range(steps))

    def work(_request: Request) -> Answer:
        number = next(left, None)
        long = f"{number} " * 1_400
        return Reply(parts=(text("done") if number is None else tool("Echo", text=long),))

    return work


def refusing_once(request: Request) -> Answer:
    """Takes the prompt only after a compaction."""
    if request.last_text.startswith("go on") and "All there is to know." not in str(request.messages):
        return failure(400, "prompt is too long")
    return Reply(parts=(text("done"),))


@pytest.mark.parametrize("trigger", ["manual", "auto", "reactive"])
async def test_an_unattended_session_waits_for_its_summary_as_long_as_the_endpoint_is_overloaded(
    trigger: str,
) -> None:  # M4, C5
    limits = SMALL if trigger == "auto" else None
    async with Stage(tools=[Echo()], commands=BUILT_IN, limits=limits, persistent=True) as stage:
        work = filling(26) if trigger == "auto" else refusing_once
        if trigger != "auto":
            stage.api.reply(text("hello"))
            await stage.turn("remember tulip")
        stage.api.otherwise(overloaded_for(stage, THREE_HOURS, work))
        turn = await stage.turn("/compact" if trigger == "manual" else "go on, and mind the semicolons")

        (boundary,) = turn.of(CompactBoundary)
        assert (boundary.trigger, boundary.summary) == (trigger, "All there is to know.")
        assert turn.of(Notice) == []  # nothing was given up, so no one is told that it was
        retries = turn.of(ApiRetry)
        assert [retry.attempt for retry in retries] == list(range(1, 18))
        assert {retry.max_attempts for retry in retries} == {0}
        waits = [retry.delay_ms / 1000 for retry in retries]
        assert waits == [min(HALF_AN_HOUR, 0.5 * 2**number) for number in range(17)]
        assert sum(stage.clock.slept) == sum(waits) >= THREE_HOURS
        assert max(stage.clock.slept) <= 30.0  # someone who looks sees a sign of life at least so often
        assert len(turn.of(Heartbeat)) == len(stage.clock.slept) - len(waits)
        if trigger != "manual":
            assert turn.result.result == "done"
            assert "mind the semicolons" in str(stage.api.calls[-1].messages)


async def test_an_attended_session_gives_up_its_summary_after_ten_retries_and_keeps_its_view() -> None:  # M3, C6
    async with Stage(commands=BUILT_IN) as stage:
        stage.api.reply(text("hello"))
        await stage.turn("remember tulip")
        stage.api.otherwise(overloaded_for(stage, THREE_HOURS, refusing_once))
        turn = await stage.turn("/compact")
        assert turn.of(CompactBoundary) == []
        assert [retry.attempt for retry in turn.of(ApiRetry)] == list(range(1, 11))
        (notice,) = turn.of(Notice)
        assert "could not be compacted" in notice.text and "after 10 retries" in notice.text
        assert "remember tulip" in str(stage.engine.messages)


async def test_the_wait_for_a_summary_ends_at_once_when_someone_stops_the_turn() -> None:  # M4, L5
    async with Stage(commands=BUILT_IN, persistent=True) as stage:
        stage.api.reply(text("hello"))
        await stage.turn("remember tulip")
        stage.api.otherwise(overloaded_for(stage, float("inf"), refusing_once))
        beats: list[Message] = []

        def look(_at: int, message: Message) -> None:
            if isinstance(message, Heartbeat):
                beats.append(message)
                if len(beats) == 100:
                    stage.engine.abort()

        turn = await stage.turn("/compact", on_message=look)
        assert turn.result.terminal.startswith("aborted")
        assert turn.of(CompactBoundary) == [] and len(beats) == 100
        before = len(stage.api.requests)
        stage.api.forget()
        stage.api.reply(text("tulip"))
        turn = await stage.turn("what was it?")
        assert "remember tulip" in str(stage.api.calls[-1].messages)
        assert len(stage.api.requests) == before + 1
