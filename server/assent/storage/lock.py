"""One owner per session file: an flock held for the life of the process, so that a crash frees it."""

import contextlib
import os
from pathlib import Path

from assent.types.errors import ProtocolError
from assent.types.file_locks import try_lock
from assent.types.private_files import private_folder

_BUSY = "busy"


class SessionLock:
    """Held until `release` or the end of the process. The file tells whoever comes second who holds it, and if busy."""

    def __init__(self, path: Path, fd: int) -> None:
        self._path = path
        self._fd = fd

    def busy(self, now: bool) -> None:
        """Say who holds it and whether a turn runs. A courtesy to other windows: a full disk may keep it from them."""
        if self._fd < 0:
            return
        with contextlib.suppress(OSError):
            _write(self._fd, busy=now)

    def release(self) -> None:
        fd, self._fd = self._fd, -1  # the number may soon mean another file
        with contextlib.suppress(OSError):
            os.close(fd)


def acquire(path: Path) -> SessionLock:
    """Raises ownedElsewhere{pid} when another process holds it."""
    private_folder(path.parent)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try_lock(fd)
    except OSError:
        pid = _holder(fd)
        os.close(fd)
        raise ProtocolError(
            "ownedElsewhere",
            "This session is open in another window" + (f" (process {pid})" if pid else ""),
            hint="Close it there, open it here just to read, or go on in a copy of it.",
            data={"pid": pid},
        ) from None
    lock = SessionLock(path, fd)
    lock.busy(False)
    return lock


def holder(path: Path) -> int | None:
    """The process that owns the session now, or None."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        try_lock(fd)
    except OSError:
        return _holder(fd)
    finally:
        os.close(fd)
    return None


def busy(path: Path) -> bool:
    """Whether the process that owns the session says that a turn is running in it.

    What a dead process said last does not count. The lock itself is tried only after all else, because trying takes it
    for a moment, and just then its next owner may come.
    """
    try:
        pid, _, said = path.read_text("ascii", "replace")[:64].partition("\n")
    except OSError:
        return False
    return said.strip() == _BUSY and pid.isdigit() and _alive(int(pid)) and holder(path) is not None


def _write(fd: int, *, busy: bool) -> None:
    text = f"{os.getpid()}\n{_BUSY if busy else ''}\n".encode()
    os.pwrite(fd, text, 0)
    os.ftruncate(fd, len(text))


def _holder(fd: int) -> int | None:
    pid = os.pread(fd, 32, 0).decode("ascii", "replace").partition("\n")[0].strip()
    return int(pid) if pid.isdigit() else None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
