"""The keeper of a session's processes: a small program of its own, run as `python -I -S supervisor.py FD`.

It starts what the server asks for, tells when it ends, and, when the server closes the socket or dies, kills
everything that descends from it. As a subreaper it stays the ancestor of daemons that forked twice or began a session
of their own, so nothing escapes by that. Standard library only, and of ours only the two modules beside it that keep to
the same rule: it must start fast.

On the wire: frames of a 4-byte length and JSON; a start request carries its file descriptors beside its length.
    → {"op": "start", "id", "argv", "cwd", "env", "report", "fence"?, "scratch"?}
    ← {"id", "pid"} or {"id", "error", "unfenced"?}, later {"id", "status", "spare"?}
    → {"op": "kill", "id", "signal"}   (the process group, and all that descends or is marked)

A command with a fence is forked, not spawned (`fenced_child.py`). `unfenced` says that it was the fence that failed.
`scratch` is a folder of the command's own. It is removed with the command; or it stays, empty, and `spare` says that
the next command may have it: when nothing is in it and no process is left that could still write there.
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

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes longer to import than all of the above
    from typing import Any
if TYPE_CHECKING or __name__ != "__main__":
    from assent.tools.process import fenced_child, leftovers
else:
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 -- as in `leftovers.py`
    import fenced_child
    import leftovers

REPORT_FD = 197  # high, so that a script that opens descriptors of its own does not write over it
FILTER_FD = 198  # where bubblewrap finds the seccomp program
GIT_CONFIGURATION = ".gitconfig"  # what the server puts into a scratch folder
_LENGTH = struct.Struct("!I")
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


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
    kept = Kept()
    try:
        _serve(server, wake_read, kept)
    except (OSError, EOFError, ValueError):
        pass  # the server is gone, or speaks nonsense: both end here
    finally:
        if sys.platform != "linux":  # no subreaper and no /proc: their process groups are all we know
            for group in kept.groups:
                with contextlib.suppress(OSError):
                    os.killpg(group, signal.SIGKILL)
        leftovers.kill_all(os.getpid())
        for folder in (*kept.scratch.values(), *kept.spare):
            leftovers.remove(folder)


class Kept:
    """What the keeper keeps."""

    def __init__(self) -> None:
        self.commands: dict[int, str] = {}  # by process, its id on the wire
        self.groups: set[int] = set()
        self.starting: dict[int, int] = {}  # by process, the pipe that says why it did not begin
        self.scratch: dict[str, str] = {}  # by id, its own folder
        self.spare: set[str] = set()  # folders that are empty and wait for another command
        self.waiting: fenced_child.Waiting | None = None
        self.fence: tuple[str, int] | None = None  # of the last fenced command: the next one will have the same


def _serve(server: socket.socket, wake: int, kept: Kept) -> None:
    import select

    poll = select.poll()
    poll.register(server, select.POLLIN)
    poll.register(wake, select.POLLIN)
    while True:
        for fd, _ in _polled(poll, kept):
            if fd == wake:
                with contextlib.suppress(BlockingIOError):
                    os.read(wake, 4096)
                _reap(server, kept)
            else:
                request, fds = _receive(server)
                try:
                    _obey(server, request, fds, kept)
                    kept.groups.update(kept.commands)
                finally:
                    for passed in fds:
                        os.close(passed)


def _polled(poll: Any, kept: Kept) -> list[tuple[int, int]]:
    """What there is to do. While there is nothing and no fenced command runs, a process for the next one is forked."""
    if kept.fence is not None and kept.waiting is None and not kept.starting:
        if found := poll.poll(0):
            return found
        with contextlib.suppress(OSError):
            kept.waiting = fenced_child.fork_waiting(kept.fence)
    return poll.poll()


def _obey(server: socket.socket, request: dict[str, Any], fds: list[int], kept: Kept) -> None:
    if request["op"] == "start":
        if folder := request.get("scratch"):
            kept.spare.discard(folder)
            kept.scratch[request["id"]] = folder
        try:
            pid = _start(request, fds, kept)
        except (OSError, ValueError) as error:  # a zero byte, a name that is none
            _send(server, {"id": request["id"], "error": getattr(error, "strerror", None) or str(error)})
            _clear(request["id"], kept.scratch)
            return
        kept.commands[pid] = request["id"]
        _send(server, {"id": request["id"], "pid": pid})
        _reap(server, kept)  # it may have ended before it was in the table
        return
    pid = next((pid for pid, name in kept.commands.items() if name == request["id"]), None)
    if request["op"] == "kill":
        leftovers.kill_command(pid, request["id"], request["signal"])
    elif request["op"] == "nice" and pid is not None:
        leftovers.stand_back(pid, request["id"], request["nice"])


def _start(request: dict[str, Any], fds: list[int], kept: Kept) -> int:
    places = [1, 2, REPORT_FD] if request["report"] else [1, 2]
    env = {**request["env"], leftovers.MARKER: request["id"]}
    fence = request.get("fence")
    if fence is not None and fence["kind"] == "landlock":
        command = fenced_child.FencedCommand(request["argv"], env, request["cwd"], places)
        return _fork(command, (fence["filter"], fence["capabilities"]), fds, kept)
    if fence is not None and fence["kind"] == "filter":
        places.append(FILTER_FD)
    # Through high numbers first: a passed descriptor may itself be 1, 2 or 3.
    high = [os.dup(fd) for fd in fds]
    try:
        return _spawn(request["argv"], env, request["cwd"], dict(zip(places, high, strict=False)))
    finally:
        for fd in high:
            os.close(fd)


def _fork(command: fenced_child.FencedCommand, fence: tuple[str, int], fds: list[int], kept: Kept) -> int:
    """Through the process that waits, or a new one when there is none, or it has died or is for another fence."""
    if kept.fence is None:
        fenced_child.warm_up()
    kept.fence = fence
    waiting, kept.waiting = kept.waiting, None
    if waiting is not None and waiting.kind != fence:
        waiting.dismiss()
        waiting = None
    if waiting is not None:
        try:
            waiting.become(command, fds)
        except OSError:
            os.close(waiting.told)
            waiting = None
    if waiting is None:
        waiting = fenced_child.fork_waiting(fence)
        waiting.become(command, fds)
    kept.starting[waiting.pid] = waiting.told
    return waiting.pid


def _spawn(argv: list[str], env: dict[str, str], cwd: str, places: dict[int, int]) -> int:
    os.chdir(cwd)
    try:
        return os.posix_spawnp(
            argv[0],
            argv,
            env,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                *((os.POSIX_SPAWN_DUP2, fd, to) for to, fd in places.items()),
            ],
            setsid=True,
            setsigmask=(),
            setsigdef=fenced_child.RESET,
        )
    finally:
        os.chdir("/")


def _reap(server: socket.socket, kept: Kept) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        name = kept.commands.pop(pid, None)
        if name is not None:
            ended = _ended(pid, status, kept.starting)
            if _is_spare(name, kept):
                kept.spare.add(kept.scratch.pop(name))
                ended["spare"] = True
            _send(server, {"id": name, **ended})
            _clear(name, kept.scratch)
        elif kept.waiting is not None and pid == kept.waiting.pid:
            kept.waiting.dismiss()
            kept.waiting = None


def _ended(pid: int, status: int, starting: dict[int, int]) -> dict[str, Any]:
    """How a command ended, or why it never began."""
    told = starting.pop(pid, None)
    said = b""
    if told is not None:
        with contextlib.suppress(BlockingIOError):
            said = os.read(told, 4096)
        os.close(told)
    if not said:
        return {"status": os.waitstatus_to_exitcode(status)}
    step, _, words = said.decode("utf-8", "replace").partition(":")
    return {"error": words, "unfenced": step == "fence"}


def _is_spare(name: str, kept: Kept) -> bool:
    """May the next command have this one's folder? Nothing is in it, and no process is left that could write there."""
    folder = kept.scratch.get(name)
    if folder is None or kept.commands:
        return False
    own = {kept.waiting.pid} if kept.waiting is not None else set[int]()
    return leftovers.children() in (own, set()) and leftovers.emptied(folder, disposable=GIT_CONFIGURATION)


def _clear(name: str, scratch: dict[str, str]) -> None:
    """Remove a command's folder: at once when little is in it, as nearly always, else in a process of its own."""
    folder = scratch.get(name)
    if folder is None or leftovers.remove(folder, most=4):
        scratch.pop(name, None)
        return
    try:
        pid = os.fork()
    except OSError:
        return  # at the end of the session, then
    if pid == 0:
        try:
            leftovers.remove(folder)
        finally:
            os._exit(0)


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
