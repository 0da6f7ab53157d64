"""At most so many turns of a user run at once, in all windows and engines, and what runs in the background leaves the
processor to others first (S5, S7)."""

import asyncio
import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from fakeapi import FakeApi, hold, text, tool
from hostkit import Desk
from lspclient import Client, Json
from lspclient.client import TIMEOUT
from lspclient.process import COMMAND
from processes import command_line, descendants, niceness

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def api() -> AsyncIterator[FakeApi]:
    async with FakeApi() as fake:
        yield fake


async def state(client: Client, session: str) -> str:
    entries = (await client.request("assent/session/roster", {}))["sessions"]
    return next(entry["state"] for entry in entries if entry["sessionId"] == session)


async def begun(client: Client, prompt: str) -> str:
    session: str = (await client.request("assent/session/new", {}))["sessionId"]
    await client.request("assent/session/send", {"sessionId": session, "prompt": prompt, "clientMessageId": prompt})
    return session


async def finished(client: Client, session: str) -> Json:
    return (await client.wait_event("turnFinished", session_id=session))["event"]["result"]


async def test_a_turn_beyond_the_limit_waits_as_queued_in_another_engine_too(desk: Desk, api: FakeApi) -> None:
    desk.settings(hostIdleSeconds=0, maxRunningTurns=1)
    here = await desk.connect("Here", api=api)
    there = await desk.connect("There", api=api, command=COMMAND)
    api.reply(hold("go"), text("First."))
    first = await begun(here, "one")
    await api.reached("go")
    second, third = await begun(here, "two"), await begun(there, "three")
    for client, session in ((here, second), (there, third)):
        told = (await client.wait_event("notice", session_id=session))["event"]["text"]
        assert told == "Waits for another turn to end: at most 1 run at once (maxRunningTurns)."
        assert await state(client, session) == "queued"
        assert client.events(session, "queued") and not client.events(session, "turnStarted")
    taken = await here.request("assent/session/interrupt", {"sessionId": second})
    assert taken == {"interrupted": False, "queued": ["two"]}  # kept until it is sent again
    api.reply(text("Third."))
    api.release("go")
    assert (await finished(here, first))["result"] == "First."
    assert (await finished(there, third))["result"] == "Third."
    api.reply(text("Second."))
    await here.request("assent/session/send", {"sessionId": second, "prompt": "two", "clientMessageId": "two"})
    assert (await finished(here, second))["result"] == "Second."


async def test_a_turn_that_waits_for_a_person_makes_room_for_another(desk: Desk, api: FakeApi) -> None:
    desk.settings(hostIdleSeconds=0, maxRunningTurns=1)
    window = await desk.connect("Window", api=api)
    api.reply(tool("Bash", command="touch made"))
    first = await begun(window, "one")
    asked = await window.wait_event("permissionPending", session_id=first)
    api.reply(text("Meanwhile."))
    second = await begun(window, "two")
    assert (await finished(window, second))["result"] == "Meanwhile."
    api.reply(text("Made."))
    await window.request("assent/permission/answer", {"askId": asked["event"]["askId"], "decision": "allow"})
    assert (await finished(window, first))["result"] == "Made."


async def test_a_slot_of_a_killed_engine_is_free_again(desk: Desk, api: FakeApi) -> None:
    desk.settings(hostIdleSeconds=0, maxRunningTurns=1)
    dying = await desk.connect("Dying", api=api, command=COMMAND)
    api.reply(hold("never"), text("Never."))
    await begun(dying, "one")
    await api.reached("never")
    other = await desk.connect("Other", api=api, command=COMMAND)
    session = await begun(other, "two")
    await other.wait_event("notice", session_id=session)
    api.reply(text("Free."))
    await dying.server.kill()
    assert (await finished(other, session))["result"] == "Free."


SLEEPS = [f"Bash(sleep {seconds})" for seconds in range(7001, 7005)]


def niceness_of(client: Client, marker: str) -> list[int]:
    """Of each process below the window's server whose command line ends with this."""
    below = [pid for pid in descendants(client.server.pid) if command_line(pid)[-1:] == [marker]]
    return [nice for pid in below if (nice := niceness(pid)) is not None]


async def settles(client: Client, marker: str, wanted: list[int]) -> None:
    """A process that is not our child can only be looked at."""
    async with asyncio.timeout(TIMEOUT):
        while niceness_of(client, marker) != wanted:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_a_background_command_stands_back_while_its_window_is_open(desk: Desk, api: FakeApi) -> None:  # S5
    desk.settings(hostNice=7, permissions={"allow": SLEEPS})
    window = await desk.connect("Window", api=api, command=COMMAND)
    own = os.getpriority(os.PRIO_PROCESS, window.server.pid)
    api.reply(tool("Bash", command="sleep 7001", run_in_background=True), tool("Bash", command="sleep 7002"))
    session = await begun(window, "both")
    await settles(window, "7001", [max(own, 7)])
    await settles(window, "7002", [own])
    await window.until(lambda: len(window.events(session, "toolStarted")) == 2)
    front = window.events(session, "toolStarted")[1]["event"]["toolUseId"]
    api.reply(text("Done."))
    await window.request("assent/job/background", {"sessionId": session, "toolUseId": front})
    await settles(window, "7002", [max(own, 7)])


async def test_commands_of_a_session_in_the_background_stand_back_and_others_do_not(
    desk: Desk, api: FakeApi
) -> None:  # S5
    desk.settings(hostIdleSeconds=0, hostNice=7, permissions={"allow": SLEEPS})
    window = await desk.connect("Window", api=api, command=COMMAND)
    own = os.getpriority(os.PRIO_PROCESS, window.server.pid)
    for marker in ("7003", "7004"):
        api.reply(tool("Bash", command=f"sleep {marker}"))
        session = await begun(window, marker)
        await settles(window, marker, [own])
    await window.request("assent/session/configure", {"sessionId": session, "keepRunning": True})
    await settles(window, "7004", [max(own, 7)])
    await settles(window, "7003", [own])
