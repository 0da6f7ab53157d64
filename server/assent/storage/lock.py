"""One owner per session file: an flock held for the life of the process, so that a crash frees it."""

import contextlib
import fcntl
import os
from pathlib import Path

from assent.types.errors import ProtocolError


class SessionLock:
    """Held until `release` or the end of the process. The file names its holder for whoever comes second."""

    def __init__(self, path: Path, fd: int) -> None:
        self._path = path
        self._fd = fd

    def release(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._fd)


def acquire(path: Path) -> SessionLock:
    """Raises ownedElsewhere{pid} when another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        pid = _holder(fd)
        os.close(fd)
        raise ProtocolError(
            "ownedElsewhere",
            "This session is open in another window" + (f" (process {pid})" if pid else ""),
            hint="Close it there, open it here just to read, or go on in a copy of it.",
            data={"pid": pid},
        ) from None
    os.ftruncate(fd, 0)
    os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
    return SessionLock(path, fd)


def holder(path: Path) -> int | None:
    """The process that owns the session now, or None."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return _holder(fd)
    finally:
        os.close(fd)
    return None


def _holder(fd: int) -> int | None:
    text = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
    return int(text) if text.isdigit() else None
