"""The roster: all live sessions with their asks, answered from there (S7)."""

import asyncio
from pathlib import Path

import pytest

from lspclient import Connect, Json, RpcError

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_an_ask_is_listed_and_answered_from_the_roster(connect: Connect, workspace: Path) -> None:
    client = await connect(assent={"client": {"permissions": True}})
    client.answers["assent/permission/ask"] = lambda _params: asyncio.Event().wait()  # this window never answers
    session = (await client.request("assent/session/new", {"title": "Files"}))["sessionId"]
    sent = client.start_request(
        "assent/session/send", {"sessionId": session, "prompt": "run `touch made`", "wait": True}
    )[1]

    def told() -> list[Json]:
        """The newest roster that was sent by itself."""
        rosters = [message["params"] for message in client.heard if message.get("method") == "assent/roster"]
        return rosters[-1]["sessions"] if rosters else []

    await client.until(lambda: any(entry["state"] == "waiting" and entry["asks"] for entry in told()))
    listed = (await client.request("assent/session/roster", {}))["sessions"]
    await client.until(lambda: told() == listed)
    (entry,) = listed
    (ask,) = entry["asks"]
    assert (entry["sessionId"], entry["title"], entry["state"], entry["clients"]) == (session, "Files", "waiting", 1)
    assert ask["tool"] == "Bash" and "touch made" in ask["title"]
    assert await client.request("assent/permission/answer", {"askId": ask["askId"], "decision": "allow"}) == {}
    assert (await sent)["result"]["subtype"] == "success"
    assert (workspace / "made").exists()
    (entry,) = (await client.request("assent/session/roster", {}))["sessions"]
    assert (entry["state"], entry["asks"]) == ("finished", [])
    with pytest.raises(RpcError) as caught:
        await client.request("assent/permission/answer", {"askId": ask["askId"], "decision": "allow"})
    assert caught.value.kind == "unknownAsk"
    await client.request("assent/session/close", {"sessionId": session})
    assert (await client.request("assent/session/roster", {}))["sessions"] == []
    assert await client.stop() == 0


async def test_an_unknown_decision_is_refused_and_the_ask_stays_open(connect: Connect) -> None:
    client = await connect(assent={"client": {"permissions": True}})
    with pytest.raises(RpcError) as caught:
        await client.request("assent/permission/answer", {"askId": "x", "decision": "maybe"})
    assert caught.value.kind == "invalidParams" and "decision" in str(caught.value)
    assert await client.stop() == 0
