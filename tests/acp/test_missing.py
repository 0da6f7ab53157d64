"""`assent acp` where the protocol's library is not installed."""

import subprocess
import sys
from pathlib import Path

import acp
from acpclient import COMMAND, PATIENCE, environment

ROOT = Path(__file__).parents[2]


def test_without_its_package_the_program_says_how_to_get_it(tmp_path: Path) -> None:
    packages = Path(acp.__file__).parents[1]
    for entry in packages.iterdir():
        if not entry.name.startswith(("acp", "agent_client_protocol")) and entry.suffix != ".pth":
            (tmp_path / entry.name).symlink_to(entry)
    program = f"import sys; sys.path[:0] = {[str(ROOT / 'server'), str(tmp_path)]!r}\n"
    program += "from assent.cli.main import main; sys.exit(main(['acp']))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert line == (
        "assent: ACP needs the package agent-client-protocol. "
        f"Run: {sys.executable} -m pip install agent-client-protocol"
    )


def test_the_flag_for_the_draft_says_how_to_get_a_library_that_has_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "--draft"], input="", env=environment(tmp_path, {}), capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert "needs a newer agent-client-protocol" in line and f"Run: {sys.executable} -m pip install --pre" in line
