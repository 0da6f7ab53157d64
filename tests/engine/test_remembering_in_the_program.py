"""The whole program, no editor: a setting switches notes on, and they are the user's data, not the repository's (L13)."""

from __future__ import annotations

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from assent.app import App, Options, headless
from assent.cli.ask import Printer
from assent.sessions.stream.front import Call
from fakeapi import FakeApi, Reply, text

NOTE = "what was said in the latest turn"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    return tmp_path / "project"


async def send(app: App, project: Path, prompt: str) -> None:
    call = Call(front=Printer(stream=False))
    opened = await app.sessions.request("assent/session/new", {"cwd": str(project)}, call)
    wanted = {"sessionId": opened["sessionId"], "prompt": prompt, "wait": True}
    await app.sessions.request("assent/session/send", wanted, Call(front=Printer(stream=False)))


@pytest.mark.parametrize("on", [True, False])
async def test_notes_are_kept_among_the_users_data_and_read_by_the_next_session(
    project: Path, monkeypatch: pytest.MonkeyPatch, on: bool
) -> None:
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        api.when(NOTE, *[Reply(parts=(text(f"- The user wants tabs, said {n} times."),)) for n in (1, 2)] if on else [])
        api.reply(text("tabs it is"))
        api.reply(text("as before"))
        settings = {"backgroundCalls": {"memory": on}}
        async with headless(Options(interactive=False, settings=settings, source_seconds=60)) as app:
            await send(app, project, "use tabs")
            if on:
                with anyio.fail_after(60):
                    while not _notes(project):
                        await anyio.lowlevel.checkpoint()
            await send(app, project, "go on")
        first, later = (call for call in api.calls if NOTE not in call.last_text)
        assert "The user wants tabs, said 1 times." not in str(first.messages)
        assert ("The user wants tabs, said 1 times." in str(later.messages)) is on
        assert bool(_notes(project)) is on
        assert _files(project) == []


def _notes(project: Path) -> list[Path]:
    return list((project.parent / "home" / ".local" / "share" / "assent" / "memory").glob("project-*/MEMORY.md"))


def _files(folder: Path) -> list[Path]:
    return list(folder.iterdir())
