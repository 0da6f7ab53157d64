"""Things that stand where a file is expected: each would block a plain read, or fill the memory."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

FIVE_GB = 5 * 1024**3


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _link_to_a_fifo(path: Path) -> None:
    pipe = path.with_name(f"{path.name}.pipe")
    os.mkfifo(pipe)
    path.symlink_to(pipe)


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _device(path: Path) -> None:
    path.symlink_to("/dev/tty")


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(FIVE_GB)


def _directory(path: Path) -> None:
    path.mkdir()


def _socket(path: Path) -> None:
    # The system takes at most 108 bytes for a socket's path, and temporary folders are deeper.
    here = os.open(path.parent, os.O_PATH)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"/proc/self/fd/{here}/{path.name}")
    finally:
        os.close(here)


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


ODD: dict[str, tuple[Callable[[Path], None], str]] = {
    "fifo": (_fifo, "named pipe"),
    "link-to-fifo": (_link_to_a_fifo, "named pipe"),
    "link-to-zero": (_endless, "device"),
    "device": (_device, "device"),
    "sparse": (_sparse, "too large"),
    "directory": (_directory, "directory"),
    "socket": (_socket, "socket"),
    "loop": (_loop, "symbolic links"),
}
"""By name: how to put it there, and a word of the reason that a reader must give."""


def put(kind: str, path: Path) -> str:
    """Put one at the path; the word its refusal must hold."""
    make, word = ODD[kind]
    path.parent.mkdir(parents=True, exist_ok=True)
    make(path)
    return word
