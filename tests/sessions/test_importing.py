"""Conversations of Claude Code: read, never changed, and gone on with here."""

import json
from pathlib import Path

from assent.sessions.library.importing import NO_RESULT, import_all, import_one
from assent.types.blocks import Json
from permissions.test_time import bounded
from sessions.harness import TestFront, running, say

SOURCE = "0b6f2f0e-1111-2222-3333-444455556666"


def entry(uuid: str, parent: str | None, kind: str, content: object, *, at: int = 0, **more: object) -> Json:
    message: Json = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": more.pop("id", f"msg_{uuid}"), "model": "claude-opus-4-8"}
    stamp = f"2025-06-01T10:00:{at:02}.000Z"
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": stamp, "cwd": "", "message": message, **more}


def call(id: str) -> Json:
    return {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": f"echo {id}"}}


def result(id: str) -> Json:
    return {"type": "tool_result", "tool_use_id": id, "content": f"did {id}"}


def written(home: Path, cwd: Path) -> Path:
    records: list[Json] = [
        {"type": "summary", "summary": "Mending the roof", "leafUuid": "a9"},
        entry("u1", None, "user", "Mend the roof, please", at=1),
        entry("x1", "u1", "assistant", [{"type": "text", "text": "an answer that was edited away"}], at=2),
        entry("a1", "u1", "assistant", [{"type": "thinking", "thinking": "hm", "signature": "s"}], at=3, id="m1"),
        entry("a2", "a1", "assistant", [{"type": "text", "text": "Two at once."}], at=3, id="m1"),
        entry("a3", "a2", "assistant", [call("t1")], at=4, id="m1"),
        entry("a4", "a3", "assistant", [call("t2")], at=5, id="m1"),
        entry("s1", None, "user", "work of a subagent", at=5, isSidechain=True),
        entry("r1", "a3", "user", [result("t1")], at=6),
        entry("r2", "a4", "user", [result("t2")], at=7),
        entry("a5", "r2", "assistant", [{"type": "text", "text": "Now a third."}, call("t3")], at=8),
        entry("u2", "a5", "user", "stop that, what did you do?", at=9),
        entry("a9", "u2", "assistant", [{"type": "text", "text": "I mended half of it."}], at=10),
    ]
    for record in records:
        if "cwd" in record:
            record["cwd"] = str(cwd)
    lines = [json.dumps(record).encode() for record in records]
    lines.insert(5, b'{"type":"user","uuid":"broken')
    folder = home / ".claude" / "projects" / "-project"
    folder.mkdir(parents=True)
    file = folder / f"{SOURCE}.jsonl"
    file.write_bytes(b"\n".join(lines) + b"\n")
    return file


async def test_a_conversation_of_claude_code_is_read_and_gone_on_with(tmp_path: Path) -> None:  # S2
    (tmp_path / "project").mkdir()
    file = written(tmp_path, tmp_path / "project")
    before = file.read_bytes(), file.stat().st_mtime_ns
    async with running(tmp_path, say("The other half is next.")) as app:
        (done,) = import_all(file.parent.parent, app.hub.deps.data_dir, now=2e9)
        assert (done.state, done.title) == ("imported", "Mending the roof")
        assert len(done.problems) == 1 and f"{file}:6" in done.problems[0]
        (listed,) = (await app.request("session/list"))["sessions"]
        assert (listed["title"], listed["turns"], listed["cwd"]) == ("Mending the roof", 2, str(app.cwd))
        front = TestFront()
        page = await app.request("session/attach", front, sessionId=done.session_id)
        shown = json.dumps(page["messages"])
        assert "an answer that was edited away" not in shown and "subagent" not in shown and "thinking" not in shown
        await app.send(done.session_id, "and the other half?", front, wait=True)
        sent = app.model.requests[-1].messages
        words = str(sent)
        for said in ("Mend the roof, please", "Two at once.", "did t1", "did t2", NO_RESULT, "I mended half of it."):
            assert words.count(said) == 1, said
        found = await app.request("session/search", query="mended half")
        assert [each["sessionId"] for each in found["sessions"]] == [done.session_id]
        (again,) = import_all(file.parent.parent, app.hub.deps.data_dir, now=2e9)
        assert again.state == "known", "what was gone on with here is not written over"
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


def test_files_that_hold_no_conversation_are_told_and_harm_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "p"
    folder.mkdir(parents=True)
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "garbage.jsonl").write_bytes(b"\xff\xfe\n[]\n{}\n")
    (folder / "odd.jsonl").write_text(
        '{"type":"user","uuid":"u","cwd":"/p","message":{"content":[7,null,{"type":[]}]}}\n'
    )
    (folder / "loop.jsonl").write_text('{"type":"user","uuid":"u","parentUuid":"u","cwd":"relative","message":"x"}\n')
    found = import_all(tmp_path / "projects", tmp_path / "data", now=1.0)
    assert [each.state for each in found] == ["empty"] * 4
    assert not (tmp_path / "data").exists()


def test_a_conversation_whose_messages_all_lost_their_parents_is_read_in_time(tmp_path: Path) -> None:  # H16
    file = tmp_path / "projects" / "-p" / "lost.jsonl"
    file.parent.mkdir(parents=True)
    said = (
        entry(f"u{number}", f"lost{number}", "user", "hello", at=number % 60) | {"cwd": "/p"}
        for number in range(20_000)
    )
    file.write_text("".join(f"{json.dumps(record)}\n" for record in said))
    with bounded():
        done = import_one(file, tmp_path / "data", now=1.0)
    assert (done.state, done.messages) == ("imported", 20_000)
