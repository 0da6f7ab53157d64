"""The format a conversation's file is in (S1), and titles by which one recognises it (S2)."""

import json
from pathlib import Path

import pytest

from assent.storage import transcript
from assent.storage.paths import session_paths
from assent.types.errors import ProtocolError
from sessions.harness import Harness, TestFront, running, say
from sessions.test_turns import Held


def file_of(app: Harness, session: str) -> Path:
    return session_paths(app.hub.deps.data_dir, str(app.cwd), session).transcript


async def conversation(app: Harness) -> tuple[str, Path]:
    session = await app.new()
    await app.send(session, "what is the answer to it all?", wait=True)
    await app.request("session/close", sessionId=session)
    return session, file_of(app, session)


async def test_a_new_file_says_its_format_and_one_that_does_not_is_of_the_first(tmp_path: Path) -> None:  # S1
    async with running(tmp_path, say("42")) as app:
        session, path = await conversation(app)
        first, second, *_ = (json.loads(line) for line in path.read_bytes().splitlines())
        assert first["type"] == "session/header" and second == {"type": "session/format", "version": transcript.FORMAT}
        assert transcript.format_of(path) == transcript.FORMAT
        fork = (await app.request("session/fork", sessionId=session))["sessionId"]
        assert transcript.format_of(file_of(app, fork)) == transcript.FORMAT
    old = tmp_path / "old.jsonl"
    old.write_bytes(b'{"type":"session/header","version":1}\n{"type":"user","uuid":"u","content":[]}\n')
    assert transcript.format_of(old) == 1


@pytest.mark.parametrize("where", ["second line", "state", "second line torn, state whole"])
async def test_a_conversation_of_a_newer_version_is_shown_and_never_written_to(tmp_path: Path, where: str) -> None:
    async with running(tmp_path, say("42")) as app:
        session, path = await conversation(app)
        lines = path.read_bytes().splitlines(keepends=True)
        if where == "second line":
            lines[1] = b'{"type":"session/format","version":9,"new":[]}\n'
        else:
            lines[-1:] = [lines[-1], b'{"type":"session/state","format":9,"title":"From tomorrow"}\n']
        if where.startswith("second line torn"):
            lines[1] = b'{"type":"session/for\n'
        before = b"".join(lines) + b'{"type":"dream","half'
        path.write_bytes(before)
        front = TestFront()
        page = await app.request("session/attach", front, sessionId=session)
        assert page["readOnly"] is True and "newer version" in page["readOnlyReason"] and "9" in page["readOnlyReason"]
        assert [m["content"][0]["text"] for m in page["messages"]] == ["what is the answer to it all?", "42"]
        requests = {"send": {"prompt": "more"}, "rename": {"title": "mine"}, "fork": {}, "configure": {"mode": "plan"}}
        for name, params in requests.items():
            with pytest.raises(ProtocolError) as refused:
                await app.request(f"session/{name}", front, sessionId=session, **params)
            assert refused.value.kind == "unsupported" and refused.value.hint
        exported = await app.request("session/export", sessionId=session, format="markdown")
        assert "42" in exported["text"]
        assert session in [each["sessionId"] for each in (await app.request("session/list"))["sessions"]]
        assert path.read_bytes() == before
        await app.request("session/delete", sessionId=session)
        assert not path.exists()


async def test_a_session_whose_first_turn_was_cut_off_has_its_title(tmp_path: Path) -> None:  # S2
    held = Held()
    async with running(tmp_path, held) as app:
        session = await app.new()
        await app.send(session, "Mend the roof of the barn")
        await held.asked.wait()
        path = file_of(app, session)
        (listed,) = (await app.request("session/list"))["sessions"]
        assert listed["title"] == "Mend the roof of the barn"
        as_killed = path.read_bytes()
    # What a kill leaves: the file as it was, and an index that has only heard of a new session, or nothing at all.
    path.write_bytes(as_killed)
    index = path.parent.parent / "index.jsonl"
    line = {"session_id": session, "cwd": str(tmp_path / "project"), "updated_at": 1.0, "folder": path.parent.name}
    for said in (json.dumps(line) + "\n", ""):
        index.write_text(said)
        async with running(tmp_path) as app:
            (listed,) = (await app.request("session/list"))["sessions"]
            assert listed["title"] == "Mend the roof of the barn"
    path.write_bytes(b"".join(line for line in as_killed.splitlines(keepends=True) if b"session/state" not in line))
    index.write_text("")
    async with running(tmp_path) as app:
        (listed,) = (await app.request("session/list"))["sessions"]
        assert listed["title"] == "Mend the roof of the barn", "also without any state, from the prompt itself"


async def test_a_prompt_that_says_little_gives_its_title_only_until_one_says_more(tmp_path: Path) -> None:
    async with running(tmp_path, *[say("ok")] * 5) as app:
        session = await app.new()
        titles: list[str] = []
        for prompt in ("hi", "go on", "Sort the invoices by date", "and the receipts of last year too"):
            await app.send(session, prompt, wait=True)
            titles.append((await app.request("session/list"))["sessions"][0]["title"])
        assert titles == ["hi", "hi", "Sort the invoices by date", "Sort the invoices by date"]
        named = await app.new()
        await app.request("session/rename", sessionId=named, title="Tax")
        await app.send(named, "Sort the invoices by date", wait=True)
        assert (await app.request("session/list"))["sessions"][0]["title"] == "Tax"
