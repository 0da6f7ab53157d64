"""The one way to read a file that somebody else may have put there.

What a folder calls `settings.json` may be a named pipe, a device, a directory, a sparse file of 5 GB or a link to one
of these. Reading it plainly would wait for ever or fill the memory, before the user trusted anything. Here only a
regular file within a size limit is read; whatever else it is, is refused at once and in words. Knows nothing of what is
in it.
"""

import errno
import os
import re
import stat
import time
from dataclasses import dataclass
from pathlib import Path

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_PROCESS_SECRETS = re.compile(r"/proc/\d+/(?:task/\d+/)?(?:environ|mem|auxv)")
_KINDS = (
    (stat.S_ISDIR, "is a directory"),
    (stat.S_ISFIFO, "is a named pipe, not a file; reading it could wait for ever"),
    (stat.S_ISSOCK, "is a socket, not a file"),
    (stat.S_ISCHR, "is a device, not a file"),
    (stat.S_ISBLK, "is a device, not a file"),
    (stat.S_ISLNK, "is a symbolic link, which is not followed here"),
)


Signature = tuple[int, ...]
_RACY_NS = 2_000_000_000  # a file younger than this may change without its times telling


@dataclass(frozen=True, slots=True, kw_only=True)
class RegularFile:
    data: bytes
    status: os.stat_result


class RefusedFile(OSError):
    """There is something at the path, but it is not read. An OSError, so whoever handles those handles this.

    `strerror` continues a sentence that begins with the path; `size` is set when only the size was wrong.
    """

    def __init__(self, path: str, words: str, *, size: int | None = None, number: int = errno.EINVAL) -> None:
        super().__init__(errno.EFBIG if size is not None else number, words, path)
        self.size = size

    def __str__(self) -> str:
        return f"{self.filename} {self.strerror}"


def read_regular(path: str | Path, *, limit: int, follow: bool = True, directory: int | None = None) -> RegularFile:
    """The whole file. Raises RefusedFile for what is no regular file of at most `limit` bytes, or plain OSErrors.

    Without `follow`, a link in the last component is refused. With `directory`, `path` is relative to that open folder.
    The environment and memory of processes are refused wherever a link leads there.
    """
    name = os.fspath(path)
    # Looked at before it is opened, since opening a device can do something; and again after, since it may be another.
    refuse_kind(name, os.stat(name, dir_fd=directory, follow_symlinks=follow), limit)
    fd = os.open(name, _READ if follow else _READ | os.O_NOFOLLOW, dir_fd=directory)
    try:
        status = os.fstat(fd)
        refuse_kind(name, status, limit)
        _refuse_secrets(name, fd)
        data = _read_all(fd, status.st_size, limit)
    finally:
        os.close(fd)
    if len(data) > limit:  # files of /proc and growing ones do not say their size
        raise _too_large(name, len(data), limit)
    return RegularFile(data=data, status=status)


def read_regular_text(path: str | Path, *, limit: int, follow: bool = True) -> str:
    """The same as text; bytes that are not UTF-8 become replacement characters."""
    return read_regular(path, limit=limit, follow=follow).data.decode("utf-8", "replace")


def signature(path: str) -> Signature:
    """What changes with a file's contents; empty when the file is so young that it might not."""
    status = os.lstat(path)
    if time.time_ns() - status.st_ctime_ns < _RACY_NS:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def refuse_kind(path: str, status: os.stat_result, limit: int | None = None) -> None:
    """Raises RefusedFile for whatever is no regular file, and for one that is larger than the limit."""
    for is_kind, words in _KINDS:
        if is_kind(status.st_mode):
            raise RefusedFile(path, words, number=errno.EISDIR if is_kind is stat.S_ISDIR else errno.EINVAL)
    if limit is not None and status.st_size > limit:
        raise _too_large(path, status.st_size, limit)


def _refuse_secrets(path: str, fd: int) -> None:
    """The environment and memory of a process may hold our key, and ours do: seen by where the path really led."""
    try:
        led = os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115 -- a string is wanted
    except OSError:
        return  # no /proc, so none of its files either
    if _PROCESS_SECRETS.fullmatch(led):
        raise RefusedFile(path, "shows the environment or memory of a process, which may hold keys; it is not read")


def _too_large(path: str, size: int, limit: int) -> RefusedFile:
    return RefusedFile(path, f"is too large ({size:,} bytes; the limit is {limit:,})", size=size)


def _read_all(fd: int, size: int, limit: int) -> bytes:
    chunks: list[bytes] = []
    total = 0
    while total <= limit:
        chunk = os.read(fd, min(max(size - total, 64 * 1024) + 1, limit + 1 - total))
        if not chunk:
            break
        chunks.append(chunk)
        total += len(chunk)
    return b"".join(chunks)
