"""The terminal: lines in, text out. Reading a line never blocks the event loop and can be cancelled."""

import asyncio
import sys

from assent.cli.render import Palette


class Terminal:
    def __init__(self) -> None:
        self.interactive = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
        self.palette = Palette.of(sys.stdout)
        self._at_line_start = True

    def line(self, text: str = "") -> None:
        """A whole line, on its own, whatever was streaming before it."""
        if not self._at_line_start:
            sys.stdout.write("\n")
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
        self._at_line_start = True

    def stream(self, text: str) -> None:
        """Text as it comes."""
        if not text:
            return
        sys.stdout.write(text)
        sys.stdout.flush()
        self._at_line_start = text.endswith("\n")

    async def ask(self, prompt: str) -> str | None:
        """One line typed by the person; None when there is no more input."""
        if not self._at_line_start:
            self.line()
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
