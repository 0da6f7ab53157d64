"""The VS Code chat page: frame time and memory while 200 deltas a second stream into 2,000 messages, and 10,000."""

import json
import subprocess
import tempfile
from typing import Any

from benchmarks.workbench import ROOT, prepared

Row = dict[str, Any]


def main() -> list[Row]:
    tools = prepared()
    script = str(ROOT / "benchmarks" / "bench_vscode.mjs")
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            ["node", script, tools.cache, scratch, tools.chromium], capture_output=True, text=True, check=True
        )
    measured: Any = json.loads(done.stdout)
    chat, long, bare = measured["chat"], measured["long"], measured["bare"]
    return [
        _row("chat page: frame time, p50", chat["p50"], bare["p50"], "ms"),
        _row("chat page: frame time, p95", chat["p95"], bare["p95"], "ms"),
        _row("chat page: frame time, p99", chat["p99"], bare["p99"], "ms"),
        _row("chat page: main thread busy with deltas", chat["busyShare"] * 100, bare["busyShare"] * 100, "%"),
        _row("chat page: 2,000 messages shown", chat["shownMs"], None, "ms"),
        _row("chat page: heap added by 2,000 messages and the stream", chat["heapMb"], None, "MB"),
        _row("chat page: rows in the DOM", chat["rows"], None, ""),
        _row("chat page, 10,000 messages: frame time, p95", long["p95"], bare["p95"], "ms"),
        _row("chat page, 10,000 messages: frame time, p99", long["p99"], bare["p99"], "ms"),
        _row("chat page, 10,000 messages: shown", long["shownMs"], None, "ms"),
        _row("chat page, 10,000 messages: heap added", long["heapMb"], None, "MB"),
        _row("chat page, 10,000 messages: rows in the DOM", long["rows"], None, ""),
    ]


def _row(name: str, ours: float, floor: float | None, unit: str) -> Row:
    return {"name": name, "ours": ours, "floor": floor, "unit": unit, "ratio": ours / floor if floor else None}
