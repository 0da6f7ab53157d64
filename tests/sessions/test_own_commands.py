"""What the program runs for itself in a workspace goes the way of the model's own commands (Q8)."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assent.extensions.git_context import MOST_LINES, git_context
from assent.permissions.chain import decide
from assent.permissions.shell.judge import is_read_only
from assent.sessions.live.own_commands import run_unasked
from assent.tools.builtin import builtin_tools
from permissions.scratch import CANARY, Scratch, make_scratch
from toolbox import Toolbox


@pytest.fixture
def ws(tmp_path: Path) -> Scratch:
    return make_scratch(tmp_path)


async def described(ws: Scratch, *, without_bash: bool = False, **options: Any) -> str:
    """The context of a session, by the real chain and the real tool."""

    def read_only(command: str, cwd: str, roots: object) -> bool:
        return is_read_only(command, cwd, roots=(str(ws.root),), trusted=options.get("trusted", True))

    box = Toolbox(ws.root, tools=builtin_tools(is_read_only=read_only))
    tools = [tool for name, tool in box.tools.items() if name != "Bash" or not without_bash]
    context = ws.context(interactive=False, **options)
    try:
        run = partial(
            run_unasked, decide=lambda action: decide(action, context), tools=tools, context=box.context(spill=None)
        )
        return await git_context(run)
    finally:
        await box.jobs.close()


@pytest.mark.anyio
@pytest.mark.parametrize("trusted", [True, False])
async def test_the_first_prompt_knows_the_branch_the_changes_and_the_commits(ws: Scratch, trusted: bool) -> None:
    (ws.root / "a.py").write_text("changed\n")
    told = await described(ws, trusted=trusted)
    assert "## main" in told
    assert " M a.py" in told
    assert "first" in told


@pytest.mark.anyio
async def test_many_changes_are_told_in_few_lines(ws: Scratch) -> None:
    for number in range(60):
        (ws.root / f"new{number}").write_text("x")
    told = await described(ws)
    assert "more" in told
    assert len(told.splitlines()) < MOST_LINES + 8


@pytest.mark.anyio
async def test_a_repository_that_would_run_something_is_not_looked_at(ws: Scratch) -> None:
    for text in ("[core]\n\tfsmonitor = ./ev.sh\n", '[filter "x"]\n\tclean = ./ev.sh\n'):
        (ws.root / ".git/config").write_text(f"[core]\n\trepositoryformatversion = 0\n{text}")
        (ws.root / ".gitattributes").write_text("* filter=x\n")
        assert await described(ws) == ""
    assert not (ws.root / "PWNED").exists()


@pytest.mark.anyio
@pytest.mark.parametrize("entry", ["{root}/bin", "bin", "", "."])
async def test_no_git_of_the_workspace_is_started(ws: Scratch, entry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (ws.root / "bin", ws.root):
        place.mkdir(exist_ok=True)
        (place / "git").write_text(CANARY)
        (place / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{entry.format(root=ws.root)}{os.pathsep}{os.environ['PATH']}")
    assert "## main" in await described(ws)
    assert not (ws.root / "PWNED").exists()
    assert not (ws.root / "bin/PWNED").exists()


@pytest.mark.anyio
async def test_what_the_user_denies_is_not_run_by_us_either(ws: Scratch) -> None:
    assert await described(ws, deny=["Bash(git:*)"]) == ""
    assert await described(ws, ask=["Bash(git status:*)"]) == ""
    assert await described(ws, without_bash=True) == ""


@pytest.mark.anyio
async def test_where_there_is_no_repository_nothing_is_told(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    assert await described(Scratch(root=root, home=tmp_path)) == ""
