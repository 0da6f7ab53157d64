"""A program on a real pseudo-terminal, and the screen a person would see, kept by a terminal emulator."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pyte

PATIENCE = 120.0  # seconds; only ever spent when something is broken


class Pseudoterminal:
    """The program and its terminal, as something to type at; it ends with the block it was opened in."""

    def __init__(self, argv: list[str], *, env: dict[str, str], cwd: Path, columns: int = 140, rows: int = 40) -> None:
        self._fd, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            argv,
            stdin=child,
            stdout=child,
            stderr=child,
            env={"TERM": "xterm-256color", **env},
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(child)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._fd)

    def modes(self) -> int:
        """How the terminal treats what is typed: termios.ECHO, termios.ICANON …"""
        return int(termios.tcgetattr(self._fd)[3])

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self._fd)
        self._fd = os.open(os.devnull, os.O_RDWR)

    def type(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def _read(self, timeout: float) -> bytes | None:
        """What was written by now: None when nothing comes, nothing at all when the program has ended."""
        ready, _, _ = select.select([self._fd], [], [], max(0.0, timeout))
        if not ready:
            return None
        try:
            return os.read(self._fd, 65536)
        except OSError:  # the terminal's other end is closed
            return b""


class Terminal(Pseudoterminal):
    def __init__(self, argv: list[str], *, env: dict[str, str], cwd: Path, columns: int = 140, rows: int = 40) -> None:
        self._screen: Any = pyte.Screen(columns, rows)
        self._screen.write_process_input = self.type  # what a terminal itself answers: where the cursor is
        self._stream: Any = pyte.ByteStream(self._screen)
        super().__init__(argv, env=env, cwd=cwd, columns=columns, rows=rows)

    def screen(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display)

    def see(self, *texts: str) -> str:
        return self.until(lambda: all(text in self.screen() for text in texts), f"to see {texts}")

    def until(self, condition: Callable[[], bool], what: str) -> str:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, f"waited {what}; the screen:\n{self.screen()}"
            piece = self._read(0.05)
            assert piece != b"", f"the program ended; the screen:\n{self.screen()}"
            self._stream.feed(piece or b"")
        return self.screen()


def _take_terminal() -> None:
    """In the child: the pseudo-terminal becomes its own, so that Ctrl-C is a signal."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
