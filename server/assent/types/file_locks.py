"""Locks on open files, which end with the process that holds them. Only POSIX systems have them."""

try:
    import fcntl
except ImportError:  # Windows; `doctor` says what is missing
    fcntl = None

AVAILABLE = fcntl is not None
MISSING = "this system has no file locks (flock), which keep two programs from writing one conversation"


def try_lock(fd: int) -> None:
    """Take the lock. Raises OSError when another process holds it, or when there are no locks here."""
    _flock(fd, wait=False)


def try_shared_lock(fd: int) -> None:
    """Look whether somebody holds it, without being in the way of others who look."""
    _flock(fd, wait=False, shared=True)


def wait_for_lock(fd: int) -> None:
    _flock(fd, wait=True)


def _flock(fd: int, *, wait: bool, shared: bool = False) -> None:
    if fcntl is None:
        raise OSError(MISSING)
    fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
