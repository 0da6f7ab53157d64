"""`make flake N=20`: the real-editor tests N times on a busy machine, and a table of what ever failed.

A suite that fails one time in twenty teaches people to run it again. Each run gets a busy loop on every core beside it.
Results are kept per commit in `.cache/flake`, so that a call that was cut short goes on where it stopped.

    python tests/flake.py RUNS [pytest arguments]    the arguments choose the tests; default: all that need an editor
"""

import multiprocessing
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHOSEN = ("-m", "editor and not torture", "tests")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    seconds: float
    passed: int
    failed: tuple[str, ...] = field(default=())

    @property
    def green(self) -> bool:
        return self.passed > 0 and not self.failed


def busy() -> None:
    """Keeps one core occupied, at the same priority as the tests."""
    while True:
        pass


def play(report: Path, chosen: tuple[str, ...]) -> Run:
    """One run under load. A run that wrote no report counts as a failure of the run itself."""
    load = [multiprocessing.Process(target=busy, daemon=True) for _ in range(os.cpu_count() or 1)]
    for process in load:
        process.start()
    try:
        command = [sys.executable, "-m", "pytest", "-n", "2", "--max-worker-restart", "0", f"--junitxml={report}"]
        subprocess.run([*command, *chosen], cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
    finally:
        for process in load:
            process.kill()
    return read(report)


def read(report: Path) -> Run:
    if not report.exists():
        return Run(seconds=0, passed=0, failed=("the run itself: it wrote no report",))
    passed, failed, seconds = 0, list[str](), 0.0
    for case in ElementTree.parse(report).iter("testcase"):
        seconds += float(case.get("time", "0"))
        if any(child.tag in ("failure", "error") for child in case):
            failed.append(f"{case.get('classname')}::{case.get('name')}")
        elif not any(child.tag == "skipped" for child in case):
            passed += 1
    return Run(seconds=seconds, passed=passed, failed=tuple(failed))


def table(runs: list[Run]) -> str:
    failures = Counter(name for run in runs for name in run.failed)
    lines = [f"{sum(run.green for run in runs)} of {len(runs)} runs green"]
    lines += [
        f"  run {number:>2}  {run.passed:>4} passed  {len(run.failed):>3} failed  {run.seconds:>7.0f} s of tests"
        for number, run in enumerate(runs, start=1)
    ]
    lines += [f"  {count:>3} of {len(runs)}  {name}" for name, count in failures.most_common()]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    wanted = int(arguments[0])
    chosen = tuple(arguments[1:]) or CHOSEN
    commit = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    folder = ROOT / ".cache" / "flake" / commit.stdout.strip()
    folder.mkdir(parents=True, exist_ok=True)
    runs: list[Run] = []
    for number in range(1, wanted + 1):
        report = folder / f"run-{number:02}.xml"
        began = time.monotonic()
        run = read(report) if report.exists() else play(report, chosen)
        runs.append(run)
        print(
            f"run {number}: {run.passed} passed, {len(run.failed)} failed, {time.monotonic() - began:.0f} s", flush=True
        )
    print(table(runs))
    return 0 if all(run.green for run in runs) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
