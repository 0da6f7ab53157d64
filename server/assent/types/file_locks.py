"""Locks on open files, which end with the process that holds them. Only POSIX systems have them."""

import importlib.util

AVAILABLE = importlib.util.find_spec("fcntl") is not None
MISSING = "this system has no file locks (flock), which keep two programs from writing one conversation"


def try_lock(fd: int) -> None:
    """Take the lock. Raises OSError when another process holds it, or when there are no locks here."""
    _flock(fd, wait=False)


def wait_for_lock(fd: int) -> None:
    _flock(fd, wait=True)


def _flock(fd: int, *, wait: bool) -> None:
    if not AVAILABLE:
        raise OSError(MISSING)
    import fcntl  # not at the top: `doctor` must be able to say on Windows what is missing

    fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
