"""Typing in VS Code while 30 hunks of the same file wait for review: how long until a key is on the screen.

Floor: the same workbench without the extension. A row of its own has the extension at work and no review. Real
workbenches and a real server; they are typed into in turn, so that what else the machine does falls on all of them.
`ASSENT_BENCH_ROUNDS` sets how often (default 12, 40 keys each).
"""

import json
import os
import subprocess
import sys
from typing import Any

from benchmarks.workbench import ROOT, prepared

Row = dict[str, Any]


def main() -> list[Row]:
    tools = prepared()
    environment = {
        **os.environ,
        "ASSENT_VSCODE_CACHE": tools.cache,
        "ASSENT_PYTHON": sys.executable,
        "ASSENT_CHROMIUM": tools.chromium,
    }
    done = subprocess.run(
        ["node", str(ROOT / "benchmarks" / "bench_typing.mjs")],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    measured: Any = json.loads(done.stdout.strip().splitlines()[-1])
    bare, idle, review = measured["bare"], measured["idle"], measured["review"]
    return [
        _row("a key under a 30-hunk review, p50; floor: no extension", review["p50"], bare["p50"]),
        _row("a key under a 30-hunk review, p95; floor: no extension", review["p95"], bare["p95"]),
        _row("a key with the extension and no review, p50", idle["p50"], bare["p50"]),
        _row("a key with the extension and no review, p95", idle["p95"], bare["p95"]),
        _row("window's main thread, a key under a 30-hunk review", review["work"], bare["work"]),
        _row("window's main thread, a key with no review", idle["work"], bare["work"]),
    ]


def _row(name: str, ours: float, floor: float) -> Row:
    return {"name": name, "ours": ours, "floor": floor, "unit": "ms", "ratio": ours / floor}
