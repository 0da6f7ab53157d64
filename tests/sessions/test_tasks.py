"""Work beside requests: where it may be started, and that it hurts nobody."""

import asyncio
from pathlib import Path

import anyio

from sessions.harness import running, say


async def test_work_starts_from_a_callback_that_is_no_task_as_notifications_are(tmp_path: Path) -> None:
    done = anyio.Event()

    async def work() -> None:
        done.set()

    async with running(tmp_path) as app:
        asyncio.get_running_loop().call_soon(app.hub.spawn, work)
        with anyio.fail_after(60):
            await done.wait()


async def test_work_that_breaks_ends_nothing_else(tmp_path: Path) -> None:
    async def broken() -> None:
        raise RuntimeError("a bug")

    async with running(tmp_path, say("fine")) as app:
        app.hub.spawn(broken)
        session = await app.new()
        answer = await app.send(session, "hi", wait=True)
        assert answer["result"]["result"] == "fine"
