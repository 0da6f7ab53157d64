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
from assent.permissions.shell_syntax import _parser

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


def main() -> list[dict[str, Any]]:
    """The median (aim: under 1 ms) and the 99th percentile (under 10 ms), against a bare parse."""
    assert 195 <= len(COMMAND) <= 205, len(COMMAND)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "ws")
        (root / "src").mkdir(parents=True)
        (root / "README.md").write_text("hello\n")
        context = PermissionContext(
            cwd=str(root), home=folder, roots=(str(root),), rules=RuleSet.from_settings({"user": RULES})
        )
        action = action_for("Bash", {"command": COMMAND})
        parser, data = _parser(), COMMAND.encode()
        decided = _timed(lambda: decide(action, context))
        floor = _timed(lambda: parser.parse(data))
    median, p99 = statistics.median(decided), sorted(decided)[int(len(decided) * 0.99)]
    base = statistics.median(floor)
    return [
        {
            "name": f"{what}, 200-character command",
            "ours": ours,
            "floor": base,
            "unit": "ms",
            "ratio": ours / base,
        }
        for what, ours in (("Decision, median", median), ("Decision, p99", p99))
    ]


def _timed(run: Callable[[], object]) -> list[float]:
    for _ in range(50):
        run()
    taken: list[float] = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        taken.append((time.perf_counter() - start) * 1000)
    return taken


if __name__ == "__main__":
    for result in main():
        print(result)
