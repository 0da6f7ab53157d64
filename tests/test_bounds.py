"""How the tests are run, by conftest.py and the bounds in pyproject.toml: shared out by files, and ended whatever they do."""

import ast
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
            await asyncio.sleep(3600)  # never waited out: the bound ends this test
        except asyncio.CancelledError:
            pass
"""
LEAVES = """\
import threading, time

def test_leaves_a_thread_behind():
    threading.Thread(target=time.sleep, args=(3600,)).start()
"""


SHARED = """\
import os, pathlib, pytest

@pytest.mark.parametrize("number", range(4))
def test_it(number):
    pathlib.Path(__file__).with_suffix(f".{os.environ['PYTEST_XDIST_WORKER']}").touch()
"""


def run(folder: Path, test: str, *options: str) -> subprocess.CompletedProcess[str]:
    """A run with our own settings and bounds, only shorter ones."""
    (folder / "pyproject.toml").write_bytes((TESTS.parent / "pyproject.toml").read_bytes())
    conftest = (TESTS / "conftest.py").read_text(encoding="utf-8").replace("GRACE = 300", "GRACE = 10")
    (folder / "conftest.py").write_text(conftest, encoding="utf-8")
    (folder / "test_it.py").write_text(test)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--timeout",
        "4",
        *(options or ("test_it.py",)),
    ]
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


def test_the_tests_of_a_file_stay_together_and_so_do_all_that_build_the_extension(tmp_path: Path) -> None:
    files = ["tests/test_a.py", "tests/test_b.py", "tests/vscode/test_c.py", "tests/vscode/test_d.py"]
    (tmp_path / "tests" / "vscode").mkdir(parents=True)
    for name in files:
        (tmp_path / name).write_text(SHARED)
    assert "16 passed" in run(tmp_path, "", "--timeout", "60", "-n", "2", *files).stdout
    workers = {
        name: [path.suffix for path in (tmp_path / name).parent.glob(f"{Path(name).stem}.gw*")] for name in files
    }
    assert [len(each) for each in workers.values()] == [1, 1, 1, 1]
    assert workers["tests/vscode/test_c.py"] == workers["tests/vscode/test_d.py"]


def guards(source: str) -> list[tuple[int, float]]:
    """The line and the seconds of each bound of a wait that is written as a number."""
    found: list[tuple[int, float]] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            bounds = node.args[:1] if name in {"fail_after", "timeout", "wait"} else []
            bounds += [word.value for word in node.keywords if word.arg == "within"]
            found += [
                (node.lineno, bound.value)
                for bound in bounds
                if isinstance(bound, ast.Constant) and isinstance(bound.value, int | float)
            ]
    return found


def test_a_wait_is_bounded_only_against_a_hang() -> None:
    """A machine that is busy is no failure: what must be fast is measured in benchmarks/."""
    short = [
        f"{path.relative_to(TESTS)}:{line}: {seconds} s"
        for path in sorted(TESTS.rglob("*.py"))
        if path.name != "watchdog.py"  # it looks again and again, and fails nothing
        for line, seconds in guards(path.read_text())
        if 0 < seconds < 60
    ]
    assert short == []


def test_a_short_bound_would_be_found() -> None:
    source = "with anyio.fail_after(5):\n    process.wait(2.5)\n    ended(within=1)\nasync with timeout(600): pass\n"
    assert guards(source) == [(1, 5), (2, 2.5), (3, 1), (4, 600)]
