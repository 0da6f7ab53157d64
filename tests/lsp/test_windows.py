"""Two windows on one workspace: two servers, one owner per conversation."""

from pathlib import Path

import pytest

from lspclient import Connect, RpcError

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_session_has_one_owner_and_the_other_window_is_told_who(connect: Connect, place: Path) -> None:
    first = await connect(assent={"client": {"partials": True}})
    second = await connect(assent={"client": {"partials": True}})
    session = (await first.request("assent/session/new", {}))["sessionId"]
    await first.request("assent/session/send", {"sessionId": session, "prompt": "hello", "wait": True})
    with pytest.raises(RpcError) as caught:
        await second.request("assent/session/attach", {"sessionId": session})
    assert (caught.value.kind, caught.value.code) == ("ownedElsewhere", -32803)
    assert caught.value.data["pid"] == first.server.pid
    with pytest.raises(RpcError) as caught:
        await second.request("assent/session/send", {"sessionId": session, "prompt": "mine!"})
    assert caught.value.kind == "ownedElsewhere"
    listed = await second.request("assent/session/list", {})
    assert session in [entry["sessionId"] for entry in listed["sessions"]]
    looked_at = await second.request("assent/session/attach", {"sessionId": session, "readOnly": True})
    assert "hello" in str(looked_at["messages"])

    own = (await second.request("assent/session/new", {}))["sessionId"]
    answer = await second.request("assent/session/send", {"sessionId": own, "prompt": "hello", "wait": True})
    assert answer["result"]["subtype"] == "success"

    await first.request("assent/session/close", {"sessionId": session})
    attached = await second.request("assent/session/attach", {"sessionId": session})
    assert "hello" in str(attached["messages"])
    assert await first.stop() == 0
    assert await second.stop() == 0


async def test_what_one_window_said_the_next_server_remembers(connect: Connect) -> None:
    first = await connect(assent={})
    session = (await first.request("assent/session/new", {"title": "Kept"}))["sessionId"]
    await first.request("assent/session/send", {"sessionId": session, "prompt": "hello", "wait": True})
    attached = await first.request("assent/session/attach", {"sessionId": session})
    await first.stop()
    second = await connect(assent={})
    again = await second.request(
        "assent/session/attach", {"sessionId": session, "epoch": attached["epoch"], "afterSeq": attached["lastSeq"]}
    )
    assert again["reset"] is True  # another process: messages are replayed, not events
    assert again["epoch"] != attached["epoch"]
    assert [m["content"] for m in again["messages"]] == [m["content"] for m in attached["messages"]]
