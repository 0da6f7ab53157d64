"""Tasks behind a generator: what is sent comes out in order, a full stream holds the sender, nothing outlives its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from assent.engine.merge import POSTED_CAPACITY, Background, Outlet, merged

WAIT = 60.0


async def turns(times: int = 20) -> None:
    for _ in range(times):
        await asyncio.sleep(0)


async def test_all_that_is_sent_comes_out_in_order_and_an_error_after_the_last() -> None:
    async def run(outlet: Outlet[int]) -> None:
        for number in range(5):
            await outlet.send(number)
            if number % 2:
                await asyncio.sleep(0)
        raise ValueError("at the end")

    seen: list[int] = []
    with pytest.raises(ValueError, match="at the end"), anyio.fail_after(WAIT):
        async for number in merged(run):
            seen.append(number)
    assert seen == [0, 1, 2, 3, 4]


async def test_a_run_that_sends_nothing_ends_the_generator() -> None:
    async def run(_outlet: Outlet[int]) -> None:
        await turns()

    with anyio.fail_after(WAIT):
        assert [number async for number in merged(run)] == []


@pytest.mark.parametrize("capacity", [1, 3])
async def test_the_sender_waits_while_the_stream_is_full_and_goes_on_when_there_is_room(capacity: int) -> None:
    sent: list[int] = []

    async def run(outlet: Outlet[int]) -> None:
        for number in range(9):
            await outlet.send(number)
            sent.append(number)

    seen: list[int] = []
    with anyio.fail_after(WAIT):
        async with aclosing(merged(run, capacity=capacity)) as numbers:
            async for number in numbers:
                seen.append(number)
                await turns()
                assert len(sent) <= len(seen) + capacity - 1  # no more ahead than there is room for
    assert seen == list(range(9)) == sent


async def test_several_senders_wait_together_and_all_go_on() -> None:
    outlet: Outlet[int] = Outlet(1)
    outlet.items.append(0)
    done: list[str] = []

    async def wait(name: str) -> None:
        await outlet.room()
        done.append(name)

    with anyio.fail_after(WAIT):
        async with anyio.create_task_group() as group:
            for name in "ab":
                group.start_soon(wait, name)
            await turns()
            outlet.taken()  # nothing was taken out: they wait on
            await turns()
            assert done == []
            outlet.items.clear()
            outlet.taken()
    assert sorted(done) == ["a", "b"]


async def test_what_cannot_wait_is_never_lost_and_only_what_may_be_dropped_is_dropped() -> None:
    outlet: Outlet[int] = Outlet(1)
    for number in range(POSTED_CAPACITY):
        outlet.post(number, droppable=True)
    outlet.post(-1, droppable=True)
    outlet.post(-2, droppable=False)
    assert outlet.dropped == 1 and outlet.items[-1] == -2 and len(outlet.items) == POSTED_CAPACITY + 1


def until_cancelled() -> tuple[Callable[[Outlet[int]], Coroutine[Any, Any, None]], list[str]]:
    """A run that sends one number and waits; and a list that says when its clean-up is over."""
    ended: list[str] = []

    async def run(outlet: Outlet[int]) -> None:
        try:
            await outlet.send(1)
            await anyio.Event().wait()
        finally:
            with anyio.CancelScope(shield=True):
                await turns()
            ended.append("run")

    return run, ended


async def test_leaving_the_generator_ends_the_run_and_waits_for_its_end() -> None:
    run, ended = until_cancelled()

    with anyio.fail_after(WAIT):
        async with aclosing(merged(run)) as numbers:
            async for _ in numbers:
                break
    assert ended == ["run"]


async def test_leaving_inside_a_cancelled_scope_still_waits_for_the_end_of_the_run() -> None:  # L14
    run, ended = until_cancelled()

    with anyio.fail_after(WAIT), anyio.CancelScope() as scope:
        async with aclosing(merged(run)) as numbers:
            async for _ in numbers:
                scope.cancel()
                break
    assert ended == ["run"]


async def test_background_work_is_counted_gives_its_result_and_is_ended_with_its_owner(
    caplog: pytest.LogCaptureFixture,
) -> None:
    background, ended = Background(), list[str]()

    async def give() -> int:
        return 7

    async def fail() -> None:
        raise ValueError("broken")

    async def last() -> None:
        try:
            await anyio.Event().wait()
        finally:
            with anyio.CancelScope(shield=True):
                await turns()
            ended.append("last")

    with anyio.fail_after(WAIT):
        assert await background.spawn(give(), name="give") == 7
        assert await background.spawn(fail(), name="fail") is None
        assert "background work failed: fail" in caplog.text
        await turns()
        assert background.running == 0
        background.spawn(last(), name="last")
        assert background.running == 1
        await turns()
        await background.close()
    assert ended == ["last"] and background.running == 0
