"""A question nobody had answered when the server ended: put once more by the next one, and then no more."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fakeapi import FakeApi, text, tool
from lspclient import Client, Connect, Json, Server
from lspclient.client import PLUGIN

pytestmark = pytest.mark.asyncio(loop_scope="module")
ASK = "assent/permission/ask"


async def never(_params: Json) -> Json:
    await asyncio.Event().wait()
    raise AssertionError


async def left_behind(client: Client, api: FakeApi) -> str:
    """A session whose turn waits for an answer while its server is shut down."""
    client.answers[ASK] = never
    api.reply(tool("Bash", command="touch left.txt"))
    session = (await client.request("assent/session/new", {}))["sessionId"]
    await client.request("assent/session/send", {"sessionId": session, "prompt": "go"})
    await client.wait_for(lambda m: m.get("method") == ASK)
    assert await client.stop() == 0
    return session


@pytest.mark.parametrize("decision", ["allow", "deny"])
async def test_an_ask_open_at_shutdown_is_put_once_more_and_its_answer_counts(
    connect: Connect, api: FakeApi, workspace: Path, decision: str
) -> None:
    made = workspace / "left.txt"
    made.unlink(missing_ok=True)
    session = await left_behind(await connect(assent={"client": dict(PLUGIN)}, api=api), api)
    client = await connect(assent={"client": dict(PLUGIN)}, api=api)
    client.answers[ASK] = lambda params: {"decision": decision}
    attached = await client.request("assent/session/attach", {"sessionId": session})
    (ask,) = attached["pendingAsks"]
    assert (ask["tool"], ask["orphan"]) == ("Bash", True)
    assert "stopped the turn" not in str(attached["messages"])
    await client.wait_event("permissionResolved", session_id=session)
    api.reply(text("Going on."))
    await client.request("assent/session/send", {"sessionId": session, "prompt": "go on", "wait": True})
    assert made.exists() is (decision == "allow")
    assert "stopped the turn" not in str(api.calls[-1].messages)
    assert len([m for m in client.heard if m.get("method") == ASK]) == 1
    await client.stop()


async def test_it_is_not_put_a_third_time(connect: Connect, api: FakeApi, workspace: Path) -> None:
    (workspace / "left.txt").unlink(missing_ok=True)
    session = await left_behind(await connect(assent={"client": dict(PLUGIN)}, api=api), api)
    second = await connect(assent={"client": dict(PLUGIN)}, api=api)
    second.answers[ASK] = never
    assert (await second.request("assent/session/attach", {"sessionId": session}))["pendingAsks"]
    await second.stop()
    third = await connect(assent={"client": dict(PLUGIN)}, api=api)
    assert (await third.request("assent/session/attach", {"sessionId": session}))["pendingAsks"] == []
    api.reply(text("Then not."))
    await third.request("assent/session/send", {"sessionId": session, "prompt": "go on", "wait": True})
    assert not (workspace / "left.txt").exists()
    await third.stop()


async def test_a_command_cut_off_by_the_end_is_not_blamed_on_the_user(connect: Connect, api: FakeApi) -> None:
    first = await connect(assent={"client": dict(PLUGIN)}, api=api)
    first.answers[ASK] = lambda params: {"decision": "allow"}
    api.reply(tool("Bash", command="echo begun; sleep 60"))
    session = (await first.request("assent/session/new", {}))["sessionId"]
    await first.request("assent/session/send", {"sessionId": session, "prompt": "go"})
    await first.wait_event("toolProgress", session_id=session)
    await first.stop()
    second = await connect(assent={"client": dict(PLUGIN)}, api=api)
    attached = await second.request("assent/session/attach", {"sessionId": session})
    assert "the session was closed before this call finished" in str(attached["messages"][-1])
    assert attached["interrupted"]["prompt"] == [{"type": "text", "text": "go"}]
    await second.stop()


@pytest.mark.parametrize("ending", ["shutdown", "stdin"])
async def test_a_server_that_ends_under_a_review_says_nothing_odd(
    api: FakeApi, place: Path, workspace: Path, ending: str
) -> None:
    client = Client(Server(place / f"quiet-{ending}", env=api.env))
    client.process = await client.server.start(stderr=asyncio.subprocess.PIPE)
    client.read()
    await client.initialize(workspace, assent={"client": dict(PLUGIN)})
    client.answers[ASK] = never
    path = str(workspace / "notes.txt")
    client.open(workspace / "notes.txt")
    api.reply(tool("Read", file_path=path))
    api.reply(tool("Edit", file_path=path, old_string="one", new_string="1"))
    session = (await client.request("assent/session/new", {}))["sessionId"]
    await client.request("assent/session/send", {"sessionId": session, "prompt": "go"})
    await client.wait_event("editProposed", session_id=session)
    assert client.process.stdin is not None and client.process.stderr is not None
    if ending == "shutdown":
        await client.request("shutdown", None)
        client.notify("exit", None)
    else:
        client.process.stdin.close()
    await client.server.ended(within=120)
    said: Any = (await client.process.stderr.read()).decode()
    logged = "".join(log.read_text() for log in client.server.data.rglob("*.log"))
    for odd in ("never awaited", "a listener failed", "Traceback"):
        assert odd not in said + logged
    await client.close()
