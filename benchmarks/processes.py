"""What a program and everything it started cost, read from /proc: processor time and memory."""

import os
import resource
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """Of the process, of its descendants that live, and of those that ended and were waited for."""
    total = 0
    for each in family(pid):
        fields = _fields(each)
        if fields:
            total += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
    return total / TICKS


def cpu_clock(pid: int) -> float:
    """Seconds of processor time of one process, all its threads, to the nanosecond."""
    return time.clock_gettime((~pid << 3) | 2)


def asleep(pid: int) -> None:
    """Waits until a process that has something to do waits for others: it sleeps, and its clock stands still."""
    still, used = 0, -1.0
    while still < 5:
        now = cpu_clock(pid)
        still = still + 1 if now == used and _fields(pid)[:1] == ["S"] else 0
        used = now
        time.sleep(0.01)


def own_cpu_seconds() -> float:
    """Of this process and of its children that ended and were waited for."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))


def pss_mb(pid: int) -> float:
    """Proportional set size: memory that several processes share is counted once."""
    total = 0
    for each in family(pid):
        try:
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue  # it ended meanwhile
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * 1024 / 1e6


def family(pid: int) -> list[int]:
    """The process and all its descendants that live now."""
    numbers = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    parents = {number: _parent(number) for number in numbers}
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found


def _parent(pid: int) -> int:
    fields = _fields(pid)
    return int(fields[1]) if fields else 0


def _fields(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return []
