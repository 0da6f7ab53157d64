"""What a command leaves behind: processes wherever they hid, and folders of its own.

Shared by the server and the supervisor. Standard library only, and it imports nothing of ours: the supervisor must
start fast.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time

MARKER = "ASSENT_COMMAND"
_PATIENCE = 1.5  # seconds to spend on killing what is left


def remove(folder: str, *, most: int | None = None) -> bool:
    """Remove a folder and all in it, following no link; with `most`, give up beyond so many entries.

    Folders inside folders are moved up before they are emptied, so no nesting is too deep. What a command still writes
    into it meanwhile may stay.
    """
    try:
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return True
    left = most
    number = 0
    try:
        while names := os.listdir(top):  # noqa: PTH208 -- importing pathlib would double our start-up time
            for name in names:
                if left is not None:
                    left -= 1
                    if left < 0:
                        return False
                if _unlinked(name, top):
                    continue
                inner = _opened(name, top)
                for child in os.listdir(inner):  # noqa: PTH208
                    if not _unlinked(child, inner):
                        number += 1
                        os.rename(child, f"{number}-{os.getpid()}", src_dir_fd=inner, dst_dir_fd=top)
                os.close(inner)
                os.rmdir(name, dir_fd=top)
        os.rmdir(folder)  # noqa: PTH106
    except OSError:
        return False
    finally:
        os.close(top)
    return True


def _unlinked(name: str, parent: int) -> bool:
    """False for a folder that is not empty."""
    try:
        os.unlink(name, dir_fd=parent)
    except (IsADirectoryError, PermissionError):
        try:
            os.rmdir(name, dir_fd=parent)
        except OSError:
            return False
    return True


def _opened(name: str, parent: int) -> int:
    """A folder to be emptied, also one that was made closed to its owner."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    with contextlib.suppress(PermissionError):
        return os.open(name, flags, dir_fd=parent)
    handle = os.open(name, getattr(os, "O_PATH", 0) | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    try:
        os.chmod(f"/proc/self/fd/{handle}", 0o700)  # noqa: PTH101 -- as below
    finally:
        os.close(handle)
    return os.open(name, flags, dir_fd=parent)


def emptied(folder: str, *, disposable: str = "") -> bool:
    """Is nothing in the folder, once the one file that may always go is gone? Follows no link."""
    try:
        if disposable:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{folder}/{disposable}")  # noqa: PTH108 -- as below
        return not os.listdir(folder)  # noqa: PTH208 -- importing pathlib would double our start-up time
    except OSError:
        return False


def children() -> set[int] | None:
    """The processes whose parent we are, also by inheritance; None where the system does not tell."""
    pid = os.getpid()
    try:
        return set(map(int, _read(f"/proc/{pid}/task/{pid}/children").split()))
    except (OSError, ValueError):
        return None


def kill_command(pid: int | None, name: str, number: int) -> None:
    """Signal a command's process group and all that came from it, wherever it hid."""
    doomed = _all_of(pid, name)
    if pid:
        with contextlib.suppress(OSError):
            os.killpg(pid, number)
    for other in doomed:
        with contextlib.suppress(OSError):
            os.kill(other, number)


def stand_back(pid: int | None, name: str, nice: int) -> None:
    """A command and all that came from it leave the processor to others first. They cannot be called back."""
    if pid:
        with contextlib.suppress(OSError):  # what it starts from now on has it from the beginning
            os.setpriority(os.PRIO_PROCESS, pid, max(nice, os.getpriority(os.PRIO_PROCESS, pid)))
    for other in _all_of(pid, name):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, other, max(nice, os.getpriority(os.PRIO_PROCESS, other)))


def _all_of(pid: int | None, name: str) -> set[int]:
    parents = _parents()
    found: set[int] = {pid} | _descendants(parents, pid) if pid else set()
    return found | {other for other in parents if _marked(other, name)}


def kill_all(root: int) -> None:
    """Kill every descendant of a process, again and again until none is left or patience is."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        for pid in _descendants(_parents(), root):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.005)  # signals need a moment, and nobody else is served: the session is over


def _parents() -> dict[int, int]:
    """Of each process, its parent. Empty where there is no /proc."""
    found: dict[int, int] = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):  # noqa: PTH208 -- importing pathlib would double our start-up time
            if name.isdigit():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    found[int(name)] = int(_read(f"/proc/{name}/stat").rpartition(b")")[2].split()[1])
    return found


def _descendants(parents: dict[int, int], root: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    queue = [root]
    while queue:
        for pid in children.get(queue.pop(), ()):
            if pid not in found:
                found.add(pid)
                queue.append(pid)
    return found


def _marked(pid: int, name: str) -> bool:
    try:
        return f"{MARKER}={name}".encode() in _read(f"/proc/{pid}/environ").split(b"\0")
    except OSError:
        return False


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 -- as above
        return file.read()
