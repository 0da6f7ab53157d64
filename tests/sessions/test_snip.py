"""Messages that the user takes out of the model's view, and puts back."""

from pathlib import Path

import pytest

from assent.types.errors import ProtocolError
from sessions.harness import TestFront, running, say


async def test_a_snipped_message_leaves_the_models_view_and_stays_for_people(tmp_path: Path) -> None:  # C2
    front = TestFront()
    async with running(tmp_path, say("about tea"), say("two"), say("three"), say("four")) as app:
        session = await app.new(front)
        await app.send(session, "a long word on tea", front, wait=True)
        shown = (await app.request("session/attach", TestFront(), sessionId=session))["messages"]
        ids = [message["id"] for message in shown]
        tried = await app.request("session/snip", sessionId=session, messageIds=ids, dryRun=True)
        assert tried["snipId"] == "" and tried["tokensFreed"] > 0
        await app.send(session, "still there?", front, wait=True)
        assert "word on tea" in str(app.model.requests[-1].messages)
        done = await app.request("session/snip", sessionId=session, messageIds=ids)
        event = await front.seen("snipped")
        assert (event["snipId"], event["messageIds"], event["by"]) == (done["snipId"], ids, "user")
        await app.send(session, "and now?", front, wait=True)
        assert "word on tea" not in str(app.model.requests[-1].messages)
        again = (await app.request("session/attach", TestFront(), sessionId=session))["messages"]
        assert "word on tea" in str(again)
    async with running(tmp_path, say("five"), say("six")) as app:
        await app.send(session, "after a restart", wait=True)
        assert "word on tea" not in str(app.model.requests[-1].messages)
        await app.request("session/unsnip", sessionId=session, snipId=done["snipId"])
        await app.send(session, "back again", wait=True)
        assert "word on tea" in str(app.model.requests[-1].messages)
    async with running(tmp_path, say("seven")) as app:
        await app.send(session, "after another", wait=True)
        assert "word on tea" in str(app.model.requests[-1].messages)


async def test_a_message_that_is_not_there_cannot_be_snipped_nor_an_unknown_snip_undone(tmp_path: Path) -> None:
    async with running(tmp_path, say("one")) as app:
        session = await app.new()
        await app.send(session, "hello", wait=True)
        with pytest.raises(ProtocolError, match="no message nope"):
            await app.request("session/snip", sessionId=session, messageIds=["nope"])
        with pytest.raises(ProtocolError, match="no snip nope"):
            await app.request("session/unsnip", sessionId=session, snipId="nope")
