"""Messages that the user takes out of the model's view, and puts back."""

from pathlib import Path

import pytest

from assent.tools.read import Read
from assent.types.errors import ProtocolError
from sessions.harness import TestFront, running, say, use


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


async def test_the_command_lists_what_fills_the_view_takes_it_out_and_brings_it_back(tmp_path: Path) -> None:  # C2
    front = TestFront()
    async with running(tmp_path, say("noted"), say("two"), say("three")) as app:
        session = await app.new(front)

        async def command(text: str) -> str:
            return (await app.send(session, text, front, wait=True))["result"]["result"]

        assert "nothing in the model's view" in await command("/snip")
        await app.send(session, "tea and cake " * 60, front, wait=True)
        listed = await command("/snip")
        assert "1. you: tea and cake" in listed and "tokens" in listed
        assert "Say which by number" in await command("/snip 7") and "Say which by number" in await command("/snip x")
        context = await app.request("session/context", sessionId=session)
        assert "Taken out of the model's view" in await command("/snip 1")
        assert (await app.request("session/context", sessionId=session))["used"] < context["used"]
        assert (await front.seen("snipped"))["by"] == "user"
        assert "does not see these messages any more" in await command("/snip 1")
        await app.send(session, "and now?", front, wait=True)
        assert "tea and cake" not in str(app.model.requests[-1].messages)
        assert "sees it again" in await command("/snip undo")
        assert "no snip to take back" in await command("/snip undo")
        await app.send(session, "back?", front, wait=True)
        assert "tea and cake" in str(app.model.requests[-1].messages)


async def test_a_call_is_snipped_by_its_own_id_while_the_turn_runs_and_counts_before_the_next_step(
    tmp_path: Path,
) -> None:  # C2
    front = TestFront()
    answers = [
        [use("Note", "toolu_a", text="alpha " * 80)],
        [use("Note", "toolu_b", text="beta")],
        say("done"),
        say("ok"),
    ]
    async with running(tmp_path, *answers) as app:
        session = await app.new(front)
        front.answer({"decision": "allow"})
        sent = await app.send(session, "two notes, please", front)
        await front.until(lambda: len(front.asked) == 2)
        prompt = front.of("turnStarted")[0]["messageId"]
        with pytest.raises(ProtocolError, match="is answering this prompt"):
            await app.request("session/snip", sessionId=session, messageIds=[prompt])
        tried = await app.request("session/snip", sessionId=session, messageIds=["toolu_a"], dryRun=True)
        done = await app.request("session/snip", sessionId=session, messageIds=["toolu_a"])
        assert tried["tokensFreed"] == done["tokensFreed"] > 100
        (event,) = front.of("snipped")
        (call,) = event["messageIds"]
        assert call in [message["id"] for message in front.of("message")]  # editors show it by this name
        front.answer({"decision": "allow"})
        await front.seen("turnFinished")
        assert app.note.notes == ["alpha " * 80, "beta"] and sent["turnId"]
        assert "toolu_b" in str(app.model.requests[-1].messages) and "alpha" not in str(app.model.requests[-1].messages)
        assert len(front.of("snipped")) == 1
        attached = await app.request("session/attach", TestFront(), sessionId=session)
        (state,) = attached["snips"]
        assert (state["snipId"], state["messageIds"], state["by"]) == (done["snipId"], [call], "user")
    async with running(tmp_path, say("after")) as app:
        await app.send(session, "after a restart", wait=True)
        assert "alpha" not in str(app.model.requests[-1].messages)
        attached = await app.request("session/attach", TestFront(), sessionId=session)
        assert [state["snipId"] for state in attached["snips"]] == [done["snipId"]]


async def test_an_automatic_snip_is_told_listed_and_taken_back_like_the_users_own(tmp_path: Path) -> None:  # C2
    front = TestFront()
    file = tmp_path / "project" / "a.txt"
    answers = [[use("Read", f"toolu_{n}", file_path=str(file))] for n in range(2)]
    async with running(tmp_path, answers[0], say("one"), answers[1], say("two"), tools=[Read()]) as app:
        session = await app.new(front)
        for number in range(2):
            file.write_text(f"version {number}\n" * 200)
            await app.send(session, f"read it, {number}", front, wait=True)
        assert front.of("snipped") == []
    again = TestFront()
    async with running(tmp_path, say("three"), say("four"), tools=[Read()]) as app:  # nothing is cached any more
        await app.request("session/attach", again, sessionId=session)
        await app.send(session, "and now?", again, wait=True)
        (event,) = again.of("snipped")
        assert (event["by"], event["reason"]) == ("auto", "1 read that a later one replaced")
        assert again.of("tombstone") == []
        assert "version 0" not in str(app.model.requests[-1].messages)
        attached = await app.request("session/attach", TestFront(), sessionId=session)
        assert [state["by"] for state in attached["snips"]] == ["auto"]
        assert "version 0" in str(attached["messages"])  # people see it still
        await app.request("session/unsnip", sessionId=session, snipId=event["snipId"])
        await app.send(session, "back?", again, wait=True)
        assert "version 0" in str(app.model.requests[-1].messages)
        assert (await app.request("session/attach", TestFront(), sessionId=session))["snips"] == []
