"""Bash inside the system's real sandbox, where there is one (T5, P4)."""

from pathlib import Path

import pytest

from assent.tools import sandbox
from assent.tools.bash import Bash
from assent.tools.fence import system_fence
from toolbox import Toolbox

KIND = sandbox.available()


@pytest.fixture
def fenced(box: Toolbox) -> Toolbox:
    box.tools["Bash"] = Bash(is_read_only=lambda command, _cwd, _roots: command.startswith("cat"), fence=system_fence())
    return box


async def test_a_fenced_command_works_and_keeps_its_directory(fenced: Toolbox) -> None:
    (fenced.root / "sub").mkdir()
    assert await fenced.text("Bash", command="cd sub && echo hi > a && cat a") == "hi"
    assert fenced.state.cwd == str(fenced.root / "sub")


async def test_a_fenced_command_changes_nothing_outside(fenced: Toolbox) -> None:
    outside = Path.home() / ".assent-fence-test"
    output = await fenced.call("Bash", command=f"echo x > {outside}")
    if KIND == "none":
        outside.unlink()
    else:
        assert output.is_error
        assert not _exists(outside)


async def test_a_command_that_only_reads_writes_nowhere(fenced: Toolbox) -> None:
    output = await fenced.call("Bash", command="cat /dev/null > made")
    assert _exists(fenced.root / "made") == (KIND == "none")
    assert output.is_error == (KIND != "none")


async def test_a_fenced_command_dies_with_its_session(fenced: Toolbox) -> None:
    text = await fenced.text("Bash", command="sleep 1000 & sleep 1001 & echo started")
    assert text == "started"
    await fenced.jobs.close()
    assert not _running("sleep 1001")


def _exists(path: Path) -> bool:
    return path.exists()


def _running(words: str) -> bool:
    wanted = words.replace(" ", "\0").encode()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and wanted in (entry / "cmdline").read_bytes():
                return True
        except OSError:
            continue
    return False
