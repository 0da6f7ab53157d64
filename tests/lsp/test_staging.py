"""The two stages of the start: `assent/*` is served before pygls is there, and nothing is lost when it takes over."""

import asyncio
from pathlib import Path

import pytest

from fakeapi import FakeApi, hold, text
from lspclient import Connect, Json
from lspclient.client import PLUGIN

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_waiting_send_that_began_before_pygls_was_loaded_is_cancelled_after_it(
    connect: Connect, api: FakeApi, workspace: Path, place: Path
) -> None:
    client = await connect(assent={"client": dict(PLUGIN)}, api=api, home=place / "stages")
    session = (await client.request("assent/session/new", {}))["sessionId"]
    api.reply(text("Wait ", hold("hand over"), "more."))
    number, answer = client.start_request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": True})
    await api.reached("hand over")
    file = workspace / "notes.txt"
    client.open(file)
    place_of = {"textDocument": {"uri": file.as_uri()}, "position": {"line": 0, "character": 0}}
    assert await client.request("textDocument/hover", place_of) is None  # answered by the second stage
    assert not answer.done()
    client.notify("$/cancelRequest", {"id": number})
    async with asyncio.timeout(120):
        result = (await answer)["result"]
    assert result["terminal"] == "aborted_streaming"
    api.release("hand over")
    # Both kinds of methods are served by the second stage now, each under its own rules.
    assert [each["sessionId"] for each in (await client.request("assent/session/list", {}))["sessions"]] == [session]
    actions: Json = {"textDocument": {"uri": file.as_uri()}, "context": {"diagnostics": []}}
    spot = {"line": 0, "character": 0}
    offered = await client.request("textDocument/codeAction", {**actions, "range": {"start": spot, "end": spot}})
    assert "Assent: Explain" in [action["title"] for action in offered]


async def test_commands_are_served_before_pygls_is_loaded(connect: Connect, place: Path) -> None:
    client = await connect(assent={"client": dict(PLUGIN)}, home=place / "commands")
    answer = await client.request("workspace/executeCommand", {"command": "assent.rejectAll"})
    assert answer == {"proposals": []}
