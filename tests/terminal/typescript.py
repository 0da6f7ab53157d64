"""A program on a real pseudo-terminal as the stream of what it wrote, for conversations line by line."""

import os
import pty
import re
import select
import subprocess
import time
from pathlib import Path

from terminal import PATIENCE, take_terminal


class Typescript:
    def __init__(self, argv: list[str], *, env: dict[str, str], cwd: Path) -> None:
        self._fd, child = pty.openpty()
        self.process = subprocess.Popen(
            argv,
            stdin=child,
            stdout=child,
            stderr=child,
            env={**env, "TERM": "xterm-256color"},
            cwd=cwd,
            start_new_session=True,
            preexec_fn=take_terminal,
        )
        os.close(child)
        self.raw = ""  # everything, colours included
        self._read = 0

    def expect(self, text: str) -> str:
        """Wait until `text` is written; give back everything up to it, as it reads without colours."""
        deadline = time.monotonic() + PATIENCE
        while text not in (plain := re.sub(r"\x1b\[[0-9;]*m", "", self.raw)[self._read :]):
            ready, _, _ = select.select([self._fd], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"never saw {text!r}; the screen says:\n{plain}"
            try:
                piece = os.read(self._fd, 65536)
            except OSError:
                piece = b""
            assert piece, f"ended before {text!r}; the screen says:\n{plain}"
            self.raw += piece.decode(errors="replace")
        before, _, _ = plain.partition(text)
        self._read += len(before) + len(text)
        return before

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._fd)
