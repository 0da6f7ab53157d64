"""What of the session's services an agent in a worktree of its own has: its memory, but not its editor (T7)."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from assent.extensions.memory import MemoryFile
from assent.tools.tool import ToolContext, ToolOutput
from assent.tools.worktrees.worktree_records import STORE_PREFIX
from enginekit import Echo
from enginekit.copies import made_repository, nothing_left, of_worker, staged, start
from enginekit.tools import TextInput
from fakeapi import Reply, text, tool
from processes import descendants

DONE = Reply(parts=(text("Done it."),))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return made_repository(tmp_path / "repo")


class Notes:
    """The user's notes of the project, and where they were looked for."""

    def __init__(self) -> None:
        self.loaded: list[str] = []
        self.touched: list[tuple[str, str]] = []

    async def load(self, cwd: str) -> list[MemoryFile]:
        self.loaded.append(cwd)
        return [MemoryFile(path=f"{cwd}/ASSENT.md", text="Use tabs.", scope="project")]

    async def nested(self, path: str, cwd: str) -> list[MemoryFile]:
        self.touched.append((path, cwd))
        return []


class Look(Echo):
    """What its caller's services are."""

    def __init__(self) -> None:
        super().__init__()
        self.editors: list[object] = []

    async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
        self.editors.append(ctx.editor)
        return await super().call(input, ctx)


async def test_an_isolated_agent_has_the_notes_of_the_original(repo: Path, tmp_path: Path) -> None:
    notes, outside = Notes(), tmp_path / "elsewhere" / "deep" / "note.txt"
    outside.parent.mkdir(parents=True)
    outside.write_text("far\n")
    async with staged(repo, memory=notes) as (stage, _):
        stage.api.when(
            of_worker,
            Reply(parts=(tool("Read", id="toolu_a", file_path="a.txt"),)),
            Reply(parts=(tool("Read", id="toolu_o", file_path=str(outside)),)),
            DONE,
        )
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        await stage.turn()
        asked = [call for call in stage.api.calls if of_worker(call)]
        assert "Use tabs." in str(asked[0].messages) and f"{repo}/ASSENT.md" in str(asked[0].messages)
        assert notes.loaded == [str(repo), str(repo)]  # of the session, and of the agent
        assert notes.touched == [(str(repo / "a.txt"), str(repo)), (str(outside), str(repo))]
        nothing_left(repo)


async def test_an_isolated_agent_of_a_session_without_notes_has_none(repo: Path) -> None:
    async with staged(repo) as (stage, _):
        stage.api.when(of_worker, DONE)
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        await stage.turn()
        (asked,) = (call for call in stage.api.calls if of_worker(call))
        assert "# Memory" not in str(asked.body["system"])


async def test_an_isolated_agent_does_not_ask_the_editor_which_knows_the_original_only(repo: Path) -> None:
    editor, look = object(), Look()
    async with staged(repo, look, editor=editor) as (stage, _):
        stage.api.when(of_worker, Reply(parts=(tool("Echo", id="toolu_i", text="in the copy"),)), DONE)
        stage.api.reply(tool("Echo", id="toolu_o", text="in the original"))
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        await stage.turn()
        assert look.log == ["in the original", "in the copy"]
        assert look.editors == [editor, None]


@pytest.mark.parametrize("known", [True, False])
async def test_the_programs_that_make_a_worktree_are_the_sessions_or_end_with_it(repo: Path, known: bool) -> None:
    """A session that runs no commands has no supervisor of its own."""
    options: dict[str, Any] = {} if known else {"jobs": None}
    before = set(descendants(os.getpid()))
    async with staged(repo, **options) as (stage, _):
        stage.api.when(of_worker, DONE, DONE)
        stage.api.reply(start("toolu_1"), start("toolu_2"))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert turn.result.subtype == "success" and sum(map(of_worker, stage.api.calls)) == 2
        left = set(descendants(os.getpid())) - before
        assert len(left) == (1 if known else 0)  # one for both agents, which the session still has
        nothing_left(repo)


async def test_nothing_is_left_of_a_worktree_that_could_not_be_made(tmp_path: Path, monkeypatch: Any) -> None:
    plain = tmp_path / "no-repository"
    plain.mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    before = set(descendants(os.getpid()))
    async with staged(plain, jobs=None) as (stage, _):
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        await stage.turn()
        assert stage.api.calls[-1].tool_results["toolu_agent"]["is_error"] is True
        assert set(descendants(os.getpid())) == before
    assert not list((tmp_path / "temporary").glob(f"{STORE_PREFIX}*"))
