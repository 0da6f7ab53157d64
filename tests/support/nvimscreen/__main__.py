"""A real Neovim for a driver in another language: JSON lines in, an answer to each out.

    {"do": "start", "folder": "/scratch", "project": "/scratch/ws", "file": "app.py", "env": {…}}
    {"do": "see", "texts": ["Assent asks"]}        and command, type, gone, lines, search, picture, kill

Every answer is {"is": …} or {"failed": "why, with the screen"}. It ends with its input, and Neovim with it.
"""

import json
import sys
from pathlib import Path
from typing import Any

from nvimscreen import Neovim
from nvimscreen.drawing import drawn

Json = dict[str, Any]


class Driven:
    def __init__(self) -> None:
        self._editor: Neovim | None = None

    @property
    def editor(self) -> Neovim:
        assert self._editor is not None, "no editor was started"
        return self._editor

    def start(self, order: Json) -> int:
        folder = Path(order["folder"])
        folder.mkdir(exist_ok=True)
        self._editor = Neovim(
            version="0.12",
            folder=folder,
            project=Path(order["project"]),
            file=order["file"],
            env=order["env"],
            size=(140, 40),
        )
        return int(self._editor.nvim.funcs.getpid())

    def command(self, order: Json) -> None:
        self.editor.command(order["text"])

    def type(self, order: Json) -> None:
        self.editor.type(order["keys"])

    def see(self, order: Json) -> str:
        return self.editor.see(*order["texts"])

    def gone(self, order: Json) -> str:
        return self.editor.until(lambda: order["text"] not in self.editor.screen.text(), f"for {order['text']} to go")

    def lines(self, order: Json) -> list[str]:
        return self.editor.lines(order["file"])

    def search(self, order: Json) -> bool:
        """Put the cursor where these words are."""
        return self.editor.lua("return vim.fn.search('\\\\V' .. ...)", order["text"]) > 0

    def picture(self, order: Json) -> None:
        Path(order["path"]).write_text(drawn(self.editor.look(), title=order["title"]), encoding="utf-8")

    def close(self) -> None:
        if self._editor is not None:
            self._editor.__exit__()


def main() -> None:
    driven = Driven()
    try:
        for line in sys.stdin:
            order: Json = json.loads(line)
            try:
                answer: Json = {"is": getattr(driven, order["do"])(order)}
            except Exception as error:  # whatever it was: the driver's test fails with it
                answer = {"failed": f"{type(error).__name__}: {error}"}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
    finally:
        driven.close()


main()
