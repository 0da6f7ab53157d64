"""The terminal: lines in, text out. Reading never blocks the event loop and can be cancelled.

On a real terminal a `Reader` reads; one that is `dumb` gets plain lines.
"""

import asyncio
import contextlib
import os
import shutil
import sys
import textwrap
from collections.abc import Collection
from typing import Protocol

from assent.cli.chat.render import Palette


class LeftPrompt(Exception):
    """Ctrl-C at a question, or at a prompt with nothing typed."""


class Reader(Protocol):
    """What `line_editor.LineEditor` does; it is loaded only where there is a real terminal."""

    async def prompt(self, words: str) -> str | None: ...
    async def line(self, words: str, *, text: str = "", lines: bool = False) -> str | None: ...
    async def key(self, words: str, keys: Collection[str]) -> str | None: ...
    def forget_typed(self) -> None: ...


class Terminal:
    def __init__(self) -> None:
        self.interactive = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
        self.capable = self.interactive and os.environ.get("TERM", "dumb") not in ("dumb", "")
        self.palette = Palette.of(sys.stdout)
        self.editor: Reader | None = None
        self._at_line_start = True

    @property
    def mark(self) -> str:
        """What stands before a prompt."""
        return "❯ " if self.capable else "> "

    @property
    def width(self) -> int:
        return min(shutil.get_terminal_size().columns, 120)

    def line(self, text: str = "") -> None:
        """A whole line, on its own, whatever was streaming before it."""
        if not self._at_line_start:
            sys.stdout.write("\n")
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
        self._at_line_start = True

    def wrapped(self, text: str) -> str:
        """Broken between words where the terminal's line ends; a longer word is left to the terminal."""
        width = shutil.get_terminal_size().columns
        return textwrap.fill(text, max(width, 20), break_long_words=False, break_on_hyphens=False)

    def forget_typed(self) -> None:
        """Keys typed before a question is shown do not answer it."""
        if self.editor is not None:
            self.editor.forget_typed()
        if self.interactive:
            with contextlib.suppress(ImportError):  # Windows has no termios
                import termios

                termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)

    def stream(self, text: str) -> None:
        """Text as it comes."""
        if not text:
            return
        sys.stdout.write(text)
        sys.stdout.flush()
        self._at_line_start = text.endswith("\n")

    async def prompt(self, words: str) -> str | None:
        """What the person wants next; None when they leave."""
        if self.editor is None:
            return await self.ask(words)
        self._fresh_line()
        return await self.editor.prompt(words)

    async def key(self, words: str, keys: Collection[str]) -> str | None:
        """One of the keys; None when there is no more input."""
        if self.editor is not None:
            self._fresh_line()
            return await self.editor.key(words, keys)
        while (typed := await self.ask(words)) is not None:
            if typed.strip().lower()[:1] in keys:
                return typed.strip().lower()[:1]
        return None

    async def edit(self, words: str, text: str) -> str | None:
        """The text as the person changed it; None if they gave up, or where a terminal cannot edit."""
        if self.editor is None:
            return None
        self._fresh_line()
        return await self.editor.line(words, text=text, lines=True)

    async def ask(self, prompt: str) -> str | None:
        """One line typed by the person; None when there is no more input."""
        self._fresh_line()
        if self.editor is not None:
            return await self.editor.line(prompt)
        sys.stdout.write(prompt)
        sys.stdout.flush()
        self._at_line_start = False
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_reader(sys.stdin.fileno(), lambda: ready.done() or ready.set_result(None))
        try:
            await ready
        finally:
            loop.remove_reader(sys.stdin.fileno())
        text = sys.stdin.readline()
        self._at_line_start = text.endswith("\n")  # the terminal shows what is typed, the line end too
        return text.rstrip("\n") if text else None

    def _fresh_line(self) -> None:
        if not self._at_line_start:
            self.line()
