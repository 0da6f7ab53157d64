"""The keeper of a session's processes: a small program of its own, run as `python -I -S supervisor.py FD`.

It starts what the server asks for, tells when it ends, and, when the server closes the socket or dies, kills
everything that descends from it. As a subreaper it stays the ancestor of daemons that forked twice or began a session
of their own, so nothing escapes by that. Standard library only, and it imports nothing of ours: it must start fast.

On the wire: frames of a 4-byte length and JSON; a start request carries its file descriptors beside its length.
    → {"op": "start", "id", "argv", "cwd", "env"}   ← {"id", "pid"} or {"id", "error"}, later {"id", "status"}
    → {"op": "kill", "id", "signal"}                (the process group, and all that descends or is marked)
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import signal
import socket
import struct
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes longer to import than all of the above
    from typing import Any

MARKER = "ASSENT_COMMAND"
REPORT_FD = 197  # high, so that a script that opens descriptors of its own does not write over it
_LENGTH = struct.Struct("!I")
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_PATIENCE = 1.5  # seconds to spend on killing what is left


def main(fd: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.closerange(3, fd)  # what the server itself was started with is not for its commands
    os.closerange(fd + 1, 1 << 16)
    _become_subreaper()
    server = socket.socket(fileno=fd)
    os.set_inheritable(fd, False)
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    os.set_blocking(wake_read, False)
    signal.signal(signal.SIGCHLD, _nothing)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    commands: dict[int, str] = {}
    groups: set[int] = set()
    try:
        _serve(server, wake_read, commands, groups)
    except (OSError, EOFError, ValueError):
        pass  # the server is gone, or speaks nonsense: both end here
    finally:
        if sys.platform != "linux":  # no subreaper and no /proc: their process groups are all we know
            for group in groups:
                with contextlib.suppress(OSError):
                    os.killpg(group, signal.SIGKILL)
        kill_all(os.getpid())


def _serve(server: socket.socket, wake: int, commands: dict[int, str], groups: set[int]) -> None:
    import select

    poll = select.poll()
    poll.register(server, select.POLLIN)
    poll.register(wake, select.POLLIN)
    while True:
        for fd, _ in poll.poll():
            if fd == wake:
                with contextlib.suppress(BlockingIOError):
                    os.read(wake, 4096)
                _reap(server, commands)
            else:
                request, fds = _receive(server)
                try:
                    _obey(server, request, fds, commands)
                    groups.update(commands)
                finally:
                    for passed in fds:
                        os.close(passed)


def _obey(server: socket.socket, request: dict[str, Any], fds: list[int], commands: dict[int, str]) -> None:
    if request["op"] == "start":
        try:
            pid = _start(request, fds)
        except OSError as error:
            _send(server, {"id": request["id"], "error": error.strerror or str(error)})
            return
        commands[pid] = request["id"]
        _send(server, {"id": request["id"], "pid": pid})
        _reap(server, commands)  # it may have ended before it was in the table
    elif request["op"] == "kill":
        pid = next((pid for pid, name in commands.items() if name == request["id"]), None)
        kill_command(pid, request["id"], request["signal"])


def _start(request: dict[str, Any], fds: list[int]) -> int:
    os.chdir(request["cwd"])
    actions = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)]
    # Through high numbers first: a passed descriptor may itself be 1, 2 or 3.
    high = [os.dup(fd) for fd in fds]
    try:
        actions += [(os.POSIX_SPAWN_DUP2, fd, to) for to, fd in zip((1, 2, REPORT_FD), high, strict=False)]
        return os.posix_spawnp(
            request["argv"][0],
            request["argv"],
            {**request["env"], MARKER: request["id"]},
            file_actions=actions,
            setsid=True,
            setsigmask=(),
            setsigdef=(signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD),
        )
    finally:
        for fd in high:
            os.close(fd)
        os.chdir("/")


def _reap(server: socket.socket, commands: dict[int, str]) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        name = commands.pop(pid, None)
        if name is not None:
            _send(server, {"id": name, "status": os.waitstatus_to_exitcode(status)})


def kill_command(pid: int | None, name: str, number: int) -> None:
    """Signal a command's process group and all that came from it, wherever it hid."""
    parents = _parents()
    doomed: set[int] = {pid} | _descendants(parents, pid) if pid else set()
    doomed |= {other for other in parents if _marked(other, name)}
    if pid:
        with contextlib.suppress(OSError):
            os.killpg(pid, number)
    for other in doomed:
        with contextlib.suppress(OSError):
            os.kill(other, number)


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


def _receive(server: socket.socket) -> tuple[dict[str, Any], list[int]]:
    fds = array.array("i")
    head, ancillary, _, _ = server.recvmsg(_LENGTH.size, socket.CMSG_SPACE(8 * fds.itemsize), socket.MSG_WAITALL)
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    for fd in fds:
        os.set_inheritable(fd, False)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    body = b""
    while len(body) < length:
        chunk = server.recv(length - len(body))
        if not chunk:
            raise EOFError
        body += chunk
    return json.loads(body), list(fds)


def _send(server: socket.socket, message: dict[str, Any]) -> None:
    body = json.dumps(message).encode()
    server.sendall(_LENGTH.pack(len(body)) + body)


def _nothing(number: int, frame: object) -> None:
    """SIGCHLD needs a handler so that the wake-up descriptor is written to."""


def _become_subreaper() -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
