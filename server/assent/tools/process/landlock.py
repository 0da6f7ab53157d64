"""Landlock rulesets: which parts of the file system a fenced command may read, run or write.

A ruleset is made here, in the server, handed to the supervisor as a descriptor, and entered by the command's process
just before it becomes the command. Making one changes nothing for the process that makes it. Rules bind to what is at
a path now, so a ruleset is made for each command: a file replaced since would be closed to an older one.
"""

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable
from functools import lru_cache

_CREATE, _ADD = 444, 445  # the same on every Linux architecture
_VERSION = 1
_PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_RULE = struct.Struct("=Qi")
_FILE_ONLY = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}  # how many there are; 16 from version 5 on

NAMES = READ_DIR
READ = READ_FILE | READ_DIR
RUN = READ | EXECUTE
DEVICE = READ_FILE | WRITE_FILE | _TRUNCATE | _IOCTL
EVERYTHING = (1 << 16) - 1
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")

Rule = tuple[str, int]


def abi_version() -> int:
    """What the kernel offers: 0 when it has no Landlock, or does not let us."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, _syscall(_CREATE, None, 0, _VERSION))


def make_ruleset(rules: Iterable[Rule], *, network: bool) -> int:
    """A descriptor of a new ruleset, which the caller closes. Raises OSError when the kernel does not give one.

    What is not there needs no rule. Outside the rules nothing can be opened; processes outside get no signal and no
    abstract socket is reached, from version 6 on.
    """
    version = abi_version()
    if version < 1:
        raise OSError("this kernel has no Landlock")
    handled = (1 << _RIGHTS.get(version, 16)) - 1
    attributes = struct.pack("QQQ", handled, 0 if network else 0b11, 0b11)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _checked(_syscall(_CREATE, attributes, size, 0), "make a Landlock ruleset")
    try:
        os.set_inheritable(ruleset, False)
        for path, access in rules:
            _permit(ruleset, path, access & handled)
    except BaseException:
        os.close(ruleset)
        raise
    return ruleset


def _permit(ruleset: int, path: str, access: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            access &= _FILE_ONLY
        if access:
            rule = _RULE.pack(access, handle)
            _checked(_syscall(_ADD, ruleset, _PATH_BENEATH, rule, 0), f"permit {path}")
    finally:
        os.close(handle)


def _syscall(number: int, first: object, second: int, third: object, last: int = 0) -> int:
    return int(_library().syscall(number, first, second, third, last))


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


def _checked(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"could not {what}: {os.strerror(ctypes.get_errno())}")
    return result
