"""Reading and replacing one file on disk, safely.

Reading is that of `types/regular_files`, with advice for the model. Replacing is atomic (a temporary file beside the
target, synced, renamed) and walks to the directory component by component without following links, so a link swapped in
meanwhile is not followed.
Knows nothing of text, plans or editors; speaks in ToolErrors that say what to do.
"""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Generator
from pathlib import Path

from assent.types import regular_files
from assent.types.errors import FileMissing, ToolError
from assent.types.regular_files import RefusedFile, RegularFile, read_regular

MAX_BYTES = 64 * 1024 * 1024
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)  # file systems without hard links


def read_bytes(path: str, *, limit: int = MAX_BYTES, directory: int | None = None) -> RegularFile:
    """The whole file. With `directory`, `path` is a bare name in it and is not followed if it is a link."""
    try:
        return read_regular(path, limit=limit, follow=directory is None, directory=directory)
    except OSError as error:
        raise unusable(path, error) from None


def status_of(path: str) -> os.stat_result:
    """What is there, links followed, if it may be read."""
    try:
        status = os.stat(path)  # noqa: PTH116 -- paths are strings here
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise unusable(path, error) from None
    return status


def refuse_kind(path: str, status: os.stat_result, limit: int | None = None) -> None:
    """Raises ToolError for whatever is no plain file, and for one that is larger than the limit."""
    try:
        regular_files.refuse_kind(path, status, limit)
    except RefusedFile as error:
        raise unusable(path, error) from None


def is_large_binary(path: str, status: os.stat_result) -> bool:
    """Too large to be read whole, and with a zero byte near its beginning: a picture of a disk, a sparse file."""
    if status.st_size <= MAX_BYTES:
        return False
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            return b"\0" in os.read(fd, 64 * 1024)
        finally:
            os.close(fd)
    except OSError as error:
        raise unusable(path, error) from None


@contextlib.contextmanager
def parent_of(target: str, *, create: bool = False) -> Generator[int]:
    """The directory that holds `target`, a path already resolved: no component of it may be a link now."""
    fd = os.open("/", _DIRECTORY)
    try:
        for name in Path(target).parent.parts[1:]:
            below = _step(fd, name, target, create=create)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def replace(directory: int, name: str, data: bytes, *, old: os.stat_result | None) -> os.stat_result:
    """Put `data` at `name` atomically; with no `old`, only if nothing is there. Mode and owner are kept."""
    temporary = f".{name[:80]}.{secrets.token_hex(4)}.tmp"
    fd = os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=directory
    )
    try:
        try:
            if old is not None:
                os.fchmod(fd, stat.S_IMODE(old.st_mode))
            _write_all(fd, data)
            if old is not None:
                _keep_owner(fd, old)
            os.fsync(fd)
            status = os.fstat(fd)
        finally:
            os.close(fd)
        if old is None:
            _put_new(directory, temporary, name)
        else:
            os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=directory)
        raise
    with contextlib.suppress(OSError):  # some file systems cannot sync a directory
        os.fsync(directory)
    return status


def unusable(path: str, error: OSError) -> ToolError:
    """What went wrong with a path, in words."""
    if isinstance(error, RefusedFile):
        return ToolError(f"{error}{_advice(error)}")
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return FileMissing(f"{path} does not exist")
        case errno.ELOOP:
            return ToolError(f"{path} is a loop of symbolic links")
        case errno.EACCES | errno.EPERM:
            return ToolError(f"{path} cannot be opened: permission denied")
        case errno.ENAMETOOLONG:
            return ToolError(f"{path[:200]}… is too long for a path")
        case _:
            return ToolError(f"{path} cannot be used: {error.strerror or error}")


def _advice(error: RefusedFile) -> str:
    if error.size is not None:
        return ". Use Grep to find the part you need, or Bash with head, tail or sed -n"
    if error.errno == errno.EISDIR:
        return "; list it with Glob, or with `ls` in Bash"
    return ""


def _put_new(directory: int, temporary: str, name: str) -> None:
    """Give the file its name unless that is taken: a link, unlike a rename, never replaces."""
    try:
        os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        os.unlink(temporary, dir_fd=directory)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        try:
            os.stat(name, dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        else:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from None


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _step(fd: int, name: str, target: str, *, create: bool) -> int:
    try:
        try:
            return os.open(name, _DIRECTORY, dir_fd=fd)
        except FileNotFoundError:
            if not create:
                raise
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=fd)
            return os.open(name, _DIRECTORY, dir_fd=fd)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise ToolError(
                f"{target}: {name} is not a directory, or became a link meanwhile; nothing was written"
            ) from None
        raise


def _keep_owner(fd: int, old: os.stat_result) -> None:
    now = os.fstat(fd)
    if (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid):
        with contextlib.suppress(OSError):  # only root may give files away
            os.fchown(fd, old.st_uid, old.st_gid)
            os.fchmod(fd, stat.S_IMODE(old.st_mode))  # a change of owner drops the set-id bits
