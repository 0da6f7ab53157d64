"""How long conversations are kept: never less than the user said, never one that is open."""

import json
import os
from pathlib import Path

import pytest

from assent.storage.lock import acquire
from assent.storage.paths import session_paths
from sessions.harness import Harness, running, say

NOW = 1_800_000_000.0
DAY = 86_400.0


def old(app: Harness, session: str, *, days: float) -> Path:
    path = session_paths(app.hub.deps.data_dir, str(app.cwd), session).transcript
    os.utime(path, (NOW - days * DAY, NOW - days * DAY))
    return path


def keep(app: Harness, days: int | None, *, project: bool = False) -> None:
    text = json.dumps({"retention": {"days": days}} if days is not None else {})
    file = app.cwd / ".assent" / "settings.json" if project else app.hub.deps.settings.user_file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


async def made(app: Harness, count: int) -> list[str]:
    found: list[str] = []
    for number in range(count):
        session = await app.new(title=f"number {number}")
        await app.send(session, "some unusual words", wait=True)
        found.append(session)
    return found


async def close(app: Harness, *sessions: str) -> None:
    for session in sessions:
        await app.request("session/close", sessionId=session)


async def test_only_what_is_older_than_the_setting_says_is_deleted_whole(tmp_path: Path) -> None:
    async with running(tmp_path, *[say("ok")] * 3, clock=lambda: NOW) as app:
        sessions = await made(app, 3)
        await close(app, *sessions)
        gone = old(app, sessions[0], days=30.01)
        old(app, sessions[1], days=29.99)
        old(app, sessions[2], days=-1)  # a clock that was wrong
        assert (await app.request("session/search", query="unusual"))["sessions"]
        assert await app.hub.stored.sweep() == [], "unset keeps everything"
        keep(app, 30)
        assert await app.hub.stored.sweep() == [sessions[0]]
        assert not gone.exists() and not gone.with_suffix("").exists() and not gone.with_suffix(".lock").exists()
        left = {each["sessionId"] for each in (await app.request("session/list"))["sessions"]}
        assert left == set(sessions[1:])
        found = (await app.request("session/search", query="unusual"))["sessions"]
        assert {each["sessionId"] for each in found} == left


async def test_a_session_that_is_open_here_or_elsewhere_stays_however_old_it_is(tmp_path: Path) -> None:
    async with running(tmp_path, say("ok"), say("ok"), clock=lambda: NOW) as app:
        here, elsewhere = await made(app, 2)
        await close(app, elsewhere)
        files = [old(app, session, days=900) for session in (here, elsewhere)]
        keep(app, 1)
        lock = acquire(files[1].with_suffix(".lock"))
        assert await app.hub.stored.sweep() == []
        lock.release()
        assert await app.hub.stored.sweep() == [elsewhere]
        assert files[0].exists()


async def test_what_was_imported_lately_is_not_old(tmp_path: Path) -> None:
    async with running(tmp_path, say("ok"), clock=lambda: NOW) as app:
        (session,) = await made(app, 1)
        await close(app, session)
        path = old(app, session, days=400)
        lines = path.read_bytes().split(b"\n")
        path.write_bytes(
            b"\n".join([json.dumps({**json.loads(lines[0]), "importedAt": NOW - DAY}).encode(), *lines[1:]])
        )
        old(app, session, days=400)
        keep(app, 30)
        assert await app.hub.stored.sweep() == []


async def test_a_project_has_no_say_in_what_is_kept(tmp_path: Path) -> None:
    async with running(tmp_path, say("ok"), clock=lambda: NOW) as app:
        (session,) = await made(app, 1)
        await close(app, session)
        old(app, session, days=400)
        app.hub.deps.trust.set(str(app.cwd), trusted=True, remember="session")
        keep(app, 1, project=True)
        app.hub.deps.roots = lambda: (str(app.cwd),)
        assert await app.hub.stored.sweep() == []


@pytest.mark.parametrize("days", ["0", '"3"', "-1", "true", "null"])
async def test_a_wrong_number_of_days_keeps_everything(tmp_path: Path, days: str) -> None:
    async with running(tmp_path, say("ok"), clock=lambda: NOW) as app:
        (session,) = await made(app, 1)
        await close(app, session)
        old(app, session, days=400)
        app.hub.deps.settings.user_file.parent.mkdir(parents=True, exist_ok=True)
        app.hub.deps.settings.user_file.write_text(f'{{"retention": {{"days": {days}}}}}')
        assert await app.hub.stored.sweep() == []
