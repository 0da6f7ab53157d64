"""The system calls a fenced command may make, as a program for the kernel's seccomp filter.

Landlock guards files; this guards what Landlock does not know: sockets, other processes, namespaces, terminals, and for
commands that only read also modes, owners, times and attributes of files. Pure: `program` gives bytes to be loaded. A
call of another architecture kills the process; a call that is not listed here because it is newer does not exist.
"""

import errno
import os
import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _GREATER, _AT_LEAST, _SET, _AND, _SHIFT, _JUMP, _RETURN = (
    0x20,
    0x15,
    0x25,
    0x35,
    0x45,
    0x54,
    0x74,
    0x05,
    0x06,
)
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32 = 0x3FFFFFFF  # numbers above are those of x32
_NAMESPACES = 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x00020000
_NEWEST = 462  # mseal; the numbers from 424 on are the same on all architectures
_NEWER_KNOWN = (464, 465, 468)  # getxattrat, listxattrat, file_getattr: they read
_TERMINAL_TRICKS = (0x5412, 0x541C, 0x541D, 0x5423, 0x5437)  # type for another, paste, console, discipline, hang up
_TERMINAL_IOCTLS = 0x54  # the letter T: terminals, and FIONREAD, FIONBIO, FIOCLEX
_READING_IOCTLS = (0x80086601, 0x801C581F, 0xC020660B, 0x80081272)  # flags, attributes, extents, size of a device
_SETLEASE, _NOTIFY = 1024, 1026
_TRUNCATE = 0o1000
_UNIX, _STREAM, _SEQPACKET = 1, 1, 5

Block = list[tuple[int, int, int, int]]

_X86_64: Mapping[str, int] = {
    "open": 2, "ioctl": 16, "shmget": 29, "shmat": 30, "shmctl": 31, "socket": 41, "connect": 42, "accept": 43,
    "bind": 49, "listen": 50, "socketpair": 53, "clone": 56, "semget": 64, "semop": 65, "semctl": 66, "shmdt": 67,
    "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "fcntl": 72, "truncate": 76, "ftruncate": 77, "chmod": 90,
    "fchmod": 91, "chown": 92, "fchown": 93, "lchown": 94, "ptrace": 101, "syslog": 103, "utime": 132, "uselib": 134,
    "setpriority": 141, "sched_setparam": 142, "sched_setscheduler": 144, "vhangup": 153, "modify_ldt": 154,
    "pivot_root": 155, "adjtimex": 159, "chroot": 161, "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166,
    "swapon": 167, "swapoff": 168, "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173,
    "init_module": 175, "delete_module": 176, "quotactl": 179, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190,
    "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199, "sched_setaffinity": 203, "semtimedop": 220,
    "clock_settime": 227, "utimes": 235, "mq_open": 240, "mq_unlink": 241, "mq_timedsend": 242, "mq_timedreceive": 243,
    "mq_notify": 244, "mq_getsetattr": 245, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250,
    "ioprio_set": 251, "inotify_init": 253, "inotify_add_watch": 254, "migrate_pages": 256, "openat": 257,
    "fchownat": 260, "futimesat": 261, "fchmodat": 268, "unshare": 272, "move_pages": 279, "utimensat": 280,
    "accept4": 288, "inotify_init1": 294, "perf_event_open": 298, "fanotify_init": 300, "fanotify_mark": 301,
    "prlimit64": 302, "open_by_handle_at": 304, "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310,
    "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "sched_setattr": 314, "kexec_file_load": 320,
    "bpf": 321, "userfaultfd": 323,
}  # fmt: skip
_AARCH64: Mapping[str, int] = {
    "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
    "fcntl": 25, "inotify_init1": 26, "inotify_add_watch": 27, "ioctl": 29, "ioprio_set": 30, "umount2": 39,
    "mount": 40, "pivot_root": 41, "truncate": 45, "ftruncate": 46, "chroot": 51, "fchmod": 52, "fchmodat": 53,
    "fchownat": 54, "fchown": 55, "openat": 56, "vhangup": 58, "quotactl": 60, "utimensat": 88, "acct": 89,
    "unshare": 97, "kexec_load": 104, "init_module": 105, "delete_module": 106, "clock_settime": 112, "syslog": 116,
    "ptrace": 117, "sched_setparam": 118, "sched_setscheduler": 119, "sched_setaffinity": 122, "setpriority": 140,
    "reboot": 142, "sethostname": 161, "setdomainname": 162, "settimeofday": 170, "adjtimex": 171, "mq_open": 180,
    "mq_unlink": 181, "mq_timedsend": 182, "mq_timedreceive": 183, "mq_notify": 184, "mq_getsetattr": 185,
    "msgget": 186, "msgctl": 187, "msgrcv": 188, "msgsnd": 189, "semget": 190, "semctl": 191, "semtimedop": 192,
    "semop": 193, "shmget": 194, "shmctl": 195, "shmat": 196, "shmdt": 197, "socket": 198, "socketpair": 199,
    "bind": 200, "listen": 201, "accept": 202, "connect": 203, "add_key": 217, "request_key": 218, "keyctl": 219,
    "clone": 220, "swapon": 224, "swapoff": 225, "migrate_pages": 238, "move_pages": 239, "perf_event_open": 241,
    "accept4": 242, "prlimit64": 261, "fanotify_init": 262, "fanotify_mark": 263, "open_by_handle_at": 265,
    "clock_adjtime": 266, "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
    "finit_module": 273, "sched_setattr": 274, "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
}  # fmt: skip
_EVERYWHERE: Mapping[str, int] = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "clone3": 435, "openat2": 437, "pidfd_getfd": 438,
    "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443, "process_mrelease": 448, "fchmodat2": 452,
}  # fmt: skip
ARCHITECTURES: Mapping[str, tuple[int, Mapping[str, int]]] = {
    "x86_64": (0xC000003E, {**_X86_64, **_EVERYWHERE}),
    "aarch64": (0xC00000B7, {**_AARCH64, **_EVERYWHERE}),
}

