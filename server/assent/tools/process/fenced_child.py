"""The process that becomes a fenced command: forked, not spawned, it fences itself in and then executes the command.

Landlock and seccomp bind the process that asks for them, so the fence is entered between fork and execve. A fork of a
Python process takes longer than the fence itself, so the supervisor forks one ahead (`Waiting`): all that is the same
for every command is done while nobody waits, and only the Landlock ruleset is entered once the command is known. The
child leaves by execve or `_exit` only and fails closed. Standard library only, and it imports nothing of ours: it runs
in the supervisor, which has one thread.
"""

from __future__ import annotations

import array
import gc
import marshal
import os
import signal
import socket
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes longer to import than all of the above
    import signal as plain_signal
    from collections.abc import Callable
else:
    import _signal as plain_signal  # makes no enumerations of its answers, for which a fork would copy pages

LARGEST_FILE = 16 * 1024**3
MOST_PROCESSES = 8192
RESET = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)
_ALL_SIGNALS = plain_signal.valid_signals()
_LENGTH = struct.Struct("!I")
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER, _AMBIENT, _CLEAR_ALL = 38, 22, 2, 47, 4
_RESTRICT_SELF, _CAPGET, _CAPSET = 446, {"x86_64": 125, "aarch64": 90}, {"x86_64": 126, "aarch64": 91}
_CAPABILITIES_3 = 0x20080522
_NOT_STARTED = 126
_MOST_DESCRIPTORS = 8
_OUT_OF_THE_WAY = 200  # above all numbers that commands are given
_HIGHEST = 1 << 16


class FencedCommand:
    """What to become. `places` are the numbers under which it gets its descriptors."""

    def __init__(self, argv: list[str], env: dict[str, str], cwd: str, places: list[int]) -> None:
        words = [os.fsencode(word) for word in argv]
        variables = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
        self.packed = marshal.dumps((words, variables, cwd, places))


class Waiting:
    """A process that has done everything but enter the ruleset, and waits to be told which command to become.

    `told` is the pipe by which it says what went wrong before the command began; execve closes its other end.
    """

    def __init__(self, *, kind: tuple[str, int], conversation: socket.socket, told: int, pid: int) -> None:
        self.kind = kind
        self.pid = pid
        self.told = told
        self._conversation = conversation

    def become(self, command: FencedCommand, fds: list[int]) -> None:
        """`fds` are for the command's places in turn, the last one is the ruleset. Raises OSError when it is gone."""
        with self._conversation as conversation:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
            conversation.sendmsg([_LENGTH.pack(len(command.packed))], rights)
            conversation.sendall(command.packed)

    def dismiss(self) -> None:
        """Without a command it ends by itself."""
        self._conversation.close()
        os.close(self.told)


def fork_waiting(kind: tuple[str, int]) -> Waiting:
    """Fork a process for commands of this kind: the seccomp program in hexadecimal digits, the capabilities kept.

    Raises OSError.
    """
    ours, theirs = socket.socketpair()
    told, telling = os.pipe()
    os.set_blocking(told, False)
    before = plain_signal.pthread_sigmask(plain_signal.SIG_BLOCK, _ALL_SIGNALS)
    try:
        pid = os.fork()
        if pid == 0:
            _wait(kind, theirs, telling)
    except OSError:
        os.close(told)
        ours.close()
        raise
    finally:
        plain_signal.pthread_sigmask(plain_signal.SIG_SETMASK, before)
        os.close(telling)
        theirs.close()
    return Waiting(kind=kind, conversation=ours, told=told, pid=pid)


def _wait(kind: tuple[str, int], conversation: socket.socket, telling: int) -> None:
    """The child's part. Does not return."""
    step = "start"
    try:
        gc.disable()  # it would write to all objects, and so copy them
        telling = _moved_up(telling)
        _close_others(conversation.fileno(), telling)
        os.setsid()
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        for number in RESET:
            plain_signal.signal(number, plain_signal.SIG_DFL)
        step = "fence"
        restrict = _prepared(bytes.fromhex(kind[0]), kind[1])
        step = "start"
        packed, fds = _received(conversation)
        if packed is None:
            os._exit(0)
        argv, env, cwd, places = marshal.loads(packed)
        os.chdir(cwd)
        for place, fd in zip(places, fds, strict=False):
            os.dup2(fd, place)
        step = "fence"
        restrict(fds[-1])
        step = "start"
        plain_signal.pthread_sigmask(plain_signal.SIG_SETMASK, ())
        os.execve(argv[0], argv, env)
    except OSError as error:
        os.write(telling, f"{step}:{error.strerror or error}".encode("utf-8", "replace"))
    except BaseException as error:
        os.write(telling, f"{step}:{error!r}".encode("utf-8", "replace"))
    finally:
        os._exit(_NOT_STARTED)


