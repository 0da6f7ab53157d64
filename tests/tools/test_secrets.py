"""No child of ours has our key in its environment, whichever tool started it (T5, safety.md: Secrets).

Programs that write down the environment they were given stand in the places of rg, git, bash and bwrap. That the
server's own memory is closed to its children is shown in tests/cli/test_privacy.py.
"""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assent.tools.bash import Bash
from assent.tools.bash_output import BashOutput
from assent.tools.builtin import builtin_tools
from assent.tools.glob import Glob
from assent.tools.grep import Grep
from assent.tools.process import sandbox
from assent.tools.process.fence import Fences
from toolbox import Toolbox

KEY = "sk-ant-api03-nobody-else-may-see-this"


@pytest.fixture
async def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Toolbox, Path]]:
    """A session whose programs all write their environment into one file; and that file."""
    seen = tmp_path / "seen"
    for name in ("rg", "git", "bwrap"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\necho "[{name}]" >> {seen}\nenv >> {seen}\nexit 1\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    for name in ("ANTHROPIC_API_KEY", "ASSENT_KEY", "CLAUDE_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("A_COPY", f"Bearer {KEY}")
    root = tmp_path / "project"
    root.mkdir()
    box = Toolbox(root, tools=builtin_tools(secrets=lambda: [KEY]))
    rg = str(tmp_path / "bin" / "rg")
    for tool in (Glob(find_rg=lambda: rg), Grep(find_rg=lambda: rg), BashOutput(find_rg=lambda: rg)):
        box.tools[tool.name] = tool
    yield box, seen
    await box.jobs.close()


async def test_no_program_that_a_tool_starts_is_given_our_key(told: tuple[Toolbox, Path]) -> None:
    box, seen = told
    await box.call("Glob", pattern="*")
    await box.call("Grep", pattern="x")
    assert "git rev-parse failed" in await box.error("EnterWorktree", name="a")
    await box.call("Bash", command=f"echo '[bash]' >> {seen}; env >> {seen}")
    await box.call("Bash", command=f"echo '[job]' >> {seen}; env >> {seen}", run_in_background=True)
    await box.until(lambda: all(job["state"] != "running" for job in box.jobs.list()))
    await box.call("BashOutput", bash_id=box.jobs.list()[0]["jobId"], filter="x")
    text = seen.read_text()
    assert [line for line in text.split("\n") if line.startswith("[")] == [
        "[rg]",
        "[rg]",
        "[git]",
        "[bash]",
        "[job]",
        "[rg]",
    ]
    assert KEY not in text


async def test_no_fence_is_given_our_key_when_it_is_tried_or_used(told: tuple[Toolbox, Path]) -> None:
    box, seen = told
    bwrap = str(seen.parent / "bin" / "bwrap")
    found = sandbox.FoundFences(kind="bubblewrap", bwrap=bwrap)
    assert sandbox.complaint(found) is not None
    box.tools["Bash"] = Bash(secrets=lambda: [KEY], fence=Fences(found=lambda: found).make(scope="all"))
    await box.call("Bash", command="true")
    text = seen.read_text()
    assert text.count("[bwrap]") == 2
    assert KEY not in text
