"""Writing a small file so that a reader, or a crash, sees the old one or the new one and nothing between."""

import contextlib
import os
import secrets
from pathlib import Path
from typing import Any, cast

import orjson

from assent.storage.lines import encode
from assent.types.blocks import Json


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


def write_atomically(path: Path, data: bytes, *, mode: int = 0o600, durable: bool = True) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
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
