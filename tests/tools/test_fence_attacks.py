"""What a hostile command tries inside the fence, as root and as a plain user: none of it gets out (P4, safety.md).

Each attack prints ESCAPED, or a secret, when it succeeds. Those marked so are also run outside the fence, where they do
succeed: an attack that never works would show nothing.
"""

import contextlib
import json
import os
import pty
import shlex
import socket
import subprocess
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from assent.tools.process import sandbox
from fencekit import SECRET, WHO, Ground, ground, holds_fully

# fmt: off
PREAMBLE = """
import ctypes, fcntl, mmap, os, socket, struct, sys, array
SECRET_FILE, HOME, PROJ, OUT = "{home}/.ssh/id_rsa", "{home}", "{proj}", "{out}"
facts = __import__("json").loads(os.environ["FACTS"]); pid = facts["pid"]
TMP = os.environ.get("TMPDIR") or OUT
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *words):
    done = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(word) if isinstance(word, int) else word for word in words])
    if done < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return done
def escaped(): print("ESCAPED")
X86 = os.uname().machine == "x86_64"
"""
READS = {
    "by its name": "print(open(SECRET_FILE).read())",
    "through a link in the project": "print(open(PROJ + '/key').read())",
    "through a new link": "os.symlink(SECRET_FILE, TMP + '/l'); print(open(TMP + '/l').read())",
    "through a new hard link": "os.link(SECRET_FILE, TMP + '/h'); print(open(TMP + '/h').read())",
    "moved away": "os.rename(SECRET_FILE, TMP + '/m'); print(open(TMP + '/m').read())",
    "reopened from O_PATH": "fd = os.open(SECRET_FILE, os.O_PATH); print(open('/proc/self/fd/%d' % fd).read())",
    "beside an O_PATH folder": "fd = os.open(HOME, os.O_PATH); print(os.read(os.open('.ssh/id_rsa', 0, dir_fd=fd), 99))",
    "through /proc/self/root": "print(open('/proc/self/root' + SECRET_FILE).read())",
    "through the cwd of a process outside": "print(open('/proc/%d/root%s' % (pid, SECRET_FILE)).read())",
    "from another process's environment": "print(open('/proc/%d/environ' % pid).read())",
    "from another process's memory": "print(open('/proc/%d/maps' % pid).read()); escaped()",
    "from our own settings": "print(open(HOME + '/.config/assent/settings.json').read())",
    "from our own data": "print(open(HOME + '/.local/share/assent/sessions/s.jsonl').read())",
    "from the shell's start-up file": "print(open(HOME + '/.bashrc').read())",
    "from the user's git configuration": "print(open(HOME + '/.gitconfig').read())",
    "from a folder outside": "print(open(OUT + '/there.txt').read())",
    "by exec": "os.execv('/bin/cat', ['cat', SECRET_FILE])",
    "copied by the kernel": "print(os.sendfile(1, os.open(SECRET_FILE, 0), 0, 99))",
}
WRITES = {
    "a new file": "open(PROJ + '/new', 'w')",
    "over a file": "open(PROJ + '/a.py', 'w')",
    "to the end of a file": "open(PROJ + '/a.py', 'a').write('x')",
    "opened for reading, emptied": "os.open(PROJ + '/a.py', os.O_RDONLY | os.O_TRUNC)",
    "opened for neither, emptied": "os.open(PROJ + '/a.py', 3 | os.O_TRUNC)",
    "emptied by name": "os.truncate(PROJ + '/a.py', 0)",
    "removed": "os.unlink(PROJ + '/a.py')",
    "renamed": "os.rename(PROJ + '/a.py', PROJ + '/z.py')",
    "moved out": "os.rename(PROJ + '/a.py', TMP + '/z.py')",
    "moved in": "open(TMP + '/n', 'w').close(); os.rename(TMP + '/n', PROJ + '/n')",
    "linked in": "open(TMP + '/n', 'w').close(); os.link(TMP + '/n', PROJ + '/n')",
    "a folder": "os.mkdir(PROJ + '/d')",
    "a link": "os.symlink('/etc', PROJ + '/l')",
    "a pipe": "os.mkfifo(PROJ + '/f')",
    "a hook": "open(PROJ + '/.git/hooks/pre-commit', 'w')",
    "in the home": "open(HOME + '/.bashrc', 'a').write('x')",
    "outside": "open(OUT + '/x', 'w')",
    "in the shared temporary folder": "open(os.path.dirname(HOME) + '/x', 'w')",
    "in shared memory": "open('/dev/shm/fence-%d' % pid, 'w'); os.unlink('/dev/shm/fence-%d' % pid); escaped()",
    "the mode": "os.chmod(PROJ + '/a.py', 0o777)",
    "the mode of an open file": "os.fchmod(os.open(PROJ + '/a.py', 0), 0o777)",
    "the times": "os.utime(PROJ + '/a.py', (1, 1))",
    "an attribute": "os.setxattr(PROJ + '/a.py', 'user.x', b'1')",
    "the owner": "os.chown(PROJ + '/a.py', os.getuid(), os.getgid()); escaped()",
    "flags by ioctl": "fcntl.ioctl(os.open(PROJ + '/a.py', 0), 0x40086602, struct.pack('l', 0x40)); escaped()",
    "an executable of its own": "open(TMP + '/e', 'w').write('#!/bin/sh\\nprintf ESC; echo APED'); os.chmod(TMP + '/e', 0o700); os.execv(TMP + '/e', ['e'])",
}
SOCKETS = {
    "TCP": "socket.create_connection(('127.0.0.1', facts['tcp'])); escaped()",
    "UDP": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', facts['udp'])); escaped()",
    "a Unix socket by path": "socket.socket(socket.AF_UNIX).connect(facts['unix']); escaped()",
    "an abstract Unix socket": "socket.socket(socket.AF_UNIX).connect(chr(0) + facts['abstract']); escaped()",
    "a datagram from a pair": "a, b = socket.socketpair(type=socket.SOCK_DGRAM); a.sendto(b'x', facts['datagram']); escaped()",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); escaped()",
    "vsock": "socket.socket(40, socket.SOCK_STREAM); escaped()",
    "a listener": "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); escaped()",
}
PROCESSES = {
    "a signal": "os.kill(pid, 0); escaped()",
    "a signal by pidfd": "import signal; signal.pidfd_send_signal(os.pidfd_open(pid), 0); escaped()",
    "ptrace": "call(101 if X86 else 117, 16, pid, 0, 0); escaped()",
    "process_vm_readv": "b = ctypes.create_string_buffer(8); v = (ctypes.c_ulong * 2)(ctypes.addressof(b), 8); call(310 if X86 else 270, pid, v, 1, v, 1, 0); escaped()",
    "a descriptor of another": "call(438, os.pidfd_open(pid), 0, 0); escaped()",
    "limits of another": "import resource; resource.prlimit(pid, resource.RLIMIT_NOFILE, (64, 64)); escaped()",
    "priority of another": "os.setpriority(os.PRIO_PROCESS, pid, 10); escaped()",
    "priority of all": "os.setpriority(os.PRIO_USER, 0, 10); escaped()",
    "affinity of another": "os.sched_setaffinity(pid, {0}); escaped()",
}
KERNEL = {
    "a user namespace": "call(272 if X86 else 97, 0x10000000); escaped()",
    "a clone in a namespace": "done = call(56 if X86 else 220, 0x10000000 | 17, 0, 0, 0, 0); (done == 0 and os._exit(0)); escaped()",
    "a mount": "call(165 if X86 else 40, b'none', b'/mnt', b'tmpfs', 0, None); escaped()",
    "the namespace of another": "call(308 if X86 else 268, os.open('/proc/%d/ns/mnt' % pid, 0), 0); escaped()",
    "chroot": "os.chroot('/'); escaped()",
    "io_uring": "b = ctypes.create_string_buffer(120); call(425, 8, b); escaped()",
    "clone3": "call(435, 0, 0); escaped()",
    "bpf": "call(321 if X86 else 280, 0, ctypes.create_string_buffer(128), 128); escaped()",
    "perf events": "call(298 if X86 else 241, ctypes.create_string_buffer(struct.pack('IIQ', 1, 64, 0), 64), 0, -1, -1, 0); escaped()",
    "userfaultfd": "call(323 if X86 else 282, 1); escaped()",
    "the keyring": "call(250 if X86 else 219, 0, -3, 1); escaped()",
    "shared memory of System V": "i = call(29 if X86 else 194, 0, 4096, 0o1600); call(31 if X86 else 195, i, 0, None); escaped()",
    "a message queue": "call(240 if X86 else 180, b'fence-queue', os.O_CREAT | os.O_RDWR, 0o600, None); call(241 if X86 else 181, b'fence-queue'); escaped()",
    "watching a folder": "fd = call(294 if X86 else 26, 0); call(254 if X86 else 27, fd, os.fsencode(HOME), 2); escaped()",
    "a lease": "fcntl.fcntl(os.open(TMP + '/lease', os.O_CREAT | os.O_RDONLY, 0o600), 1024, fcntl.F_RDLCK); escaped()",
    "a notice of changes": "fcntl.fcntl(os.open(HOME, 0), 1026, 2); escaped()",
    "a call that is newer than we know": "call(467, -1, b'', 0, None, 0)",
    "a file by its handle": "call(304 if X86 else 265, -100, ctypes.create_string_buffer(struct.pack('Ii', 8, 1), 64), 0); escaped()",
    "typing for a terminal": "fcntl.ioctl(os.open(facts['terminal'], os.O_RDWR | os.O_NOCTTY), 0x5412, b'x'); escaped()",
    "another terminal": "os.write(os.open(facts['terminal'], os.O_RDWR | os.O_NOCTTY), b'x'); escaped()",
    "a terminal of its own": "os.openpty(); escaped()",
}
# fmt: on
OUTSIDE = (
    *(("reads", name) for name in READS if name != "through the cwd of a process outside"),
    *(("sockets", name) for name in ("TCP", "UDP", "a Unix socket by path", "an abstract Unix socket", "netlink")),
    *(("sockets", name) for name in ("a datagram from a pair", "a listener")),
    *(("processes", name) for name in ("a signal", "a signal by pidfd", "limits of another", "affinity of another")),
    *(("kernel", name) for name in ("shared memory of System V", "watching a folder", "a notice of changes")),
    *(("kernel", name) for name in ("another terminal", "a terminal of its own", "the keyring")),
    ("writes", "an executable of its own"),
    ("writes", "in shared memory"),
)
"""Those that succeed without a fence, whoever tries them."""
KINDS = {"reads": READS, "writes": WRITES, "sockets": SOCKETS, "processes": PROCESSES, "kernel": KERNEL}
ALL = [(kind, name) for kind, attacks in KINDS.items() for name in attacks]


