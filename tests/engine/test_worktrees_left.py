"""The worktrees of agents: where none can be made, who else may make one, and that none is left (T7)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assent.extensions.hooks import Hook, InProcessHooks
from assent.tools.worktrees.worktree_records import record, sweep
from assent.types.hooks import HookCall, HookOutcome
from enginekit.copies import (
    LINES,
    git,
    in_copy,
    made_repository,
    nothing_left,
    of_worker,
    staged,
    start,
)
from fakeapi import Reply, text


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return made_repository(tmp_path / "repo")


@pytest.mark.parametrize("case", ["no repository", "no commit", "dirty submodule", "link"])
async def test_where_no_worktree_can_be_made_the_call_says_why(tmp_path: Path, case: str) -> None:
    folder = tmp_path / "repo"
    if case == "no repository":
        folder.mkdir()
        words = "needs a git repository"
    elif case == "no commit":
        folder.mkdir()
        git(folder, "init", "-q")
        words = "has no commit yet"
    elif case == "link":
        made_repository(folder)
        (folder / ".worktrees").symlink_to(tmp_path)
        words = "symbolic link"
    else:
        made_repository(tmp_path / "inner")
        made_repository(folder)
        git(folder, "submodule", "--quiet", "add", str(tmp_path / "inner"), "inner")
        git(folder, "commit", "-qm", "with it")
        (folder / "inner" / "a.txt").write_text("changed\n")
        words = "Submodules hold changes that a worktree cannot show: inner"
    async with staged(folder) as (stage, _):
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        await stage.turn()
        result = stage.api.calls[-1].tool_results["toolu_agent"]
        assert words in str(result["content"]) and result["is_error"]
        assert len(stage.api.calls) == 2  # the agent was never asked


async def test_what_a_killed_process_left_is_removed_and_what_a_living_one_has_is_not(repo: Path) -> None:
    records = repo.parent / "records"
    for name in ("dead", "alive"):
        git(repo, "worktree", "add", "-q", "--detach", f".worktrees/agent-{name}")
        (repo / ".worktrees" / f"agent-{name}" / "a.txt").write_text("half done\n")
    locks = {
        name: record(
            records,
            f"agent-{name}",
            {
                "path": str(repo / ".worktrees" / f"agent-{name}"),
                "admin": str(repo / ".git" / "worktrees" / f"agent-{name}"),
            },
        )
        for name in ("dead", "alive")
    }
    os.close(locks["dead"].fd)  # as the kernel does for a process that was killed
    assert sweep(records) == [str(repo / ".worktrees" / "agent-dead")]
    assert [each.name for each in (repo / ".worktrees").glob("agent-*")] == ["agent-alive"]
    assert "agent-dead" not in git(repo, "worktree", "list") and "agent-alive" in git(repo, "worktree", "list")
    locks["alive"].close()


def test_a_worktree_of_a_process_killed_with_kill_9_is_gone_after_the_next_start(repo: Path) -> None:
    records, place = repo.parent / "records", repo / ".worktrees" / "agent-k"
    script = (
        "import sys, subprocess; from pathlib import Path; from assent.tools.worktrees.worktree_records import make_folder, record\n"
        "repo, records = Path(sys.argv[1]), Path(sys.argv[2]); place = repo / '.worktrees' / 'agent-k'\n"
        "make_folder(place.parent)\n"
        "held = record(records, 'agent-k', {'path': str(place), 'admin': str(repo / '.git/worktrees/agent-k')})\n"
        "subprocess.run(['git', 'worktree', 'add', '-q', '--detach', str(place)], cwd=repo, check=True)\n"
        "print('open', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(repo), str(records)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None and process.stdout is not None
    with process.stdin, process.stdout:
        assert process.stdout.readline() == b"open\n"
        assert sweep(records) == [] and place.is_dir()  # its process lives
        process.kill()
        process.wait(120)
    assert sweep(records) == [str(place)]
    nothing_left(repo)


def test_a_record_that_names_something_else_removes_nothing(repo: Path) -> None:
    records = repo.parent / "records"
    for number, path in enumerate((str(repo), str(repo / "a.txt"), "/", "", "relative/.worktrees/agent-x")):
        os.close(record(records, f"agent-{number}", {"path": path, "admin": str(repo / ".git")}).fd)
    os.close(record(records, "agent-base", {"path": "", "admin": "", "base": str(repo)}).fd)
    (records / "agent-torn.json").write_text('{"path": "/')
    assert sweep(records) == []
    assert (repo / "a.txt").exists() and (repo / ".git" / "HEAD").exists()


async def test_a_hook_may_make_the_worktree_and_hears_when_it_is_done_with(repo: Path, tmp_path: Path) -> None:
    place = tmp_path / "elsewhere"
    place.mkdir()
    (place / "a.txt").write_text(LINES)
    heard: list[tuple[str, Any]] = []

    async def run(call: HookCall) -> HookOutcome:
        heard.append((call.event, call.data))
        return HookOutcome(specific={"worktreePath": str(place)} if call.event == "WorktreeCreate" else {})

    hooks = InProcessHooks()
    hooks.add(Hook(event="WorktreeCreate", run=run))
    hooks.add(Hook(event="WorktreeRemove", run=run))
    async with staged(repo, hooks=hooks) as (stage, _):
        stage.api.when(of_worker, in_copy("pwd; echo agent >> a.txt"), Reply(parts=(text("Done it."),)))
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        await stage.turn()
        assert str(place) in str(stage.api.calls[2].messages)
        assert (repo / "a.txt").read_text() == LINES + "agent\n"
        assert [event for event, _ in heard] == ["WorktreeCreate", "WorktreeRemove"]
        assert heard[0][1]["name"].startswith("agent-") and heard[1][1] == {"worktree_path": str(place)}
        assert place.exists()  # its maker's to remove


async def test_a_failing_worktree_hook_keeps_the_agent_from_starting(repo: Path) -> None:
    async def run(call: HookCall) -> HookOutcome:
        return HookOutcome(status="error", text="no room", exit_code=1)

    hooks = InProcessHooks()
    hooks.add(Hook(event="WorktreeCreate", run=run))
    async with staged(repo, hooks=hooks) as (stage, _):
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        await stage.turn()
        assert "no room" in str(stage.api.calls[-1].tool_results["toolu_agent"]["content"])
        nothing_left(repo)