def _close_others(*kept: int) -> None:
    """While it waits it holds nothing of the supervisor: not the server's socket, no pipe of another command."""
    start = 3
    for fd in sorted(kept):
        os.closerange(start, fd)
        start = fd + 1
    os.closerange(start, _HIGHEST)


def _received(conversation: socket.socket) -> tuple[bytes | None, list[int]]:
    """The command and its descriptors; None when the supervisor is gone."""
    space = socket.CMSG_SPACE(_MOST_DESCRIPTORS * 4)
    head, ancillary, _, _ = conversation.recvmsg(_LENGTH.size, space, socket.MSG_WAITALL)
    fds = array.array("i")
    for _level, _kind, data in ancillary:
        fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    if len(head) < _LENGTH.size:
        return None, []
    (length,) = _LENGTH.unpack(head)
    body = b""
    while len(body) < length:
        chunk = conversation.recv(length - len(body))
        if not chunk:
            return None, []
        body += chunk
    return body, [_moved_up(fd) for fd in fds]


def _moved_up(fd: int) -> int:
    """The same under a number that no command's descriptor gets, closed by execve."""
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY)


def _prepared(filter: bytes, capabilities: int) -> Callable[[int], None]:
    """Set limits, give up capabilities, load the filter; gives what enters the ruleset. Raises OSError.

    The filter lets that last call and execve pass, and forbids nothing that this process still has to do.
    """
    import ctypes
    import resource

    libc = ctypes.CDLL(None, use_errno=True)
    prctl, syscall = libc.prctl, libc.syscall
    prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    syscall.argtypes = [ctypes.c_long] * 3

    def must(result: int, what: str) -> None:
        if result != 0:
            raise OSError(ctypes.get_errno(), f"could not {what}: {os.strerror(ctypes.get_errno())}")

    for limit, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, LARGEST_FILE),
        (resource.RLIMIT_NPROC, MOST_PROCESSES),
    ):
        hard = resource.getrlimit(limit)[1]
        resource.setrlimit(limit, (most if hard < 0 else min(most, hard), hard))  # a negative one means no limit
    prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    machine = os.uname().machine
    if machine in _CAPSET:  # with all its powers root could look into other processes
        header, data = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)()
        must(syscall(_CAPGET[machine], ctypes.addressof(header), ctypes.addressof(data)), "read its capabilities")
        kept = data[1] & capabilities
        data[:] = [kept, kept, 0, 0, 0, 0]  # effective, permitted, inheritable; then those above 31
        must(syscall(_CAPSET[machine], ctypes.addressof(header), ctypes.addressof(data)), "give up capabilities")
    must(prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "give up new privileges")
    if filter:
        code = ctypes.create_string_buffer(filter, len(filter))
        head = ctypes.create_string_buffer(struct.pack("@HP", len(filter) // 8, ctypes.addressof(code)))
        must(prctl(_SET_SECCOMP, _FILTER, ctypes.addressof(head), 0, 0), "load the seccomp filter")
    return lambda ruleset: must(syscall(_RESTRICT_SELF, ruleset, 0), "enter the Landlock ruleset")


def warm_up() -> None:
    """Import and make once what every child needs: what is in memory before the fork is not made after it."""
    import ctypes
    import fcntl
    import resource

    libc = ctypes.CDLL(None, use_errno=True)
    made = (fcntl, resource, libc.prctl, libc.syscall, ctypes.c_uint32 * 2, ctypes.c_uint32 * 6)
    marshal.loads(marshal.dumps(([b""], {b"": b""}, "", [len(made)])))
    gc.freeze()
