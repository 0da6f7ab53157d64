"""Worktrees: a branch and a folder of their own, entered and left (T7)."""

import subprocess
from pathlib import Path

import pytest

from toolbox import Toolbox

GIT = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]


def git(repo: Path, *arguments: str) -> None:
    subprocess.run([*GIT, *arguments], cwd=repo, check=True)


@pytest.fixture
def repo(box: Toolbox) -> Path:
    (box.root / "a.txt").write_text("a\n")
    git(box.root, "init", "-q")
    git(box.root, "add", ".")
    git(box.root, "commit", "-qm", "first")
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


@pytest.mark.parametrize("included", [False, True], ids=["its configuration", "a file that this includes"])
async def test_no_filter_that_the_repository_configures_runs(box: Toolbox, repo: Path, included: bool) -> None:
    (repo / ".gitattributes").write_text("* filter=own\n* -text\n")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "attributes")
    config = repo / ".git" / ("more" if included else "config")
    with config.open("a") as file:
        file.write('[filter "own"]\n\trequired\n')
        file.writelines(f"\t{key} = touch {repo}/ran-{key}; cat\n" for key in ("clean", "smudge", "process"))
    if included:
        git(repo, "config", "include.path", "more")
    await box.call("EnterWorktree", name="quiet")
    inside = repo / ".worktrees" / "quiet"
    assert (inside / "a.txt").read_text() == "a\n"
    (inside / "a.txt").write_text("b\n")  # git looks into a file that changed
    assert "uncommitted changes" in await box.error("ExitWorktree", remove=True)
    await box.call("ExitWorktree", remove=True, discard_changes=True)
    assert not any((repo / f"ran-{key}").exists() for key in ("clean", "smudge", "process"))


async def test_a_filter_of_the_users_own_configuration_runs(
    box: Toolbox, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text('[filter "own"]\n\tsmudge = tr a b\n')
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (repo / ".gitattributes").write_text("a.txt filter=own\n")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "attributes")
    await box.call("EnterWorktree", name="loud")
    assert (repo / ".worktrees" / "loud" / "a.txt").read_text() == "b\n"


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