@dataclass(frozen=True, slots=True, kw_only=True)
class Battle:
    said: dict[tuple[str, str], str]
    before: dict[str, str]
    after: dict[str, str]
    reached: list[str]
    victim_lives: bool


@pytest.fixture(scope="module", params=WHO)
def battle(request: pytest.FixtureRequest) -> Battle | None:
    return _fought(request.param, fenced=True, attacks=ALL) if holds_fully() else None


@pytest.fixture(scope="module", params=WHO)
def undefended(request: pytest.FixtureRequest) -> Battle:
    return _fought(request.param, fenced=False, attacks=OUTSIDE)


@pytest.mark.parametrize(("kind", "name"), ALL, ids=[f"{kind}: {name}" for kind, name in ALL])
def test_an_attack_from_inside_fails(battle: Battle | None, kind: str, name: str) -> None:
    if battle is None:
        assert sandbox.describe()
        return
    said = battle.said[kind, name]
    assert "ESCAPED" not in said
    assert SECRET not in said
    assert "Error" in said or "denied" in said or "Permitted" in said or "permitted" in said, said


def test_nothing_of_the_world_outside_has_changed(battle: Battle | None) -> None:
    if battle is not None:
        assert battle.after == battle.before
        assert battle.reached == []
        assert battle.victim_lives


