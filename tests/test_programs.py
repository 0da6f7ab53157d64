"""Which programs we start: none of the workspace's, however the PATH names it."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent import cli
from assent.types import programs


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "git"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return folder


@pytest.fixture(autouse=True)
def _own_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    yield
    programs._outside.clear()
    programs._paths.clear()


def ways_in(workspace: Path) -> list[str]:
    """Entries that lead into the workspace, or through it."""
    root = workspace.parent
    (root / "link-in").symlink_to(workspace / "bin")
    (root / "link-to-all").symlink_to(workspace)
    (workspace / "link-out").symlink_to("/usr/bin")
    (root / "link-through").symlink_to(workspace / "link-out")
    (root / "relative-link").symlink_to("workspace/bin")
    return [
        *("", ".", "bin", "./bin", "../workspace/bin", "~/bin"),
        str(workspace),
        str(workspace / "bin"),
        f"{workspace}//bin/",
        f"{workspace}/./bin/../bin",
        f"/usr/../{workspace}/bin",
        str(workspace / "not-there-yet"),
        str(root / "link-in"),
        str(root / "link-to-all" / "bin"),
        str(workspace / "link-out"),
        str(root / "link-through"),
        str(root / "relative-link"),
    ]


def test_no_entry_that_leads_into_or_through_the_workspace_is_left(workspace: Path) -> None:
    for entry in ways_in(workspace):
        path = os.pathsep.join([entry, "/usr/bin"])
        assert programs.safe_path(path, outside=[str(workspace)]) == "/usr/bin", entry


def test_a_workspace_that_is_named_by_a_link_is_the_same_workspace(workspace: Path) -> None:
    link = workspace.parent / "opened-as"
    link.symlink_to(workspace)
    for entry in (workspace / "bin", link / "bin"):
        assert programs.safe_path(f"{entry}:/usr/bin", outside=[str(link)]) == "/usr/bin"


def test_a_workspace_inside_a_repository_is_kept_out_with_the_whole_of_it(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = workspace / "packages" / "one"
    inner.mkdir(parents=True)
    path = f"{workspace}/bin:/usr/bin"
    assert programs.safe_path(path, outside=[str(inner)]) == path
    (workspace / ".git").write_text("gitdir: elsewhere\n")
    assert programs.safe_path(path, outside=[str(inner)]) == "/usr/bin"
    monkeypatch.setenv("HOME", str(workspace / "packages"))  # a home under git: the user's own programs are in it
    assert programs.safe_path(path, outside=[str(inner)]) == path


def test_a_neighbour_with_a_longer_name_is_not_the_workspace(workspace: Path) -> None:
    beside = f"{workspace}-tools/bin"
    assert programs.safe_path(beside, outside=[str(workspace)]) == beside


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert programs.safe_path(f"{tmp_path}/a:/usr/bin", outside=["/elsewhere"]).endswith("/usr/bin")


@given(st.lists(st.sampled_from(["", ".", "x/y", "/usr/bin", "/opt/a", "/opt/ab", "/opt/a/b", "/"]), max_size=6))
def test_what_is_left_is_absolute_outside_and_in_the_same_order(entries: list[str]) -> None:
    safe = programs.safe_path(os.pathsep.join(entries), outside=["/opt/a"])
    wanted = [entry for entry in entries if entry in ("/usr/bin", "/opt/ab", "/")]
    assert safe == (os.pathsep.join(wanted) or os.defpath)


def test_our_own_path_is_the_safe_one_and_the_users_is_remembered(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = f"{workspace}/bin::/usr/bin"
    monkeypatch.setenv("PATH", given)
    programs.keep_out(str(workspace))
    assert os.environ["PATH"] == "/usr/bin"
    assert programs.user_path() == given
    programs.keep_out("/elsewhere")
    assert programs.user_path() == given
    assert programs.find_program("git") != f"{workspace}/bin/git"


def test_a_second_workspace_is_kept_out_too(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = workspace.parent / "other"
    monkeypatch.setenv("PATH", f"{workspace}/bin:{other}/bin:/usr/bin")
    programs.keep_out(str(workspace))
    assert os.environ["PATH"] == f"{other}/bin:/usr/bin"
    programs.keep_out(str(other))
    assert os.environ["PATH"] == "/usr/bin"


def test_a_program_outside_that_is_a_link_into_the_workspace_is_not_found(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = workspace.parent / "tools"
    tools.mkdir()
    (tools / "only-here").symlink_to(workspace / "bin" / "git")
    monkeypatch.setenv("PATH", str(tools))
    assert programs.find_program("only-here") == str(tools / "only-here")
    programs.keep_out(str(workspace))
    assert programs.find_program("only-here") is None


def test_python_is_started_isolated(monkeypatch: pytest.MonkeyPatch) -> None:
    assert programs.python("-m", "x") == [sys.executable, "-I", "-m", "x"]
    monkeypatch.setattr("site.ENABLE_USER_SITE", True)
    monkeypatch.setattr("site.getusersitepackages", lambda: str(Path(programs.__file__).parents[2]))
    assert programs.python("-m", "x") == [sys.executable, "-E", "-P", "-m", "x"]
    monkeypatch.setenv("PYTHONUSERBASE", ".")
    assert not [name for name in programs.python_environment() if name.startswith("PYTHON")]


def test_the_program_imports_nothing_from_where_it_is_started() -> None:
    path = ["/here", "/here/lib", "", "rel", "/usr/lib/python3", "/here/.venv/lib/site-packages", "/abs"]
    kept = cli._isolate(path, here="/here", named=["", "lib", "/abs"], own="/nowhere")
    assert kept == ["/usr/lib/python3", "/here/.venv/lib/site-packages", "/abs"]
    assert cli._isolate(["/here"], here="/here", named=[], own="/here") == ["/here"]
