"""Writing a small file so that a reader, or a crash, sees the old one or the new one and nothing between."""

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path
from typing import Any, cast

import orjson

from assent.storage.lines import encode
from assent.types.blocks import Json
from assent.types.private_files import private_folder
from assent.types.regular_files import RefusedFile

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class SavedList:
    """A list of JSON objects in a file of its own, replaced whole when it changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last = b""

    def save(self, items: list[Json]) -> None:
        data = encode({"items": items})
        if data == self._last:
            return
        with contextlib.suppress(OSError):  # a full disk is told where it matters: at the transcript
            write_atomically(self._path, data, durable=False)
            self._last = data

    def load(self) -> list[Json]:
        try:
            value: Any = orjson.loads(self._path.read_bytes())
            return cast("list[Json]", value["items"])
        except (OSError, ValueError, KeyError, TypeError):
            return []


def write_beside_links(folder: Path, name: str, data: bytes, *, within: str) -> None:
    """Replace `folder/within/name`. Neither `within` nor the file may be a link: it would lead the write elsewhere."""
    top = os.open(folder, _FOLDER)
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(within, 0o700, dir_fd=top)
        inner = _opened(top, within, folder)
        try:
            _replace(inner, name, data, folder / within / name)
        finally:
            os.close(inner)
    finally:
        os.close(top)


def _opened(top: int, within: str, folder: Path) -> int:
    try:
        return os.open(within, _FOLDER | os.O_NOFOLLOW, dir_fd=top)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise RefusedFile(str(folder / within), "is a link or no folder; nothing is written through it") from None
        raise


def _replace(inner: int, name: str, data: bytes, path: Path) -> None:
    mode = 0o600
    with contextlib.suppress(FileNotFoundError):
        status = os.stat(name, dir_fd=inner, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            raise RefusedFile(str(path), "is a link or no file; nothing is written through it")
        mode = stat.S_IMODE(status.st_mode)
    temporary = f".{name}.{secrets.token_hex(4)}"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=inner)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, name, src_dir_fd=inner, dst_dir_fd=inner)
    except BaseException:
        os.unlink(temporary, dir_fd=inner)
        raise


def write_atomically(path: Path, data: bytes, *, mode: int = 0o600, durable: bool = True) -> None:
    private_folder(path.parent)
    path = path.resolve()  # a linked settings file stays a link
    with contextlib.suppress(OSError):
        mode = path.stat().st_mode & 0o777
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