_ABSENT = "io_uring_setup io_uring_enter io_uring_register clone3"  # no such call: programs have another way
_SYSTEM = """
    pidfd_getfd bpf perf_event_open userfaultfd keyctl add_key request_key open_by_handle_at
    mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick move_mount open_tree mount_setattr unshare setns
    kexec_load kexec_file_load init_module finit_module delete_module reboot swapon swapoff quotactl quotactl_fd acct
    settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname iopl ioperm syslog vhangup modify_ldt
    uselib fanotify_init fanotify_mark migrate_pages move_pages process_madvise process_mrelease
"""
"""Refused to every fenced command."""
_PROCESSES = """
    ptrace process_vm_readv process_vm_writev kcmp shmget shmat shmctl shmdt semget semop semctl semtimedop
    msgget msgsnd msgrcv msgctl mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
    inotify_init inotify_init1 inotify_add_watch
"""
_METADATA = """
    chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat
    setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr
"""
_SOCKETS = "socket connect bind listen accept accept4"
"""These three are refused to commands that only read, besides."""


def known_here() -> bool:
    """Is this machine's table of system calls among ours?"""
    return os.uname().machine in ARCHITECTURES and struct.calcsize("P") == 8


@lru_cache(maxsize=16)
def program(*, reading: bool, network: bool = False, landlock: int = 0, machine: str = "") -> bytes:
    """The filter for a command that only reads, or for one that works, with or without the network.

    `landlock` is the version of Landlock that stands beside it: before the third, truncating passed Landlock.
    """
    architecture, numbers = ARCHITECTURES[machine or os.uname().machine]
    code: Block = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_GREATER, 0, 1, _X32),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
        (_GREATER, 0, len(_NEWER_KNOWN) + 1, _NEWEST),
        *((_EQUAL, len(_NEWER_KNOWN) - place, 0, number) for place, number in enumerate(_NEWER_KNOWN)),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
    ]

    blocks: dict[int, Block] = {}  # by number, what is done about the call; each block returns

    def refuse(names: str, number: int) -> None:
        blocks.update({numbers[name]: [_fails(number)] for name in names.split() if name in numbers})

    def look(name: str, block: Block) -> None:
        if name in numbers:
            blocks[numbers[name]] = block

    refuse(_ABSENT, errno.ENOSYS)
    refuse(_SYSTEM, errno.EPERM)
    look("clone", [_argument(0), (_SET, 0, 1, _NAMESPACES), _fails(errno.EPERM), _passes()])
    look("prlimit64", _own_process())
    if reading:
        refuse(_PROCESSES, errno.EPERM)
        refuse(_METADATA, errno.EPERM)
        refuse(_SOCKETS, errno.EACCES)
        kinds = [(_AND, 0, 0, 0xF), *_one_of((_STREAM, _SEQPACKET))]
        look("socketpair", [_argument(0), (_EQUAL, 1, 0, _UNIX), _fails(errno.EACCES), _argument(1), *kinds])
        look("setpriority", _oneself(of_kind=0))
        look("ioprio_set", _oneself(of_kind=1))
        for name in ("sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"):
            look(name, _own_process())
        look("fcntl", [_argument(1), *_none_of((_SETLEASE, _NOTIFY)), _passes()])
        letter = [(_SHIFT, 0, 0, 8), (_AND, 0, 0, 0xFF), (_EQUAL, 0, 1, _TERMINAL_IOCTLS), _passes()]
        known = [*_none_of(_TERMINAL_TRICKS), *_any_of(_READING_IOCTLS), *letter]
        look("ioctl", [_argument(1), *known, _fails(errno.ENOTTY)])
        if landlock < 3:
            refuse("truncate ftruncate", errno.EACCES)
            refuse("openat2", errno.ENOSYS)
            look("open", _no_truncating_reader(1))
            look("openat", _no_truncating_reader(2))
    else:
        look("ioctl", [_argument(1), *_none_of(_TERMINAL_TRICKS), _passes()])
        if not network:
            look("socket", [_argument(0), (_EQUAL, 1, 0, _UNIX), _fails(errno.EACCES), _passes()])
    code += _searched(sorted(blocks.items()))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _searched(blocks: Sequence[tuple[int, Block]]) -> Block:
    """By halves: the kernel runs the filter for every number there is when it is loaded, so its length is time."""
    if len(blocks) <= 2:
        return [step for number, block in blocks for step in ((_EQUAL, 0, len(block), number), *block)] + [_passes()]
    middle = len(blocks) // 2
    below, above = _searched(blocks[:middle]), _searched(blocks[middle:])
    return [(_AT_LEAST, 0, 1, blocks[middle][0]), (_JUMP, 0, 0, len(below)), *below, *above]


