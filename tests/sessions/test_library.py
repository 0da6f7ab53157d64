"""Sessions as a collection: listed, found, copied, renamed, exported, deleted (S2)."""

import json
from pathlib import Path

import pytest

from assent.types.errors import ProtocolError
from sessions.harness import TestFront, running, say, use
from sessions.test_turns import Held


async def test_sessions_are_listed_newest_first_with_what_one_looks_for(tmp_path: Path) -> None:
    now = iter(range(1000, 100_000))
    async with running(tmp_path, say("one"), say("two"), clock=lambda: float(next(now))) as app:
        (app.cwd / ".git").mkdir()
        (app.cwd / ".git" / "HEAD").write_text("ref: refs/heads/topic\n")
        first = await app.new()
        await app.send(first, "Fix the   parser,\nplease", wait=True)
        second = await app.new(title="Named")
        await app.send(second, "hello", wait=True)
        listed = (await app.request("session/list"))["sessions"]
        assert [item["sessionId"] for item in listed] == [second, first]
        assert listed[1] == {
            "sessionId": first,
            "title": "Fix the parser, please",
            "updatedAt": listed[1]["updatedAt"],
            "turns": 1,
            "costUsd": listed[1]["costUsd"],
            "cwd": str(app.cwd),
            "branch": "topic",
            "running": False,
        }
        assert listed[1]["costUsd"] > 0 and listed[0]["title"] == "Named"
        found = await app.request("session/search", query="PARSER fix")
        assert [item["sessionId"] for item in found["sessions"]] == [first]
        assert (await app.request("session/list", cwd="/elsewhere"))["sessions"] == []
    async with running(tmp_path) as app:
        again = (await app.request("session/list", cwd=str(app.cwd)))["sessions"]
        assert [(item["sessionId"], item["title"]) for item in again] == [
            (second, "Named"),
            (first, "Fix the parser, please"),
        ]


async def test_long_lists_come_in_pages(tmp_path: Path) -> None:
    async with running(tmp_path) as app:
        made = {await app.new(title=f"number {number}") for number in range(60)}
        page = await app.request("session/list")
        rest = await app.request("session/list", cursor=page["nextCursor"])
        assert len(page["sessions"]) == 50 and "nextCursor" not in rest
        assert {item["sessionId"] for item in page["sessions"] + rest["sessions"]} == made
        with pytest.raises(ProtocolError):
            await app.request("session/list", cursor="nonsense")


async def test_search_also_finds_words_that_were_only_said(tmp_path: Path) -> None:
    async with running(tmp_path, say("the culprit is the Flux Capacitor")) as app:
        session = await app.new()
        await app.send(session, "what is wrong?", wait=True)
        found = await app.request("session/search", query="flux capacitor")
        assert [item["sessionId"] for item in found["sessions"]] == [session]
        assert found["sessions"][0]["snippet"] == "the culprit is the Flux Capacitor"
        (hit,) = found["sessions"][0]["snippets"]
        assert [hit["text"][start:end] for start, end in hit["ranges"]] == ["Flux", "Capacitor"]
        assert hit["role"] == "assistant" and hit["messageId"]
        assert "snippet" not in (await app.request("session/list"))["sessions"][0]


async def test_a_rename_is_kept(tmp_path: Path) -> None:
    async with running(tmp_path, say("one")) as app:
        session = await app.new()
        await app.send(session, "hello", wait=True)
        assert await app.request("session/rename", sessionId=session, title="  A better\nname ") == {}
        with pytest.raises(ProtocolError):
            await app.request("session/rename", sessionId=session, title="   ")
    async with running(tmp_path) as app:
        assert (await app.request("session/list"))["sessions"][0]["title"] == "A better name"


async def test_a_fork_shares_the_past_and_nothing_after(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, say("one"), say("two"), say("elsewhere")) as app:
        session = await app.new(front)
        await app.send(session, "first", front, wait=True)
        await app.send(session, "second", front, wait=True)
        answer = next(m["id"] for m in front.of("message") if m["content"][0].get("text") == "one")
        whole = (await app.request("session/fork", sessionId=session))["sessionId"]
        part = (await app.request("session/fork", sessionId=session, messageId=answer))["sessionId"]
        await app.send(part, "third", wait=True)

        async def said(session_id: str) -> list[str]:
            page = await app.request("session/attach", TestFront(), sessionId=session_id)
            return [message["content"][0]["text"] for message in page["messages"]]

        assert await said(whole) == await said(session) == ["first", "one", "second", "two"]
        assert await said(part) == ["first", "one", "third", "elsewhere"]
        assert "one" in str(app.model.requests[-1].messages) and "second" not in str(app.model.requests[-1].messages)
        titles = {item["sessionId"]: item["title"] for item in (await app.request("session/list"))["sessions"]}
        assert titles[whole] == "first (fork)"


async def test_a_deleted_session_is_gone_for_good_even_while_it_runs(tmp_path: Path) -> None:
    held = Held()
    async with running(tmp_path, held) as app:
        session = await app.new()
        await app.send(session, "hello")
        await held.asked.wait()
        path = app.hub.live[session].record.path
        assert await app.request("session/delete", sessionId=session) == {}
        assert not path.exists() and not path.with_suffix("").exists()
        assert (await app.request("session/list"))["sessions"] == []
        with pytest.raises(ProtocolError) as unknown:
            await app.request("session/attach", sessionId=session)
        assert unknown.value.kind == "unknownSession"


