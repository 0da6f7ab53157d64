"""What the tests of the plugin do again and again: the project they work in, and the first steps of a conversation."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nvimscreen import Neovim

GREETER = 'def greet():\n    return "Helo"\n\n\ndef bye():\n    return "Helo and bye"\n'

Start = Callable[..., Neovim]


@contextmanager
def editors(version: str, folder: Path) -> Generator[Start]:
    """Start as many editors as wanted in one project; all of them end with the block."""
    (folder / "project" / ".git").mkdir(parents=True)
    (folder / "project" / "greeter.py").write_text(GREETER)
    opened: list[Neovim] = []

    def start(**options: Any) -> Neovim:
        editor = Neovim(version=version, folder=folder, **options)
        opened.append(editor)
        return editor

    try:
        yield start
    finally:
        for editor in opened:
            editor.__exit__()


def open_chat(editor: Neovim) -> None:
    editor.command("Assent chat")
    editor.see("sends · @ files")


def send(editor: Neovim, prompt: str) -> None:
    editor.type(f"i{prompt}<Esc><CR>")


def session(editor: Neovim) -> str:
    return editor.lua("return require('assent.session').current")
