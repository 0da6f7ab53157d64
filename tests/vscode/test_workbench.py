"""The extension in a real workbench (code-server and Chromium): see workbench/*.test.mjs for the scenes.

The scenes of a file share one workbench and run once; here each is one test. As root the tools are installed by `setup.sh`;
otherwise it uses what it finds, or says what is missing and how to get it.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SCENES = sorted((HERE / "workbench").glob("*.test.mjs"))
NAMES = [
    name
    for scenes in SCENES
    for name in re.findall(r'^scene\("([^"]+)"', scenes.read_text(encoding="utf-8"), re.MULTILINE)
]

FETCHING = 1500.0  # seconds; bounds, all of them: minutes on a quiet machine
LONGEST = 1500.0  # for one file of scenes
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

pytestmark = [pytest.mark.editor, pytest.mark.timeout(FETCHING + 2 * LONGEST + 300)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    passed: set[str]
    output: str


@pytest.fixture(scope="module")
def outcome(built: Path, package: Path) -> Outcome:
    setup = subprocess.run([HERE / "setup.sh"], capture_output=True, text=True, timeout=FETCHING, check=False)
    if setup.returncode != 0:
        pytest.fail(f"the real workbench is not available.\n{setup.stderr.strip()}", pytrace=False)
    chromium = next(filter(None, map(shutil.which, CHROMIUMS)), "")
    environment = {
        **os.environ,
        "ASSENT_VSIX": str(package),
        "ASSENT_VSCODE_CACHE": setup.stdout.strip().splitlines()[-1],
        "ASSENT_PYTHON": sys.executable,
        "ASSENT_CHROMIUM": os.environ.get("ASSENT_CHROMIUM") or chromium,
    }
    running: list[subprocess.Popen[str]] = []
    # Two at a time: a workbench mostly waits for the other programs around it.
    with ThreadPoolExecutor(max_workers=2) as players:
        try:
            output = "".join(players.map(_play, SCENES, repeat(environment), repeat(running)))
        except BaseException:  # Ctrl-C, or too late: what has begun ends, and nothing else begins
            players.shutdown(wait=False, cancel_futures=True)
            for player in running:
                _end(player)
            raise
    passed = {line.split(" - ", 1)[1].strip() for line in output.splitlines() if re.match(r"\s*ok \d+ - ", line)}
    return Outcome(passed=passed, output=output)


def _play(scenes: Path, environment: dict[str, str], running: list["subprocess.Popen[str]"]) -> str:
    """One file's scenes in a workbench of their own. When they do not end, everything they started is ended."""
    command = ["node", "--test", "--test-reporter=tap", str(scenes)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as player:
        running.append(player)
        try:
            return player.communicate(timeout=LONGEST)[0]
        except subprocess.TimeoutExpired:
            _end(player)
            return player.communicate()[0] + f"\n{scenes.name} did not end within {LONGEST} s\n"


def _end(player: "subprocess.Popen[str]") -> None:
    """With all it started: they share its process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(player.pid, signal.SIGKILL)


@pytest.mark.parametrize("name", NAMES)
def test_in_the_workbench(name: str, outcome: Outcome) -> None:
    if name not in outcome.passed:
        pytest.fail(_told(name, outcome.output), pytrace=False)


def _told(name: str, output: str) -> str:
    """What was printed of one scene: what it logged while it failed stands before its name, the failure after it."""
    failed = re.search(rf"^not ok \d+ - {re.escape(name)}$", output, re.MULTILINE)
    at = failed.start() if failed else 0
    begin, end = output.rfind("\n  ...\n", 0, at), output.find("\n  ...\n", at)
    return output[max(begin, 0) : end if end > 0 else None][-10_000:]
