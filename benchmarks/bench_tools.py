"""Search, Read and Bash against the bare thing each is built on, interleaved in one run."""

import asyncio
import itertools
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from assent.tools.builtin import builtin_tools
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.process.jobs import ShellJobs
from assent.tools.search.ripgrep import system_program
from assent.tools.tool import SessionState, ToolContext, ToolServices

FILES = 50_000
ROUNDS = 15
Row = dict[str, Any]


async def main() -> list[Row]:
    rg = system_program()
    assert rg is not None, "the benchmark compares with ripgrep"
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder:
        root = Path(folder) / "tree"
        await asyncio.to_thread(_make_tree, root)
        big = Path(folder) / "big.txt"
        big.write_text(
            "".join(f"line {number} of a rather long file that nobody reads whole\n" for number in range(170_000))
        )
        session = _Session(str(root))
        hidden = ["--no-config", "--hidden", "--glob=!.git"]
        try:
            return [
                await _row(
                    f"Grep, rare word in {FILES:,} files",
                    lambda: session.call("Grep", pattern="needle_[0-9]+"),
                    lambda: _bare([rg, *hidden, "-l", "needle_[0-9]+", "."], root),
                ),
                await _row(
                    f"Grep, lines of a common word in {FILES:,} files",
                    lambda: session.call("Grep", pattern="common 7", output_mode="content"),
                    lambda: _bare([rg, *hidden, "-n", "common 7", "."], root),
                ),
                await _row(
                    f"Glob, one name in ten of {FILES:,} files",
                    lambda: session.call("Glob", pattern="**/*.py"),
                    lambda: _bare([rg, *hidden, "--files", "-g", "*.py", "."], root),
                ),
                await _row(
                    f"Glob, all {FILES:,} files, newest first",
                    lambda: session.call("Glob", pattern="**/*"),
                    lambda: _bare([rg, *hidden, "--files", "--sortr=modified", "."], root),
                ),
                await _row(
                    "Read, 50 lines in the middle of 10 MB",
                    lambda: session.call("Read", file_path=str(big), offset=85_000, limit=50),
                    lambda: asyncio.to_thread(_slice, big, 85_000, 50),
                ),
                await _row(
                    "Bash true",
                    lambda: session.call("Bash", command="true"),
                    lambda: _bare(["bash", "-c", "true"], root),
                ),
            ]
        finally:
            await session.jobs.close()


class _Session:
    def __init__(self, cwd: str) -> None:
        self.tools = {tool.name: tool for tool in builtin_tools()}
        self.cwd = cwd
        self.jobs = ShellJobs()
        self.workspace = DiskWorkspace()

    async def call(self, name: str, **raw: Any) -> None:
        state = SessionState(cwd=self.cwd)
        ctx = ToolContext(
            session_id="b",
            tool_use_id="t",
            state=state,
            services=ToolServices(workspace=self.workspace, roots=lambda: (self.cwd,), jobs=self.jobs),
        )
        tool = self.tools[name]
        await tool.call(tool.parse(raw), ctx)


async def _row(name: str, ours: Callable[[], Awaitable[None]], floor: Callable[[], Awaitable[None]]) -> Row:
    """Each round runs both, taking turns at being first; the ratio is the median of the rounds' own ratios.

    Whatever else the machine does then weighs on both sides of a ratio alike, however it changes from round to round.
    """
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(ROUNDS + 1):
        for side in (0, 1) if number % 2 else (1, 0):
            began = time.perf_counter()
            await (ours, floor)[side]()
            if number:  # the first round warms the caches
                times[side].append((time.perf_counter() - began) * 1000)
    mine, bare = (statistics.median(measured) for measured in times)
    ratio = statistics.median(one / other for one, other in zip(*times, strict=True))
    return {"name": name, "ours": mine, "floor": bare, "unit": "ms", "ratio": ratio}


async def _bare(argv: list[str], cwd: Path) -> None:
    """In a thread, as the plainest program would: asyncio's own subprocesses cost more."""
    await asyncio.to_thread(subprocess.run, argv, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, check=False)


def _slice(path: Path, first: int, count: int) -> None:
    with path.open(encoding="utf-8") as file:
        list(itertools.islice(file, first, first + count))


def _make_tree(root: Path) -> None:
    for number in range(FILES):
        folder = root / f"d{number % 100}" / f"e{number // 100 % 50}"
        if number < 5000:
            folder.mkdir(parents=True, exist_ok=True)
        name = f"f{number}.py" if number % 10 == 0 else f"f{number}.txt"
        word = f"needle_{number}\n" if number % 1000 == 0 else ""
        (folder / name).write_text(f"{word}common {number % 97}\n" + "some words to fill the file with\n" * 20)
