"""A program on a real pseudo-terminal as the stream of what it wrote, for conversations line by line."""

import codecs
import re
import time
from pathlib import Path

from terminal import PATIENCE, Pseudoterminal

_CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[=>78]|\][^\x07]*\x07)")


class Typescript(Pseudoterminal):
    def __init__(self, argv: list[str], *, env: dict[str, str], cwd: Path, columns: int = 140) -> None:
        super().__init__(argv, env=env, cwd=cwd, columns=columns)
        self.raw = ""  # everything, colours included
        self._seen = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a piece may end within a character

    def plain(self) -> str:
        return _CONTROL.sub("", self.raw)

    def expect(self, text: str) -> str:
        """Wait until `text` is written; give back everything up to it, as it reads without colours and cursor moves."""
        deadline = time.monotonic() + PATIENCE
        while text not in (plain := self.plain()[self._seen :]):
            piece = self._read(deadline - time.monotonic())
            assert piece is not None, f"never saw {text!r}; the screen says:\n{plain}"
            assert piece, f"ended before {text!r}; the screen says:\n{plain}"
            self.raw += self._decoder.decode(piece)
        before, _, _ = plain.partition(text)
        self._seen += len(before) + len(text)
        return before
