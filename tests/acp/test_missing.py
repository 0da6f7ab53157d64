"""`assent acp` where the protocol's library is not installed."""

import subprocess
import sys
from pathlib import Path

import acp
from acpclient import PATIENCE

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
