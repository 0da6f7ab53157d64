"""The keeper of a session's processes: a small program of its own, run as `python -I -S supervisor.py FD`.

It starts what the server asks for, tells when it ends, and, when the server closes the socket or dies, kills
everything that descends from it. As a subreaper it stays the ancestor of daemons that forked twice or began a session
of their own, so nothing escapes by that. Standard library only, and it imports nothing of ours: it must start fast.

On the wire: frames of a 4-byte length and JSON; a start request carries its file descriptors beside its length.
    → {"op": "start", "id", "argv", "cwd", "env", "report", "fence"?, "scratch"?}
    ← {"id", "pid"} or {"id", "error", "unfenced"?}, later {"id", "status"}
    → {"op": "kill", "id", "signal"}   (the process group, and all that descends or is marked)

A command with a fence is forked, not spawned: its process fences itself in (`_become`) and then becomes the command, or
ends. `unfenced` says that it was the fence that failed. `scratch` is a folder of the command's own, removed with it.
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
    import signal as plain_signal
    from typing import Any
else:
    import _signal as plain_signal  # makes no enumerations of its answers, for which a fork would copy pages

MARKER = "ASSENT_COMMAND"
REPORT_FD = 197  # high, so that a script that opens descriptors of its own does not write over it
FILTER_FD = 198  # where bubblewrap finds the seccomp program
LARGEST_FILE = 16 * 1024**3
MOST_PROCESSES = 8192
_LENGTH = struct.Struct("!I")
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER, _AMBIENT, _CLEAR_ALL = 38, 22, 2, 47, 4
_RESTRICT_SELF, _CAPGET, _CAPSET = 446, {"x86_64": 125, "aarch64": 90}, {"x86_64": 126, "aarch64": 91}
_CAPABILITIES_3 = 0x20080522
_NOT_STARTED = 126
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
        kill_all(os.getpid())
        for folder in kept.scratch.values():
            remove(folder)


class Kept:
    """What the keeper keeps."""

    def __init__(self) -> None:
        self.commands: dict[int, str] = {}  # by process, its id on the wire
        self.groups: set[int] = set()
        self.starting: dict[int, int] = {}  # by process, the pipe that says why it did not begin
        self.scratch: dict[str, str] = {}  # by id, its own folder


def _serve(server: socket.socket, wake: int, kept: Kept) -> None:
    import select

    poll = select.poll()
    poll.register(server, select.POLLIN)
    poll.register(wake, select.POLLIN)
    while True:
        for fd, _ in poll.poll():
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


def _obey(server: socket.socket, request: dict[str, Any], fds: list[int], kept: Kept) -> None:
    if request["op"] == "start":
        if folder := request.get("scratch"):
            kept.scratch[request["id"]] = folder
        try:
            pid = _start(request, fds, kept.starting)
        except OSError as error:
            _send(server, {"id": request["id"], "error": error.strerror or str(error)})
            _clear(request["id"], kept.scratch)
            return
        kept.commands[pid] = request["id"]
        _send(server, {"id": request["id"], "pid": pid})
        _reap(server, kept)  # it may have ended before it was in the table
    elif request["op"] == "kill":
        pid = next((pid for pid, name in kept.commands.items() if name == request["id"]), None)
        kill_command(pid, request["id"], request["signal"])


def _start(request: dict[str, Any], fds: list[int], starting: dict[int, int]) -> int:
    # Through high numbers first: a passed descriptor may itself be 1, 2 or 3.
    high = [os.dup(fd) for fd in fds]
    try:
        places = [1, 2, REPORT_FD] if request["report"] else [1, 2]
        env = {**request["env"], MARKER: request["id"]}
        fence = request.get("fence")
        if fence is not None and fence["kind"] == "landlock":
            entry = _Entry(high[-1], bytes.fromhex(fence["filter"]), fence["capabilities"])
            return _fork(request["argv"], env, request["cwd"], dict(zip(places, high, strict=False)), entry, starting)
        if fence is not None and fence["kind"] == "filter":
            places.append(FILTER_FD)
        return _spawn(request["argv"], env, request["cwd"], dict(zip(places, high, strict=False)))
    finally:
        for fd in high:
            os.close(fd)


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
            setsigdef=_RESET,
        )
    finally:
        os.chdir("/")


_ALL_SIGNALS = plain_signal.valid_signals()
_RESET = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)


# --- a process that fences itself in ---------------------------------------------------------------------------------


def _fork(
    argv: list[str],
    env: dict[str, str],
    cwd: str,
    places: dict[int, int],
    entry: _Entry,
    starting: dict[int, int],
) -> int:
    """Fork, fence, become the command. This process has one thread, so the child may go on as plain Python does.

    Everything that can be made beforehand is made here. The child leaves by execve or _exit only. A pipe that execve
    closes says what went wrong before; it is looked at when the child has ended.
    """
    words, variables = [os.fsencode(word) for word in argv], {os.fsencode(k): os.fsencode(v) for k, v in env.items()}
    told, telling = os.pipe()
    os.set_blocking(told, False)
    before = plain_signal.pthread_sigmask(plain_signal.SIG_BLOCK, _ALL_SIGNALS)
    try:
        pid = os.fork()
        if pid == 0:
            _become(words, variables, cwd, places, entry, telling)
    except OSError:
        os.close(told)
        raise
    finally:
        plain_signal.pthread_sigmask(plain_signal.SIG_SETMASK, before)
        os.close(telling)
    starting[pid] = told
    return pid


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


def _become(
    argv: list[bytes],
    env: dict[bytes, bytes],
    cwd: str,
    places: dict[int, int],
    entry: _Entry,
    telling: int,
) -> None:
    """The child's part. Does not return."""
    step = "start"
    try:
        os.setsid()
        os.chdir(cwd)
        nothing = os.open("/dev/null", os.O_RDONLY)
        os.dup2(nothing, 0)
        for to, fd in places.items():
            os.dup2(fd, to)
        for number in _RESET:
            plain_signal.signal(number, plain_signal.SIG_DFL)
        step = "fence"
        entry.enter()
        step = "start"
        plain_signal.pthread_sigmask(plain_signal.SIG_SETMASK, ())
        os.execve(argv[0], argv, env)
    except OSError as error:
        os.write(telling, f"{step}:{error.strerror or error}".encode("utf-8", "replace"))
    except BaseException as error:
        os.write(telling, f"{step}:{error!r}".encode("utf-8", "replace"))
    finally:
        os._exit(_NOT_STARTED)


