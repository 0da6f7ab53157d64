"""A disk that takes nothing more (safety.md, ENOSPC and EIO): told, kept, tried again, and whole in the end.

The spawned server's files are limited in size by the kernel, so its writes fail as on a full disk and can be let
through again: an error of the same kind, without a disk to fill.
"""

import asyncio
import resource
from pathlib import Path

import pytest

from fakeapi import FakeApi, text
from lspclient import Client, Connect, Json

pytestmark = pytest.mark.asyncio(loop_scope="module")


def limit(client: Client, size: int) -> None:
    most = resource.prlimit(client.server.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(client.server.pid, resource.RLIMIT_FSIZE, (size, most))


async def ask(client: Client, session: str, prompt: str) -> Json:
    async with asyncio.timeout(60):
        return await client.request("assent/session/send", {"sessionId": session, "prompt": prompt, "wait": True})


def notices(client: Client, session: str) -> str:
    return "\n".join(f"{each['event']['level']}: {each['event']['text']}" for each in client.events(session, "notice"))


def said(attached: Json) -> str:
    return "".join(block.get("text", "") for message in attached["messages"] for block in message["content"])


@pytest.mark.parametrize("freed", ["before the next turn", "before the end"])
async def test_what_the_disk_refuses_is_told_and_saved_once_it_takes_it(
    connect: Connect, api: FakeApi, workspace: Path, place: Path, freed: str
) -> None:
    home = place / freed
    client = await connect(assent={"client": {"permissions": True}}, api=api, home=home)
    session = (await client.request("assent/session/new", {}))["sessionId"]
    api.reply(text("One.")).reply(text("Two.")).reply(text("Three."))
    await ask(client, session, "first")
    limit(client, 1)
    second = await ask(client, session, "second")
    assert second["result"]["result"] == "Two.", "the turn goes on"
    await client.until(lambda: "cannot be saved" in notices(client, session))
    assert "tried again" in notices(client, session) and "saved again" not in notices(client, session)
    unsaved = await client.request("assent/session/send", {"sessionId": session, "prompt": "third"})
    assert unsaved["saved"] is False, "an answer that claims nothing"
    await client.wait_for(lambda m: is_last(m, session), after=0)
    limit(client, resource.RLIM_INFINITY)
    if freed == "before the next turn":
        api.reply(text("Four."))
        await ask(client, session, "fourth")
        await client.until(lambda: "saved again" in notices(client, session))
        await client.server.kill()  # nothing is left to be written at the end
    else:
        await client.stop()
    again = await connect(assent={}, api=api, home=home)
    words = said(await again.request("assent/session/attach", {"sessionId": session}))
    assert words.startswith("firstOne.secondTwo.thirdThree.")
    assert words.endswith("fourthFour." if freed == "before the next turn" else "Three.")


def is_last(message: Json, session: str) -> bool:
    if message.get("method") != "assent/session/event" or message["params"]["sessionId"] != session:
        return False
    event = message["params"]["event"]
    return event["type"] == "turnFinished" and event["result"]["result"] == "Three."