def _argument(place: int) -> tuple[int, int, int, int]:
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * place)  # its lower half: all that the kernel looks at in these


def _passes() -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _ALLOW)


def _fails(number: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _ERRNO | number)


def _none_of(values: Iterable[int]) -> Block:
    return [step for value in values for step in ((_EQUAL, 0, 1, value), _fails(errno.EPERM))]


def _any_of(values: Iterable[int]) -> Block:
    return [step for value in values for step in ((_EQUAL, 0, 1, value), _passes())]


def _one_of(values: Sequence[int]) -> Block:
    return [*_any_of(values), _fails(errno.EACCES)]


def _own_process() -> Block:
    """Process 0 means oneself."""
    return [_argument(0), (_EQUAL, 0, 1, 0), _passes(), _fails(errno.EPERM)]


def _oneself(*, of_kind: int) -> Block:
    who: Block = [_argument(1), (_EQUAL, 0, 1, 0), _passes(), _fails(errno.EPERM)]
    return [_argument(0), (_EQUAL, 1, 0, of_kind), _fails(errno.EPERM), *who]


def _no_truncating_reader(place: int) -> Block:
    """O_TRUNC without a right to write: `> /dev/null` has that right, and Landlock asks for it."""
    plain: Block = [_argument(place), (_SET, 1, 0, _TRUNCATE), _passes(), (_AND, 0, 0, 3)]
    return [*plain, *_any_of((os.O_WRONLY, os.O_RDWR)), _fails(errno.EACCES)]