@pytest.mark.parametrize(("kind", "name"), OUTSIDE, ids=[f"{kind}: {name}" for kind, name in OUTSIDE])
def test_without_a_fence_it_would_have_succeeded(undefended: Battle, kind: str, name: str) -> None:
    said = undefended.said[kind, name]
    assert "ESCAPED" in said or SECRET in said, said


def _fought(who: str, *, fenced: bool, attacks: Sequence[tuple[str, str]]) -> Battle:
    names = [attack for attack in ALL if attack in attacks]
    with ground(who) as world, _targets(world) as (facts, reached, victim):
        before = world.picture()
        said: list[str] = []
        if fenced:
            said = world.run(*(_command(world, facts, kind, name) for kind, name in names))
        else:  # each in a world of its own: they do succeed
            for kind, name in names:
                with ground(who) as own:
                    said += own.run(_command(own, facts, kind, name), fenced=False)
        lives = victim.poll() is None
        return Battle(
            said=dict(zip(names, said, strict=True)),
            before=before,
            after=world.picture(),
            reached=reached,
            victim_lives=lives,
        )


def _command(world: Ground, facts: dict[str, object], kind: str, name: str) -> str:
    script = world.filled(PREAMBLE) + KINDS[kind][name]
    return f"FACTS={shlex.quote(json.dumps(facts))} {world.python} -I -S -c {shlex.quote(script)} 2>&1 | tail -n 5"


