"""ripgrep, found and run hardened: no configuration file, no preprocessor, patterns never taken for flags.

Owns the flags that every search shares. rg runs in the folder that is searched and names files relative to it, which
spares the kernel most of its way to each. The plain-Python search in `plain_search.py` gives the same answers where no
rg is to be had.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import anyio
from anyio import to_thread

from assent.tools.process.jobs import ShellJobs
from assent.tools.process.shell_process import Keeper, Process
from assent.tools.search.ignore_rules import rules_above_exist, rules_are_sound
from assent.tools.tool import ToolContext
from assent.types.errors import ToolError
from assent.types.programs import find_program

T = TypeVar("T")

OUTPUT = 32 * 1024 * 1024  # bytes of rg's output looked at
SECONDS = 30.0
HERE = "./"  # what the names that rg gives begin with
_ROOM = 1024 * 1024
_CHUNK = 64 * 1024
_NOT_RUN = (126, 127)  # what a shell says of a program it could not start
_MEMORY_KB = 4 * 1024 * 1024
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


def system_program() -> str | None:
    """The rg of our own installation, else the system's; None where there is none."""
    return _program_for(os.environ.get("PATH", ""))


@lru_cache(maxsize=1)
def _program_for(_path: str) -> str | None:
    """Looked for again when the PATH is another: a workspace was opened that it must not lead into."""
    beside = Path(sys.executable).parent / "rg"
    return str(beside) if os.access(beside, os.X_OK) else find_program("rg")


Find = Callable[[], str | None]
MayRead = Callable[[], Callable[[str], bool] | None]
"""Begins one search, and gives the test that tells of each absolute path whether it may be shown; None: all may."""


def everything() -> None:
    """No rule keeps any file back."""


async def run(
    rg: str,
    arguments: Sequence[str],
    ctx: ToolContext,
    take: Callable[[Iterator[bytes]], T],
    *,
    folder: str,
    start: str = "",
) -> tuple[T, bool]:
    """What `take` makes of rg's output, read in a worker thread as it comes; and whether that was all of it.

    The search is below `start`, a path in `folder`, or below the folder itself; the arguments are flags and perhaps,
    after `--`, a pattern. Raises ToolError with rg's own words for a bad pattern or type.
    """
    jobs = ctx.jobs if isinstance(ctx.jobs, ShellJobs) else ShellJobs()
    keeper = jobs.keeper
    # What is above has no rules, most of the time. Told so, rg need not ask it about each file.
    flags = _FLAGS if rules_above_exist(f"{folder}/{start}") else (*_FLAGS, "--no-ignore-parent")
    if not rules_are_sound(f"{folder}/{start}"):
        flags = (*_FLAGS, "--no-ignore")
    try:
        argv = bounded([rg, *flags, *arguments, HERE + start])
        process, output = keeper.start_piped(argv, cwd=folder, env={"PATH": os.defpath, "HOME": "/nonexistent"})
        _widen(output)
        reading = _Reading(output)
        # Killing it closes the pipe, which ends the thread: what was found by then is still told.
        alarm = asyncio.get_running_loop().call_later(SECONDS, keeper.signal, process, signal.SIGKILL)
        try:
            taken = await to_thread.run_sync(reading.through, take, abandon_on_cancel=True)
            await _ended(process, keeper, complete=reading.complete)
        finally:
            alarm.cancel()
            reading.release()
            if not process.ended.is_set():
                keeper.signal(process, signal.SIGKILL)
    finally:
        if jobs is not ctx.jobs:
            with anyio.CancelScope(shield=True):
                await jobs.close()
    if process.error or process.status in _NOT_RUN:
        raise ToolError(f"The search could not be run: {process.error or f'{rg} does not start'}")
    if process.status == 2 and reading.first.startswith((b"rg: ", b"regex parse error")):
        raise ToolError(reading.first.decode("utf-8", "replace").strip())
    return taken, reading.complete and process.status in (0, 1, 2)


def bounded(argv: Sequence[str]) -> list[str]:
    """With an end to its memory: a rule file deep in the tree may be a link to a device that never ends."""
    return ["/bin/sh", "-c", f'ulimit -v {_MEMORY_KB} 2>/dev/null; exec "$@"', "sh", *argv]


def _widen(pipe: int) -> None:
    """Room for what rg finds while we look at ages, so that it need not wait for us."""
    if sys.platform == "linux":
        import fcntl  # not at the top: other systems have none

        with contextlib.suppress(OSError):  # a user's pipes are limited in all
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _ROOM)


class _Reading:
    """One end of a pipe, read by a thread that may outlive the interest in it."""

    def __init__(self, fd: int) -> None:
        self.first = b""
        self.complete = True
        self._fd = fd
        self._begun = False

    def through(self, take: Callable[[Iterator[bytes]], T]) -> T:
        self._begun = True
        try:
            return take(self._chunks())
        finally:
            os.close(self._fd)

    def release(self) -> None:
        if not self._begun:  # cancelled before a thread was free
            self._begun = True
            os.close(self._fd)

    def _chunks(self) -> Iterator[bytes]:
        total = 0
        while chunk := os.read(self._fd, _CHUNK):
            self.first = self.first or chunk
            total += len(chunk)
            yield chunk
            if total > OUTPUT:
                self.complete = False
                return


async def _ended(process: Process, keeper: Keeper, *, complete: bool) -> None:
    if not complete:
        keeper.signal(process, signal.SIGKILL)
    with anyio.move_on_after(5):
        await process.ended.wait()


def shown_path(path: str, cwd: str) -> str:
    """As the model reads it: relative to the working directory when inside it, odd bytes in it replaced."""
    return plain(path[len(cwd) + 1 :] if path.startswith(cwd + "/") else path)


def joined(folder: str, name: str) -> str:
    """The path of a name in a folder, of which only the root ends with a slash."""
    return f"{folder}{name}" if folder == "/" else f"{folder}/{name}"


def plain(text: str) -> str:
    """Text that can be sent: bytes that are no UTF-8 (kept as lone surrogates until here) become U+FFFD."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
