"""Many beginnings at once leave the event loop room between them (S7)."""

import asyncio

from assent.sessions.turnstile import Turnstile


async def test_one_goes_through_in_each_round_of_the_loop_in_the_order_they_came() -> None:
    rounds, passed = 0, list[tuple[int, int]]()
    turnstile = Turnstile()

    def count() -> None:
        nonlocal rounds
        rounds += 1
        asyncio.get_running_loop().call_soon(count)

    async def begin(number: int) -> None:
        await turnstile.pass_through()
        passed.append((number, rounds))

    count()
    async with asyncio.timeout(60):
        await asyncio.gather(*(begin(number) for number in range(64)))
    assert [number for number, _ in passed] == list(range(64))
    assert len({at for _, at in passed}) == 64


async def test_alone_nobody_waits_and_one_who_gives_up_holds_nobody() -> None:
    turnstile = Turnstile()
    first, second, third = (asyncio.create_task(turnstile.pass_through()) for _ in range(3))
    await asyncio.sleep(0)
    assert (first.done(), second.done(), third.done()) == (True, False, False)
    second.cancel()
    async with asyncio.timeout(60):
        await third
    assert second.cancelled()
