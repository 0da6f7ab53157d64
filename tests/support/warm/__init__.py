"""Servers that start fast: a process that has imported the program forks one for each editor that starts one.

Importing the program and the model's SDK is most of what a short scene costs. A keeper does it once for a run of
pytest; what an editor starts is `launch`, a process of its own that hands its standard streams, environment and folder
to the keeper, lives as long as the server forked for it, and ends with its exit code. Whoever ends the launcher ends
the server. Tests about the start of the program itself start the program itself.
"""

import atexit
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


def command(*arguments: str) -> list[str]:
    """What to start instead of `python -I -m assent.cli.main` with these arguments."""
    return [sys.executable, "-I", "-S", str(HERE / "launch.py"), _keeper(os.getpid()), "assent.cli.main", *arguments]


@cache
def _keeper(_owner: int) -> str:
    """The address of this process's keeper, which ends with it: its standard input is ours to close."""
    place = tempfile.TemporaryDirectory(prefix="warm-")
    address = str(Path(place.name) / "keeper")
    keeper = subprocess.Popen(
        [sys.executable, "-I", str(HERE / "keeper.py"), address], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert keeper.stdin is not None and keeper.stdout is not None
    assert keeper.stdout.readline() == b"ready\n", "the keeper did not start"

    def end() -> None:
        keeper.communicate()
        place.cleanup()

    atexit.register(end)
    return address
