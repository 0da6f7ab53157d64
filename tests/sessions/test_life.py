"""How it all ends: nothing lost, nothing left running, and a disk that refuses is told."""

import errno
import os
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from assent.sessions.deps import PermissionFacts
from assent.storage.journal import Disk
from assent.tools.bash import Bash
from assent.tools.process.jobs import ShellJobs
from assent.types.permissions import Action, Allow, Decision
from processes import alive, wait_for_end
from sessions.harness import TestFront, running, say, use
from sessions.test_turns import Held


def allow(_action: Action, _facts: PermissionFacts) -> Decision:
    return Allow(step="rules", reason="a rule")


def jobs(_session: str, on_change: Any) -> ShellJobs:
    return ShellJobs(on_change)


async def test_leaving_ends_turns_and_children_and_keeps_everything(tmp_path: Path) -> None:
    pipe = tmp_path / "project" / "pid"
    pipe.parent.mkdir()
    os.mkfifo(pipe)  # reading it waits for the shell to write
    front = TestFront()
    bash = use("Bash", command="echo $$ > pid; exec sleep 600", run_in_background=True)
    held = Held()
    with anyio.fail_after(120):
        async with running(tmp_path, [bash], held, tools=[Bash()], decide=allow, jobs=jobs) as app:
            session = await app.new(front)
            await app.send(session, "run", front)
            job = await front.seen("job")
            assert job["state"] == "running" and "sleep" in job["command"]
            await held.asked.wait()
            pid = int(await anyio.to_thread.run_sync(pipe.read_text))
            assert alive(pid)
    await anyio.to_thread.run_sync(wait_for_end, pid)
    async with running(tmp_path) as app:
        answer = await app.request("session/attach", TestFront(), sessionId=session)
        assert answer["messages"][0]["content"][0]["text"] == "run"
        assert answer["running"] is False


async def test_a_full_disk_is_told_and_what_could_not_be_written_comes_later(tmp_path: Path) -> None:
    full = False

    def pwrite(fd: int, data: bytes, offset: int) -> int:
        if full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.pwrite(fd, data, offset)

    front = TestFront()
    async with running(tmp_path, say("one"), say("two"), disk=Disk(pwrite=pwrite)) as app:
        session = await app.new(front)
        full = True
        answer = await app.send(session, "hello", front)
        assert answer["saved"] is False
        await front.seen("turnFinished")
        assert "cannot be saved" in front.of("notice")[0]["text"] and front.of("notice")[0]["level"] == "error"
        full = False
        await app.send(session, "again", front, wait=True)
        await front.until(lambda: any("saved again" in notice["text"] for notice in front.of("notice")))
    async with running(tmp_path) as app:
        answer = await app.request("session/attach", TestFront(), sessionId=session)
        assert [m["content"][0]["text"] for m in answer["messages"]] == ["hello", "one", "again", "two"]


async def test_secrets_never_reach_the_transcript(tmp_path: Path) -> None:
    key = "sk-ant-0123456789"
    async with running(tmp_path, say(f"your key is {key}"), secrets=lambda: (key,)) as app:
        session = await app.new()
        await app.send(session, f"my key is {key}", wait=True)
        assert key.encode() not in app.hub.live[session].record.path.read_bytes()


async def test_bad_settings_are_told_with_file_and_key_and_deny_rules_hold(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path) as app:
        file = app.deps.settings.user_file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('{"maxTurns": "many", "permissions": {"deny": ["WebFetch"]}}')
        session = await app.new(front)
        assert f"{file}:1: maxTurns: must be a whole number, not a string" in [n["text"] for n in front.of("notice")]
        assert app.hub.live[session].permission_facts().settings.listed("deny") == ["WebFetch"]


async def test_settings_that_change_on_disk_count_without_a_restart(tmp_path: Path) -> None:
    front = TestFront()
    note = [use("Note", text="milk")]
    async with running(tmp_path, note, say("one"), note, say("two")) as app:
        front.answer({"decision": "deny"})
        session = await app.new(front)
        await app.send(session, "note", front, wait=True)
        assert app.note.notes == []
        file = app.deps.settings.user_file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('{"permissions": {"allow": ["Note"]}, "typo": 1}')
        app.hub.live[session].settings_changed()
        await app.send(session, "note", front, wait=True)
        assert app.note.notes == ["milk"]
        assert any("typo" in notice["text"] for notice in front.of("notice"))
