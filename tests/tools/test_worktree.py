"""Worktrees: a branch and a folder of their own, entered and left (T7)."""

import subprocess
from pathlib import Path

import pytest

from toolbox import Toolbox

GIT = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]


@pytest.fixture
def repo(box: Toolbox) -> Path:
    (box.root / "a.txt").write_text("a\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*GIT, *command], cwd=box.root, check=True)
    return box.root


async def test_work_moves_into_a_worktree_and_back(box: Toolbox, repo: Path) -> None:
    await box.call("EnterWorktree", name="fix")
    inside = repo / ".worktrees" / "fix"
    assert box.state.worktree == box.state.cwd == str(inside)
    assert box.changes == ["worktree", "cwd"]
    assert (inside / "a.txt").read_text() == "a\n"
    assert await box.text("Bash", command="git branch --show-current; git -C ../.. status --short") == "worktree/fix"
    assert "already" in await box.error("EnterWorktree")
    await box.call("Bash", command="cd / ; cd - >/dev/null")

    (inside / "a.txt").write_text("changed\n")
    assert "uncommitted changes" in await box.error("ExitWorktree", remove=True)
    assert inside.exists()
    await box.call("ExitWorktree", remove=True, discard_changes=True)
    assert not inside.exists()
    assert (box.state.worktree, box.state.cwd) == (None, str(repo))
    assert "in no worktree" in await box.error("ExitWorktree")


async def test_a_worktree_can_be_left_standing(box: Toolbox, repo: Path) -> None:
    await box.call("EnterWorktree")
    path = box.state.cwd
    await box.call("ExitWorktree")
    assert path in {str(found) for found in (repo / ".worktrees").iterdir()}
    assert box.state.cwd == str(repo)


async def test_no_hook_of_the_repository_runs(box: Toolbox, repo: Path) -> None:
    hook = repo / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {repo}/ran\n")
    hook.chmod(0o755)
    await box.call("EnterWorktree", name="quiet")
    assert not (repo / "ran").exists()


@pytest.mark.parametrize("name", ["../out", "-b", "a b", "x.lock", "a/b", "", "."])
async def test_names_that_are_paths_or_flags_are_refused(box: Toolbox, repo: Path, name: str) -> None:
    error = await box.error("EnterWorktree", name=name) if name else "letters"
    assert "letters" in error
    assert not (repo / ".worktrees").exists()


async def test_where_there_is_no_repository_git_says_so(box: Toolbox) -> None:
    assert "not a git repository" in await box.error("EnterWorktree")


async def test_a_link_in_place_of_the_folder_is_not_followed(box: Toolbox, repo: Path, tmp_path: Path) -> None:
    (repo / ".worktrees").symlink_to(tmp_path)
    assert "symbolic link" in await box.error("EnterWorktree", name="x")