class _Entry:
    """What it takes to enter a fence, made before the fork: limits, capabilities, ruleset, filter."""

    def __init__(self, ruleset: int, filter: bytes, capabilities: int) -> None:
        import ctypes
        import resource

        self._errno = ctypes.get_errno
        libc = ctypes.CDLL(None, use_errno=True)
        self._prctl, self._syscall = libc.prctl, libc.syscall
        self._prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
        self._syscall.argtypes = [ctypes.c_long] * 3
        self._ruleset = ruleset
        self._limits = [
            (kind, (_lower(most, resource.getrlimit(kind)[1]), resource.getrlimit(kind)[1]))
            for kind, most in (
                (resource.RLIMIT_CORE, 0),
                (resource.RLIMIT_FSIZE, LARGEST_FILE),
                (resource.RLIMIT_NPROC, MOST_PROCESSES),
            )
        ]
        self._setrlimit = resource.setrlimit
        machine = os.uname().machine
        self._made: list[Any] = []  # what the addresses below point to
        self._capset: tuple[int, int, int] | None = None
        if machine in _CAPSET:
            header, data = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)()
            self._made += [header, data]
            if self._syscall(_CAPGET[machine], ctypes.addressof(header), ctypes.addressof(data)) == 0:
                kept = data[1] & capabilities
                data[:] = [kept, kept, 0, 0, 0, 0]  # effective, permitted, inheritable; then those above 31
                self._capset = (_CAPSET[machine], ctypes.addressof(header), ctypes.addressof(data))
        self._filter = 0
        if filter:
            code = ctypes.create_string_buffer(filter, len(filter))
            head = ctypes.create_string_buffer(struct.pack("@HP", len(filter) // 8, ctypes.addressof(code)))
            self._made += [code, head]
            self._filter = ctypes.addressof(head)

    def enter(self) -> None:
        for kind, limits in self._limits:
            self._setrlimit(kind, limits)
        self._prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)
        if self._capset is not None:  # with all its powers root could look into other processes
            self._must(self._syscall(*self._capset), "give up capabilities")
        self._must(self._prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "give up new privileges")
        self._must(self._syscall(_RESTRICT_SELF, self._ruleset, 0), "enter the Landlock ruleset")
        if self._filter:
            self._must(self._prctl(_SET_SECCOMP, _FILTER, self._filter, 0, 0), "load the seccomp filter")

    def _must(self, result: int, what: str) -> None:
        if result != 0:
            raise OSError(self._errno(), f"could not {what}: {os.strerror(self._errno())}")


def _lower(most: int, hard: int) -> int:
    return most if hard < 0 else min(most, hard)  # a negative one means no limit


# --- the end of a command --------------------------------------------------------------------------------------------


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
            _send(server, {"id": name, **_ended(pid, status, kept.starting)})
            _clear(name, kept.scratch)


def _clear(name: str, scratch: dict[str, str]) -> None:
    """Remove a command's folder: at once when nothing is in it, as nearly always, else in a process of its own."""
    folder = scratch.get(name)
    if folder is None or remove(folder, most=4):
        scratch.pop(name, None)
        return
    try:
        pid = os.fork()
    except OSError:
        return  # at the end of the session, then
    if pid == 0:
        try:
            remove(folder)
        finally:
            os._exit(0)


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
