"""The seccomp program, read by a small machine of our own: what it says of each call, on both architectures."""

import errno
import struct

import pytest

from assent.tools.process.seccomp import ARCHITECTURES, program

ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000


def says(code: bytes, number: int, *arguments: int, architecture: int) -> int:
    """What the kernel would return for a call."""
    words = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, architecture, 0, *(word & (2**64 - 1) for word in words))
    steps = list(struct.iter_unpack("=HBBI", code))
    place, value = 0, 0
    while True:
        operation, yes, no, constant = steps[place]
        place += 1
        match operation:
            case 0x20:
                (value,) = struct.unpack_from("<I", data, constant)
            case 0x54:
                value &= constant
            case 0x74:
                value >>= constant
            case 0x05:
                place += constant
            case 0x06:
                return constant
            case 0x15:
                place += yes if value == constant else no
            case 0x25:
                place += yes if value > constant else no
            case 0x35:
                place += yes if value >= constant else no
            case 0x45:
                place += yes if value & constant else no
            case _:
                raise AssertionError(f"an instruction we never make: {operation:#x}")


@pytest.fixture(params=ARCHITECTURES)
def machine(request: pytest.FixtureRequest) -> str:
    return request.param


def test_what_a_reader_may_call(machine: str) -> None:
    architecture, numbers = ARCHITECTURES[machine]
    code = program(reading=True, landlock=7, machine=machine)

    def said(name: str, *arguments: int) -> int:
        return says(code, numbers[name], *arguments, architecture=architecture)

    unnamed = set(range(300)) - set(numbers.values())
    assert {says(code, number, architecture=architecture) for number in unnamed} == {ALLOW}
    assert says(code, 1, architecture=0x40000003) == KILL  # 32 bits
    assert says(code, 0x40000001, architecture=architecture) == FAIL | errno.ENOSYS  # x32
    assert says(code, 463, architecture=architecture) == FAIL | errno.ENOSYS
    assert says(code, 464, architecture=architecture) == ALLOW
    assert says(code, 1000, architecture=architecture) == FAIL | errno.ENOSYS
    for name in ("io_uring_setup", "clone3"):
        assert said(name) == FAIL | errno.ENOSYS
    for name in ("socket", "connect", "bind"):
        assert said(name) == FAIL | errno.EACCES
    for name in (
        "ptrace",
        "mount",
        "unshare",
        "bpf",
        "keyctl",
        "fchmod",
        "fchmodat2",
        "utimensat",
        "setxattr",
        "shmget",
    ):
        assert said(name) == FAIL | errno.EPERM, name
    assert said("socketpair", 1, 1) == said("socketpair", 1, 5 | 0o2000000) == ALLOW
    assert said("socketpair", 1, 2) == said("socketpair", 2, 1) == FAIL | errno.EACCES
    assert said("clone", 17) == ALLOW
    assert said("clone", 0x10000000 | 17) == FAIL | errno.EPERM
    assert said("prlimit64", 0) == ALLOW
    assert said("prlimit64", 1) == FAIL | errno.EPERM
    assert said("setpriority", 0, 0) == said("ioprio_set", 1, 0) == said("sched_setaffinity", 0) == ALLOW
    assert said("setpriority", 2, 0) == said("setpriority", 0, 7) == said("sched_setaffinity", 7) == FAIL | errno.EPERM
    assert said("ioctl", 1, 0x5413) == said("ioctl", 1, 0x541B) == said("ioctl", 1, 0xC020660B) == ALLOW
    assert said("ioctl", 1, 0x5412) == said("ioctl", 1, (7 << 32) | 0x5412) == FAIL | errno.EPERM
    assert said("ioctl", 1, 0x40086602) == FAIL | errno.ENOTTY
    assert said("fcntl", 1, 1) == ALLOW
    assert said("fcntl", 1, 1024) == said("fcntl", 1, 1026) == FAIL | errno.EPERM
    assert said("truncate") == said("openat", 0, 0, 0o1000) == said("openat2") == ALLOW  # Landlock has them


def test_before_its_third_version_landlock_lets_truncating_pass_and_the_filter_does_not(machine: str) -> None:
    architecture, numbers = ARCHITECTURES[machine]
    code = program(reading=True, landlock=2, machine=machine)

    def opened(flags: int) -> int:
        return says(code, numbers["openat"], 0, 0, flags, architecture=architecture)

    assert opened(0) == opened(0o1000 | 1) == opened(0o1000 | 2) == ALLOW
    assert opened(0o1000) == opened(0o1000 | 3) == FAIL | errno.EACCES
    assert says(code, numbers["truncate"], architecture=architecture) == FAIL | errno.EACCES
    assert says(code, numbers["openat2"], architecture=architecture) == FAIL | errno.ENOSYS


@pytest.mark.parametrize("network", [True, False])
def test_what_a_worker_may_call(machine: str, network: bool) -> None:
    architecture, numbers = ARCHITECTURES[machine]
    code = program(reading=False, network=network, landlock=7, machine=machine)

    def said(name: str, *arguments: int) -> int:
        return says(code, numbers[name], *arguments, architecture=architecture)

    assert said("socket", 1) == said("fchmod") == said("utimensat") == said("inotify_add_watch") == ALLOW
    assert said("socket", 2) == said("socket", 16) == (ALLOW if network else FAIL | errno.EACCES)
    assert said("mount") == said("unshare") == said("ioctl", 0, 0x5412) == FAIL | errno.EPERM
    assert said("io_uring_setup") == FAIL | errno.ENOSYS


def test_a_call_is_judged_in_few_steps() -> None:
    """The kernel runs the program for every number when it is loaded."""
    assert len(program(reading=True, landlock=1, machine="x86_64")) // 8 < 600
