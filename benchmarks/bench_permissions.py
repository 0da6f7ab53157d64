"""A permission decision for a 200-character command, against the floor: parsing the same text and nothing else."""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assent.permissions.actions import action_for
from assent.permissions.chain import decide
from assent.permissions.context import PermissionContext
from assent.permissions.rules import RuleSet
from assent.permissions.shell.syntax.grammar import _parser

COMMAND = (
    "cd src && grep -rn --include='*.py' 'def decide' . | head -20 && git status --short && git diff --stat HEAD~1 -- "
    "src && find . -name '*.py' -not -path './build/*' | sort | uniq -c && wc -l README.md x.txt"
)
RULES = {
    "allow": ["Bash(npm test:*)", "Bash(make:*)", "Edit(src/**)", "WebFetch(domain:example.org)"],
    "ask": ["Bash(git push:*)"],
    "deny": ["Bash(curl:*)", "Read(~/.ssh/**)", "Edit(/etc/**)"],
}
ROUNDS = 2000
SLOW_LINES = {
    "blanks in a sed script": "sed '" + " " * 9900 + "z' README.md",
    "flags of systemctl": "systemctl " + "--a " * 2400,
    "variables in an open string": 'echo "' + "$HOME" * 1900 + '\\\n"',
    "pipes": "a|" * 4900,
    "wildcards": "ls " + "*/" * 4900,
    "values": "ls " + "--a=b " * 1600,
    "quotes": "python -c '" + "\\'" * 4900 + "'",
}
"""10 KB each, made to be slow; the aim is under 50 ms."""


def deciding(folder: str | None = None) -> tuple[Callable[[], object], Callable[[], object]]:
    """A decision, and a bare parse of the same text."""
    folder = folder or tempfile.mkdtemp(prefix="assent-bench-")
    context = _context(Path(folder))
    action = action_for("Bash", {"command": COMMAND})
    parser, data = _parser(), COMMAND.encode()
    return lambda: decide(action, context), lambda: parser.parse(data)


def _context(folder: Path) -> PermissionContext:
    root = folder / "ws"
    (root / "src").mkdir(parents=True, exist_ok=True)
    (root / "README.md").write_text("hello\n")
    rules = RuleSet.from_settings({"user": RULES})
    return PermissionContext(cwd=str(root), home=str(folder), roots=(str(root),), rules=rules)


def main() -> list[dict[str, Any]]:
    """The median (aim: under 1 ms) and the 99th percentile (under 10 ms), against a bare parse."""
    assert 195 <= len(COMMAND) <= 205, len(COMMAND)
    with tempfile.TemporaryDirectory() as folder:
        decided, floor = _timed(*deciding(folder))
        context = _context(Path(folder))
        slowest = max(_once(line, context) for line in SLOW_LINES.values())
    return [
        {"name": f"{what}, 200-character command", "ours": ours, "floor": bare, "unit": "ms", "ratio": ours / bare}
        for what, ours, bare in (
            ("Decision, median", statistics.median(decided), statistics.median(floor)),
            ("Decision, p99", _p99(decided), _p99(floor)),
        )
    ] + [{"name": "Decision, slowest 10 KB line", "ours": slowest, "floor": 50.0, "unit": "ms", "ratio": slowest / 50}]


def _timed(*work: Callable[[], object]) -> list[list[float]]:
    """In turns, so that a busy machine weighs on all of them alike; in milliseconds."""
    taken: list[list[float]] = [[] for _ in work]
    for number in range(50 + ROUNDS):
        for each, times in zip(work, taken, strict=True):
            start = time.perf_counter()
            each()
            if number >= 50:  # warm
                times.append((time.perf_counter() - start) * 1000)
    return taken


def _once(line: str, context: PermissionContext) -> float:
    action = action_for("Bash", {"command": line})
    taken: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        decide(action, context)
        taken.append((time.perf_counter() - start) * 1000)
    return min(taken)


def _p99(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.99)]


if __name__ == "__main__":
    for result in main():
        print(result)
