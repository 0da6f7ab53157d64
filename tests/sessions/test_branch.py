"""The branch that a session tells of is read from the repository's own file, whatever stands there."""

from pathlib import Path

import pytest

from assent.sessions.live.opening import _branch  # pyright: ignore[reportPrivateUsage]
from oddfiles import ODD, put


def test_the_branch_or_the_commit_is_told(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/topic/x\n")
    assert _branch(str(tmp_path / "sub")) == "topic/x"
    (tmp_path / ".git/HEAD").write_text("0123456789abcdef0123456789abcdef01234567\n")
    assert _branch(str(tmp_path)) == "0123456789ab"


def test_a_worktree_tells_its_own_branch(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/HEAD").write_text("ref: refs/heads/x\n")
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    assert _branch(str(tmp_path)) == "x"


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("name", [".git", ".git/HEAD"])
def test_an_odd_file_in_its_place_tells_nothing_at_once(tmp_path: Path, kind: str, name: str) -> None:
    put(kind, tmp_path / name)
    assert _branch(str(tmp_path)) == ""


def test_no_other_file_is_shown_as_a_branch(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("-----BEGIN KEY")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").symlink_to("../secret")
    assert _branch(str(tmp_path)) == ""
    (tmp_path / ".git/HEAD").unlink()
    (tmp_path / ".git/HEAD").write_text("-----BEGIN KEY")
    assert _branch(str(tmp_path)) == ""