@contextlib.contextmanager
def _targets(world: Ground) -> Generator[tuple[dict[str, object], list[str], "subprocess.Popen[str]"]]:
    """What attacks aim at: listeners of every kind, a process of the same user, a terminal."""
    reached: list[str] = []
    listeners: list[tuple[str, socket.socket]] = []

    def listen(kind: str, listener: socket.socket, address: str | tuple[str, int]) -> socket.socket:
        listener.bind(address)
        if listener.type == socket.SOCK_STREAM:
            listener.listen()
        listeners.append((kind, listener))
        return listener

    abstract = f"fence-{os.getpid()}-{world.who}-{world.base.name}"
    tcp = listen("TCP", socket.socket(), ("127.0.0.1", 0))
    udp = listen("UDP", socket.socket(type=socket.SOCK_DGRAM), ("127.0.0.1", 0))
    listen("a Unix socket", socket.socket(socket.AF_UNIX), str(world.out / "s"))
    listen("a Unix datagram", socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), str(world.out / "d"))
    listen("an abstract socket", socket.socket(socket.AF_UNIX), "\0" + abstract)
    user: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []} if world.who == "plain" else {}
    master, slave = pty.openpty()
    terminal = os.ttyname(slave)
    if world.who == "plain":
        os.chown(terminal, 65534, 65534)
        for name in ("s", "d"):
            os.chown(world.out / name, 65534, 65534)
    victim = subprocess.Popen(["sleep", "1000"], text=True, env={"KEY": f"{SECRET}-ESCAPED"}, cwd="/", **user)
    facts: dict[str, object] = {
        "pid": victim.pid,
        "tcp": tcp.getsockname()[1],
        "udp": udp.getsockname()[1],
        "unix": str(world.out / "s"),
        "datagram": str(world.out / "d"),
        "abstract": abstract,
        "terminal": terminal,
    }
    try:
        yield facts, reached, victim
    finally:
        for kind, listener in listeners:
            listener.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                listener.accept() if listener.type == socket.SOCK_STREAM else listener.recv(10)
                reached.append(kind)
            listener.close()
        victim.kill()
        victim.wait()
        os.close(master)
        os.close(slave)
