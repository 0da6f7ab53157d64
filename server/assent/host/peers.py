"""Who is at the other end of a socket, as the kernel tells it. Standard library only.

A command that the model runs has the user's id and can read the user's files, the token among them. What it cannot do
is to change its ancestors: every process an engine started is below that engine, also after its parent has died, since
engines adopt orphans. So whoever has an engine above it is refused, and so is whoever cannot be looked at.
"""

import contextlib
import errno
import os
import socket
import struct
from collections.abc import Callable, Generator

ENGINE = "assent-engine"  # the name that engines give themselves: `stdio.life.be_an_engine`; a test compares
_PROC = "/proc"
_DEEPEST = 1000
_CREDENTIALS = struct.Struct("3i")
_PIDFD = 77  # SO_PEERPIDFD, since Linux 6.5; `socket` has no name for it


def credentials(connection: socket.socket) -> tuple[int, int]:
    """(process id, user id) of the other end, as of the moment it connected or listened."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(raw)
    return pid, uid


@contextlib.contextmanager
def same_process(connection: socket.socket) -> Generator[Callable[[], bool]]:
    """Asked inside: is the process at the other end still the one that connected or listened?

    A number alone may be another process's by now. Before Linux 6.5 there is nothing but the number.
    """
    try:
        fd = connection.getsockopt(socket.SOL_SOCKET, _PIDFD)
    except OSError as error:
        known = error.errno != errno.ENOPROTOOPT
        yield lambda: not known
        return
    try:
        yield lambda: _number(fd) > 0
    finally:
        os.close(fd)


def _number(fd: int) -> int:
    """The process's number; -1 once it is gone and the number is free for others."""
    with open(f"{_PROC}/self/fdinfo/{fd}", "rb") as file:  # noqa: PTH123
        return next((int(line[4:]) for line in file if line.startswith(b"Pid:")), -1)


def below_an_engine(pid: int) -> bool:
    """Whether an engine started this process, directly or not, or it is one itself. In doubt it did."""
    for _ in range(_DEEPEST):
        name, parent = _look(pid)
        if name in ("", ENGINE):
            return True
        if parent <= 0:  # the first process of all, or of this container
            return False
        pid = parent
    return True


def started_by_an_engine(pid: int) -> bool:
    """The same for a process that may be an engine."""
    name, parent = _look(pid)
    return not name or (parent > 0 and below_an_engine(parent))


def _look(pid: int) -> tuple[str, int]:
    """A process's name and its parent; no name where it cannot be looked at, or is dead."""
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as file:  # noqa: PTH123 -- pathlib is not loaded on this way
            name, _, rest = file.read(4096).rpartition(b")")
    except OSError:
        return "", 0
    fields = rest.split()
    if len(fields) < 2 or fields[0] in (b"Z", b"X"):
        return "", 0
    return name.partition(b"(")[2].decode("utf-8", "replace") or "?", int(fields[1])
