"""Where the host of a workspace is found: its folder, its socket, its lock and its token. Standard library only.

The key is user id + data folder + real path of the workspace. Everything lies in a folder of the user's alone; the
socket too, unless its path would be too long for the system: then it lies in the user's runtime folder, else in one of
the user's own under /tmp. A folder that is not the user's alone is refused, whoever made it.
"""

import json
import os
import socket
import stat
from typing import Any, NamedTuple, cast

try:
    from _blake2 import blake2b  # `hashlib` loads OpenSSL first, for which an editor would wait
except ImportError:
    from hashlib import blake2b

LONGEST = 100  # bytes of a socket's path; the system's limit is 108, on others 104
PROC = "/proc"


class Unusable(Exception):
    """There can be no host here, or this one must not be used; the text says why."""


class HostPlace(NamedTuple):
    key: str
    folder: str
    socket: str

    @property
    def lock(self) -> str:
        """Held by the host for its life; it says who that is, and is touched as its heartbeat."""
        return f"{self.folder}/lock"

    @property
    def starting(self) -> str:
        """Held by whoever looks for the host and starts one where there is none."""
        return f"{self.folder}/starting"

    @property
    def token(self) -> str:
        return f"{self.folder}/token"

    @property
    def missed(self) -> str:
        """What went on while no window was there."""
        return f"{self.folder}/missed.json"


def supported() -> str:
    """Empty where a host can be; else why not."""
    if not hasattr(socket, "AF_UNIX"):
        return "this system has no Unix sockets"
    if not hasattr(socket, "SO_PEERCRED"):
        return "this system does not say which process is at the other end of a socket (SO_PEERCRED)"
    try:
        with open(f"{PROC}/1/stat", "rb") as file:  # noqa: PTH123 -- pathlib is not loaded on the way to `initialize`
            file.read(1)
    except OSError:
        return f"{PROC} does not show the parents of a process"
    return ""


def data_dir() -> str:
    return _xdg("XDG_DATA_HOME", ".local/share")


def config_dir() -> str:
    return _xdg("XDG_CONFIG_HOME", ".config")


def hosts_dir() -> str:
    return f"{data_dir()}/host"


def place_of(workspace: str) -> HostPlace:
    """Nothing is made or looked at: see `prepared`."""
    named = b"\0".join(
        os.fsencode(part) for part in (str(os.geteuid()), os.path.realpath(data_dir()), os.path.realpath(workspace))
    )
    return place_by_key(blake2b(named, digest_size=8).hexdigest())


def place_by_key(key: str) -> HostPlace:
    folder = f"{hosts_dir()}/{key}"
    return HostPlace(key, folder, next(path for path in _sockets(folder, key) if _fits(path)))


def prepared(place: HostPlace) -> HostPlace:
    """With its folders there, and the user's alone. Raises Unusable."""
    try:
        for folder in (hosts_dir(), place.folder):
            _own_folder(folder)
        if os.path.dirname(place.socket) != place.folder:  # noqa: PTH120
            _own_folder(os.path.dirname(place.socket))  # noqa: PTH120
    except OSError as error:
        raise Unusable(f"{error.filename or place.folder}: {error.strerror or error}") from None
    return place


def read_private(path: str, limit: int = 64 * 1024) -> bytes:
    """A file of the user's alone; a link, someone else's file or one that others may read is refused."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise Unusable(f"{path} is not a file of yours alone")
        return os.read(fd, limit)
    finally:
        os.close(fd)


def replace_private(path: str, data: bytes) -> None:
    """Written beside it and put in its place, so nobody reads half of it and no link is followed."""
    beside = f"{path}.{os.getpid()}"
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, "wb") as file:  # noqa: PTH123
            file.write(data)
        os.replace(beside, path)  # noqa: PTH105
    except OSError:
        os.unlink(beside)  # noqa: PTH108
        raise


def owner_of(place: HostPlace) -> "dict[str, Any]":
    """What the newest host wrote about itself; it may be gone. {} when there is nothing to read."""
    try:
        told: Any = json.loads(read_private(place.lock))
    except (OSError, ValueError, Unusable):
        return {}
    return cast("dict[str, Any]", told) if isinstance(told, dict) else {}


def _sockets(folder: str, key: str) -> "list[str]":
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    found = [f"{folder}/socket"]
    if runtime.startswith("/"):
        found.append(f"{runtime}/assent/{key}")
    return [*found, f"/tmp/assent-{os.geteuid()}/{key}"]


def _fits(path: str) -> bool:
    return len(os.fsencode(path)) <= LONGEST


def _own_folder(path: str) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
    try:
        os.mkdir(path, 0o700)  # noqa: PTH102
    except FileExistsError:
        pass
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise Unusable(f"{path} is not a folder of yours")
    if status.st_mode & 0o077:
        os.chmod(path, 0o700)  # noqa: PTH101


def _xdg(variable: str, fallback: str) -> str:
    """As `storage.paths` has it, which takes longer to import than an editor should wait."""
    base = os.environ.get(variable, "")
    if not base.startswith("/"):
        base = f"{os.environ.get('HOME') or os.path.expanduser('~')}/{fallback}"  # noqa: PTH111
    return f"{base.rstrip('/')}/assent"
