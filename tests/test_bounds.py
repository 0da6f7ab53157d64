"""A run of the tests ends, whatever a test does: see conftest.py and the bounds in pyproject.toml."""

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
HANGS = """\
import asyncio, pathlib, threading, time

def test_waits_for_what_never_comes():
    threading.Event().wait()

def test_is_run_all_the_same():
    pathlib.Path("next").touch()

async def test_cannot_even_be_cancelled():
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass
"""
LEAVES = """\
import threading, time

def test_leaves_a_thread_behind():
    threading.Thread(target=time.sleep, args=(3600,)).start()
"""


def run(folder: Path, test: str) -> subprocess.CompletedProcess[str]:
    """A run with our own settings and bounds, only shorter ones."""
    (folder / "pyproject.toml").write_bytes((TESTS.parent / "pyproject.toml").read_bytes())
    conftest = (TESTS / "conftest.py").read_text(encoding="utf-8").replace("GRACE = 300", "GRACE = 2")
    (folder / "conftest.py").write_text(conftest, encoding="utf-8")
    (folder / "test_it.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--timeout", "2", "test_it.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def test_a_test_that_hangs_fails_with_its_stack_and_the_run_goes_on_and_ends(tmp_path: Path) -> None:
    done = run(tmp_path, HANGS)
    assert done.returncode != 0
    assert (tmp_path / "next").exists()
    assert "test_cannot_even_be_cancelled" in done.stderr or "run_until_complete" in done.stderr


def test_a_thread_left_behind_does_not_hold_the_run(tmp_path: Path) -> None:
    done = run(tmp_path, LEAVES)
    assert done.returncode != 0
    assert "1 passed" in done.stdout
    assert "Timeout" in done.stderr
