"""ripgrep, found and run hardened: no configuration file, no preprocessor, patterns never taken for flags.

Owns the flags that every search shares, and the order of results: newest first. The plain-Python search in
`plain_search.py` gives the same answers where no rg is to be had.
"""

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import anyio

from assent.tools.jobs import ShellJobs
from assent.tools.tool import ToolContext
from assent.types.errors import ToolError

OUTPUT = 32 * 1024 * 1024  # bytes of rg's output looked at
SECONDS = 30.0
NEVER_SEARCHED = (".git", ".hg", ".svn", ".jj")
_FLAGS = (
    "--no-config",
    "--no-messages",
    "--color=never",
    "--hidden",
    "--no-require-git",
    "--no-ignore-global",
    *(f"--glob=!{name}" for name in NEVER_SEARCHED),
)


@lru_cache(maxsize=1)
def system_program() -> str | None:
    """The rg of our own installation, else the system's; None where there is none."""
    beside = Path(sys.executable).parent / "rg"
    if os.access(beside, os.X_OK):
        return str(beside)
    return shutil.which("rg", path=os.pathsep.join(p for p in os.get_exec_path() if p.startswith("/")))


Find = Callable[[], str | None]


async def run(rg: str, arguments: Sequence[str], ctx: ToolContext) -> tuple[bytes, bool]:
    """rg's output, and whether it is all of it. Raises ToolError with rg's own words for a bad pattern or type."""
    jobs = ctx.jobs if isinstance(ctx.jobs, ShellJobs) else ShellJobs()
    try:
        process = await jobs.keeper.start(
            [rg, *_FLAGS, *arguments], cwd=ctx.cwd, env={"PATH": os.defpath, "HOME": "/nonexistent"}, keep=OUTPUT
        )
        enough = anyio.Event()
        process.on_end = enough.set
        process.on_output = lambda: enough.set() if process.received > OUTPUT else None
        try:
            with anyio.move_on_after(SECONDS):
                await enough.wait()
        finally:
            if not process.ended.is_set():
                jobs.keeper.signal(process, 9)
                with anyio.CancelScope(shield=True), anyio.move_on_after(1):
                    await process.ended.wait()
    finally:
        if jobs is not ctx.jobs:
            with anyio.CancelScope(shield=True):
                await jobs.close()
    output = process.output()[:OUTPUT]
    if process.error:
        raise ToolError(f"The search could not be run: {process.error}")
    if process.status == 2 and b"\0" not in output and output.startswith((b"rg: ", b"regex parse error")):
        raise ToolError(output.decode("utf-8", "replace").strip())
    return output, process.status in (0, 1, 2)


def newest_first(paths: list[str], cwd: str) -> list[str]:
    """By the time of the last change; what vanished meanwhile goes last, equals by name."""
    stamped: list[tuple[int, str]] = []
    stat = os.stat
    prefix = cwd + "/"
    for path in paths:
        try:
            stamped.append((-stat(path if path[0] == "/" else prefix + path).st_mtime_ns, path))
        except OSError:
            stamped.append((0, path))
    stamped.sort()
    return [path for _, path in stamped]


def shown_path(path: str, cwd: str) -> str:
    """As the model reads it: relative to the working directory when inside it."""
    return path[len(cwd) + 1 :] if path.startswith(cwd + "/") else path