@pytest.mark.parametrize("session", ["nope", "../../etc/passwd", "", "a/b", "x" * 100, 7, None])
async def test_an_unknown_session_is_a_clear_error(tmp_path: Path, session: object) -> None:
    async with running(tmp_path) as app:
        for method in ("send", "attach", "fork", "delete", "export", "interrupt", "cost"):
            with pytest.raises(ProtocolError) as refused:
                await app.request(f"session/{method}", sessionId=session, prompt="hi")
            assert refused.value.kind in ("unknownSession", "invalidParams")


async def test_a_closed_session_can_be_attached_to_again(tmp_path: Path) -> None:
    async with running(tmp_path, say("one"), say("two")) as app:
        session = await app.new()
        await app.send(session, "hello", wait=True)
        assert await app.request("session/close", sessionId=session) == {}
        assert session not in app.hub.live
        answer = await app.request("session/attach", TestFront(), sessionId=session)
        assert len(answer["messages"]) == 2
        await app.send(session, "again", wait=True)


async def test_export_tells_the_conversation_to_people_and_to_programs(tmp_path: Path) -> None:
    async with running(tmp_path, [use("Note", text="```")], say("All **done**.")) as app:
        app.deps.settings.cli = {"permissions": {"allow": ["Note"]}}
        session = await app.new(title="My work")
        await app.send(session, "note it", wait=True)
        text = (await app.request("session/export", sessionId=session, format="markdown"))["text"]
        assert text.startswith("# My work\n")
        assert text.index("## You") < text.index("note it") < text.index("## Assent") < text.index("All **done**.")
        assert "<summary>Tool: Note</summary>" in text and "noted ```" in text
        data = json.loads((await app.request("session/export", sessionId=session, format="json"))["text"])
        assert [message["role"] for message in data["messages"]] == ["user", "assistant", "user", "assistant"]
        with pytest.raises(ProtocolError):
            await app.request("session/export", sessionId=session, format="pdf")


@pytest.mark.parametrize("format", ["markdown", "json"])
async def test_an_export_and_the_list_hold_no_token_that_was_said(tmp_path: Path, format: str) -> None:
    token = "ghp" + "_" + "aB3" * 12
    async with running(tmp_path, say(f"I see {token}.")) as app:
        session = await app.new(title=f"With {token}")
        await app.send(session, f"use {token}", wait=True)
        text = (await app.request("session/export", sessionId=session, format=format))["text"]
        assert token not in text
        assert "use [redacted]" in text and "I see [redacted]." in text
        assert token not in (tmp_path / "data" / "sessions" / "index.jsonl").read_text()


async def test_cost_is_told_by_model_with_the_share_of_the_cache(tmp_path: Path) -> None:
    async with running(tmp_path, say("one")) as app:
        session = await app.new()
        empty = await app.request("session/cost", sessionId=session)
        assert empty == {"totalCostUsd": 0.0, "models": [], "cacheShare": 0.0}
        await app.send(session, "hello", wait=True)
        cost = await app.request("session/cost", sessionId=session)
        assert cost["cacheShare"] == 0.75
        assert cost["models"][0]["model"] == "test-model"
        assert cost["models"][0]["cacheReadInputTokens"] == 300


async def test_context_is_told_by_category(tmp_path: Path) -> None:
    async with running(tmp_path, say("one")) as app:
        session = await app.new()
        await app.send(session, "hello", wait=True)
        context = await app.request("session/context", sessionId=session)
        assert context["window"] > 0


async def test_configure_changes_the_next_turn_and_is_kept(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, say("one"), say("two")) as app:
        session = await app.new(front)
        await app.send(session, "hello", front, wait=True)
        answer = await app.request("session/configure", sessionId=session, model="other", mode="plan", thinking=2048)
        assert answer["model"] == "other" and answer["mode"] == "plan"
        assert answer["thinking"] == {"type": "enabled", "budget_tokens": 2048}
        await app.send(session, "again", front, wait=True)
        assert app.model.requests[1].model == "other"
        assert "hello" in str(app.model.requests[1].messages)
    async with running(tmp_path) as app:
        answer = await app.request("session/attach", TestFront(), sessionId=session)
        assert (answer["model"], answer["mode"]) == ("other", "plan")


async def test_a_turn_of_another_process_is_listed_and_shown_as_running(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, [use("Note", text="x")], say("done")) as app, running(tmp_path) as other:

        async def seen_elsewhere(session: str) -> list[bool]:
            (listed,) = (await other.request("session/list"))["sessions"]
            attached = await other.request("session/attach", TestFront(), sessionId=session, readOnly=True)
            return [listed["running"], attached["running"]]

        session = await app.new(front)
        await app.send(session, "note it", front)
        await front.until(lambda: front.asked)
        assert await seen_elsewhere(session) == [True, True]
        front.answer({"decision": "allow"})
        await front.seen("turnFinished")
        assert await seen_elsewhere(session) == [False, False]
