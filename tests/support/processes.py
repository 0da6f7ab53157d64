"""Looking at other processes, which may end between two looks."""

import os
import select
from pathlib import Path


def alive(pid: int) -> bool:
    """One that only waits to be reaped is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for_end(pid: int) -> None:
    """Of one that need not be our child; the test's own time limit ends a wait for nothing."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        select.select([handle], [], [])  # readable once it has ended
    finally:
        os.close(handle)


def command_line(pid: int) -> list[str]:
    """Empty for one that has ended."""
    try:
        told = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    return told.rstrip(b"\0").decode(errors="replace").split("\0")


def niceness(pid: int) -> int | None:
    """None for one that has ended."""
    try:
        return os.getpriority(os.PRIO_PROCESS, pid)
    except ProcessLookupError:
        return None


def descendants(pid: int) -> list[int]:
    """Every live process below `pid`, read from /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            state, parent = stat[stat.rfind(")") + 2 :].split(" ", 2)[:2]
            if state not in "ZX":
                children.setdefault(int(parent), []).append(int(entry.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found
