"""A launcher that fences itself in and then becomes the command: Landlock, no network, resource limits.

Run as a script, on its own, with nothing but the standard library: `python -I -S landlock.py POLICY -- COMMAND…`, where
POLICY is JSON `{"writable": [path], "network": bool}`. It either runs the command inside the fence or does not run it
at all: exit status 126 and a sentence on stderr when the kernel would not cooperate.
"""

import contextlib
import ctypes
import json
import os
import resource
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same on every Linux architecture
_NO_NEW_PRIVS = 38
_DROP_CAPABILITY = 24
_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_WRITING = (0, 1, 3)  # chown, override of permissions, owner: what root's work on files takes
_CAPABILITIES = 64  # more than there are
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_FILE_ONLY = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts")
NOT_STARTED = 126
LARGEST_FILE = 16 * 1024**3
MOST_PROCESSES = 8192


def abi_version() -> int:
    """What the kernel offers: 0 when it has no Landlock."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, _syscall(_CREATE, 0, 0, 1))


def fence(*, writable: Sequence[str], network: bool) -> None:
    """Restrict this process and all it starts. Raises OSError when that is not possible; then nothing may run."""
    version = abi_version()
    if version < 1:
        raise OSError("this kernel has no Landlock")
    if not network:
        _leave_network(version)
    handled = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    net = 0b11 if not network else 0
    scoped = 0b11  # no signals and no abstract sockets to processes outside
    attributes = struct.pack("QQQ", handled, net, scoped)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    ruleset = _checked(_syscall(_CREATE, ctypes.c_char_p(attributes), len(attributes), 0), "create a ruleset")
    try:
        _permit(ruleset, "/", _READING & handled)
        for path in writable:
            _permit(ruleset, path, handled)
        for device in _DEVICES:
            _permit(ruleset, device, handled)
        libc = ctypes.CDLL(None, use_errno=True)
        if os.geteuid() == 0:  # with all its powers root could look into other processes
            for number in set(range(_CAPABILITIES)).difference(_WRITING):
                libc.prctl(_DROP_CAPABILITY, number, 0, 0, 0)  # fails for those that do not exist
        _checked(libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "give up new privileges")
        _checked(_syscall(_RESTRICT, ruleset, 0), "enter the ruleset")
    finally:
        os.close(ruleset)


def limit_resources() -> None:
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, LARGEST_FILE),
        (resource.RLIMIT_NPROC, MOST_PROCESSES),
    ):
        _soft, hard = resource.getrlimit(kind)
        lower = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (lower, hard))


def main(arguments: Sequence[str]) -> int:
    policy, command = json.loads(arguments[0]), list(arguments[2:])
    try:
        limit_resources()
        fence(writable=policy["writable"], network=policy["network"])
    except (OSError, ValueError) as error:
        sys.stderr.write(f"assent: the sandbox did not start, so the command was not run: {error}\n")
        return NOT_STARTED
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        return 127


def _leave_network(version: int) -> None:
    """An empty network namespace stops every protocol; Landlock alone only TCP, and only from version 4 on."""
    libc = ctypes.CDLL(None, use_errno=True)
    uid, gid = os.getuid(), os.getgid()
    if uid == 0 and libc.unshare(_NEW_NET) == 0:
        return
    if libc.unshare(_NEW_USER | _NEW_NET) == 0:
        with contextlib.suppress(OSError):
            Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
        return
    if version < 4:
        raise OSError("this kernel cannot cut the network off")


def _permit(ruleset: int, path: str, access: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no permission
    try:
        if not os.path.isdir(path):  # noqa: PTH112  Path is not needed in so small a program
            access &= _FILE_ONLY
        rule = struct.pack("=Qi", access, handle)
        _checked(_syscall(_ADD, ruleset, 1, ctypes.c_char_p(rule), 0), f"permit {path}")
    finally:
        os.close(handle)


def _syscall(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    return int(libc.syscall(ctypes.c_long(number), *arguments))


def _checked(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"could not {what}: {os.strerror(ctypes.get_errno())}")
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
