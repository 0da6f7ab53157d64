"""When the process ends, and how: the client said exit, closed stdin, or died; within two seconds, leaving no child.

Owns the reasons and the deadline. What has to be closed (sessions, transcripts) is handed in; what cannot be closed in
time is left behind on purpose: transcripts are durable at every step, and the turn can be resumed.
"""

import asyncio
import ctypes
import logging
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

GRACE = 1.2  # seconds for an orderly end of sessions
DEADLINE = 1.8  # seconds from the first sign of the end to the last instruction, whatever is stuck by then
_POLL = 0.25
ENGINE = "assent-engine"  # how the system lists a process that runs commands for a model


class Ending:
    """Set once: why something ends, and the code that goes with it. `end` may be called from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self._lock = threading.Lock()
        self.reason = ""
        self.code = 0

    def end(self, reason: str, code: int = 0) -> None:
        with self._lock:
            if self.reason:
                return
            self.reason, self.code = reason, code
        self._arm(code)
        try:
            self._loop.call_soon_threadsafe(self._ended.set)
        except RuntimeError:
            self._loop_is_gone(code)

    async def over(self) -> None:
        await self._ended.wait()

    def _arm(self, code: int) -> None:
        """Of one connection among several: nothing depends on it."""

    def _loop_is_gone(self, code: int) -> None:
        pass


class Life(Ending):
    """Of the process: from the first sign of its end it has a deadline."""

    def _arm(self, code: int) -> None:
        # Should the loop itself be stuck, this thread is not.
        threading.Thread(target=_deadline, args=(code,), name="assent-deadline", daemon=True).start()

    def _loop_is_gone(self, code: int) -> None:
        leave(code)


def leave(code: int) -> None:
    """End the process now. Threads blocked on a client that does not read, or in an import, are not waited for."""
    kill_descendants()
    logging.shutdown()
    os._exit(code)


def watch_parent(pid: int, gone: Callable[[], None]) -> None:
    """Calls `gone`, from a thread of its own, when the process `pid` has died."""
    if sys.platform == "win32":
        return  # stdin closes with the parent there, and signal 0 would kill it

    def watch() -> None:
        _wait_for_death(pid)
        gone()

    threading.Thread(target=watch, name="assent-parent", daemon=True).start()


async def close_within(work: Callable[[], Awaitable[None]], *, seconds: float = GRACE) -> bool:
    """Run the orderly end; False when it did not finish in time or failed."""
    try:
        async with asyncio.timeout(seconds):
            await work()
    except Exception:
        return False
    return True


def be_an_engine() -> None:
    """Processes our tools leave behind become our children, so that we can still end them (Linux only).

    The name is for hosts: they refuse whoever has an engine above it (`host.peers`).
    """
    if sys.platform != "linux":
        return
    set_name, set_child_subreaper = 15, 36
    try:
        library = ctypes.CDLL(None, use_errno=True)
        library.prctl(set_child_subreaper, 1, 0, 0, 0)
        library.prctl(set_name, ENGINE.encode(), 0, 0, 0)
    except (OSError, AttributeError):
        return


async def reap_orphans(*, every: float = 10.0) -> None:
    """Adopted processes that have ended are ours to bury. Runs until cancelled.

    Whoever started a process buries it at once; what is still there at the second look has nobody else.
    """
    seen: set[int] = set()
    while sys.platform == "linux":
        await asyncio.sleep(every)
        dead = _dead_children()
        for pid in dead & seen:
            _bury(pid)
        seen = dead


def kill_descendants() -> int:
    """Kill every process below us, adopted ones too; how many there were. Called last, when nothing is waited for."""
    killed = 0
    for _ in range(5):  # a process may fork while we look; killed ones are gone from the next look
        below = _descendants(os.getpid())
        if not below:
            break
        for pid in below:
            try:
                os.kill(pid, signal.SIGKILL)
                killed += 1
            except (ProcessLookupError, PermissionError):
                continue
    return killed


def stand_back(nice: int) -> int:
    """Every process below us leaves the processor to others first; how many did so now. They cannot be called back."""
    changed = 0
    for pid in _descendants(os.getpid()):
        try:
            if os.getpriority(os.PRIO_PROCESS, pid) < nice:
                os.setpriority(os.PRIO_PROCESS, pid, nice)
                changed += 1
        except OSError:
            continue  # it has ended meanwhile
    return changed


def _descendants(root: int) -> list[int]:
    if sys.platform != "linux":
        return []
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (parent := _parent_of(entry)) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _bury(pid: int) -> None:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return  # someone did care


def _dead_children() -> set[int]:
    own = os.getpid()
    try:
        children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
    except OSError:
        return set()
    return {int(pid) for pid in children if _state_of(pid) == "Z"}


def _state_of(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def _parent_of(entry: Path) -> int | None:
    """The parent of a live process; None for zombies, which cannot be killed again, and for those gone meanwhile."""
    try:
        stat = (entry / "stat").read_bytes()
    except OSError:
        return None
    state, parent = stat[stat.rfind(b")") + 2 :].split(b" ", 2)[:2]
    return None if state in (b"Z", b"X") else int(parent)


def _deadline(code: int) -> None:
    time.sleep(DEADLINE)  # the time that is left to an orderly end; this thread outlives a loop that is stuck
    leave(code)


def _wait_for_death(pid: int) -> None:
    opener = getattr(os, "pidfd_open", None)
    if opener is not None:
        try:
            fd = opener(pid)
        except ProcessLookupError:
            return
        except OSError:
            pass  # an old kernel, or a sandbox that does not know the call
        else:
            poll = select.poll()
            poll.register(fd, select.POLLIN)
            poll.poll()
            return
    while _alive(pid):
        time.sleep(_POLL)  # without pidfd there is nothing to wait on: look now and then


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it lives, under another user
    return True
