"""Finding the host of a workspace, starting one where there is none, and being served by it. Standard library only.

    link = connect("/home/me/project", start=True)
    link.stream        a socket; send `initialize` on it, it is a language server like any other
    link.close()       leaves

Whoever connects makes sure that the other end is the user's own, and that no engine started it: a command that the
model runs may put a socket of its own in the host's place.
"""

import contextlib
import errno
import os
import socket
import stat
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from assent import __version__
from assent.host import handshake, peers
from assent.host.place import (
    HostPlace,
    Unusable,
    config_dir,
    place_of,
    prepared,
    read_private,
    replace_private,
    supported,
)
from assent.types import file_locks

PATIENCE = 20.0  # seconds until a host that is starting must have answered
_TURN = 0.01  # seconds between two looks whether it is our turn to start one
_HANDED_OVER = ("ANTHROPIC_", "AWS_", "GOOGLE_", "CLOUD_ML_", "CLAUDE_CODE_")  # whom to call, and as whom

Start = Callable[[socket.socket], None]
"""Starts a host behind this listening socket, in a process of its own."""


class NoHost(Exception):
    """Nobody listens."""


class RefusedByHost(Exception):
    """The host does not serve us; `kind` is one of its words for why."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Link(NamedTuple):
    """A program's connection: `stream` speaks LSP; `control` closes when the host dies."""

    stream: socket.socket
    control: socket.socket

    def close(self) -> None:
        self.stream.close()
        self.control.close()


def connect(workspace: str, *, start: bool = False, timeout: float = PATIENCE) -> Link:
    """Be served by the workspace's host. Raises NoHost, Refused or Unusable.

    `start`: start one if there is none. Whatever may run commands for the model is refused, and gets `Refused`.
    """
    if why := supported():
        raise Unusable(why)
    place = prepared(place_of(workspace))
    if start:
        _start_beside(workspace)
    return connect_to(place, timeout=timeout)


def connect_to(place: HostPlace, *, timeout: float = PATIENCE) -> Link:
    """The same, for a host that is known by its place."""
    ours, theirs = socket.socketpair()
    try:
        control = joined(_connected(place), place, hello(), (theirs.fileno(),), timeout=timeout)
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return Link(ours, control)


def handed_over(variable: str) -> bool:
    return variable.startswith(_HANDED_OVER)


def hello(**more: Any) -> "dict[str, Any]":
    """What a client says first. Credentials go along: a session is paid for by whoever began it."""
    env = {name: value for name, value in os.environ.items() if handed_over(name)}
    return {
        "protocols": list(handshake.PROTOCOLS),
        "version": __version__,
        "methods": [],
        "config": os.path.realpath(config_dir()),
        "offline": os.environ.get("ASSENT_OFFLINE", "") not in ("", "0"),
        "env": env,
        "initialize": None,
        "unread": "",
        **more,
    }


def joined(
    control: socket.socket,
    place: HostPlace,
    words: "dict[str, Any]",
    descriptors: "tuple[int, ...]",
    *,
    timeout: float = PATIENCE,
) -> socket.socket:
    """Say hello; returns the connection once the host serves us. Raises NoHost (it went meanwhile) or Refused."""
    try:
        control.settimeout(timeout)
        token = read_private(place.token).decode("ascii", "replace")
        with contextlib.suppress(BrokenPipeError):  # it may refuse us without reading on, and says so
            handshake.send(control, {**words, "token": token}, descriptors)
        answer, _ = handshake.receive(control)
    except (OSError, handshake.Broken) as error:
        control.close()
        if isinstance(error, TimeoutError):
            raise RefusedByHost("silent", "the host does not answer") from None
        raise NoHost(str(error)) from None
    except Unusable:
        control.close()
        raise
    if "refused" in answer:
        control.close()
        raise RefusedByHost(str(answer["refused"]), str(answer.get("text", "")))
    control.settimeout(None)
    return control


def found_or_started(place: HostPlace, start: Start) -> socket.socket:
    """A connection to the host's socket; one process at a time looks, so that no two hosts are started.

    What lies at the socket's path and is not listened to is taken away: the folder is the user's alone.
    """
    try:
        return _connected(place)
    except NoHost:
        pass
    try:
        lock = os.open(place.starting, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            _wait_for_turn(lock, place)
            return _started(place, start)
        finally:
            os.close(lock)
    except OSError as error:
        raise Unusable(f"{error.filename or place.socket}: {error.strerror or error}") from None


def _wait_for_turn(lock: int, place: HostPlace) -> None:
    """As long as a host may take to start; whoever holds the lock longer does so for ever."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return file_locks.try_lock(lock)
        except BlockingIOError:
            if time.monotonic() > until:
                raise Unusable(f"{place.starting} is held by another process") from None
        time.sleep(_TURN)


def _started(place: HostPlace, start: Start) -> socket.socket:
    try:
        return _connected(place)  # someone else was faster
    except NoHost:
        pass
    replace_private(place.token, os.urandom(32).hex().encode())
    with listening(place) as listener:
        start(listener)
        return _connected(place)


def listening(place: HostPlace) -> socket.socket:
    """A socket of the user's alone in the place of whatever was left there."""
    try:
        status = os.lstat(place.socket)
    except FileNotFoundError:
        pass
    else:
        if stat.S_ISDIR(status.st_mode):
            raise Unusable(f"{place.socket} is in the way")
        os.unlink(place.socket)  # noqa: PTH108 -- a link is taken away, not what it leads to
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        mask = os.umask(0o177)
        try:
            listener.bind(place.socket)
        finally:
            os.umask(mask)
        listener.listen(64)
    except BaseException:
        listener.close()
        raise
    return listener


def held(place: HostPlace) -> bool:
    """Whether a host lives there."""
    try:
        fd = os.open(place.lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        file_locks.try_shared_lock(fd)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def _connected(place: HostPlace) -> socket.socket:
    control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        status = os.lstat(place.socket)
        if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.geteuid():
            raise NoHost(f"{place.socket} is no socket of yours")
        control.settimeout(PATIENCE)
        control.connect(place.socket)
        pid, uid = peers.credentials(control)
        with peers.same_process(control) as alive:
            ours = uid == os.geteuid() and not peers.started_by_an_engine(pid) and alive()
    except OSError as error:
        control.close()
        if error.errno in (errno.ENOENT, errno.ECONNREFUSED, errno.ENOTSOCK):
            raise NoHost(str(error)) from None
        raise Unusable(f"{place.socket}: {error.strerror or error}") from None
    except BaseException:
        control.close()
        raise
    if not ours:
        control.close()
        raise Unusable("what listens there is not a host of yours")
    return control


def _start_beside(workspace: str) -> None:
    """From a program that may have threads: a small process looks for the host, starts one, and ends."""
    import subprocess

    from assent.types.programs import NEUTRAL, python, python_environment, user_path

    began = time.monotonic()
    done = subprocess.run(
        python("-m", "assent.cli.main", "host", workspace),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=NEUTRAL,
        env=python_environment() | {"PATH": user_path()},
        timeout=PATIENCE,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise Unusable(said or f"no host could be started in {time.monotonic() - began:.0f} s")
