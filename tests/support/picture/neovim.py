"""Neovim's frames: the same request in a real Neovim, its screen painted at every step."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

from fakeapi import FakeApi, Reply, text, tool
from nvimscreen import Neovim
from nvimscreen.scenes import open_chat, send
from picture import story
from picture.coloured import ColouredScreen
from picture.story import Frame

SIZE = (124, 34)
LOOKS = """
vim.o.termguicolors = true
vim.o.background = "dark"
vim.o.showmode = false
vim.o.number = true
vim.g.assent = vim.tbl_extend("force", vim.g.assent, { chat = { size = 0.42 } })
"""


def record(folder: Path, version: str = "0.12") -> list[Frame]:
    project = folder / "project"
    (project / ".git").mkdir(parents=True)
    for name, content in story.FILES.items():
        (project / name).write_text(content)
    with FakeApi.threaded() as model:
        model.otherwise(Reply(parts=(text("A title"),)))
        for parts in (["Hello."], *story.calls()):
            model.reply(*(text(part) if isinstance(part, str) else tool(part[0], part[1]) for part in parts))
        with Neovim(
            version=version,
            folder=folder,
            file=story.FILE,
            env=model.env,
            size=SIZE,
            config=LOOKS,
            screen=ColouredScreen,
        ) as editor:
            return _played(editor, folder)


def _played(editor: Neovim, folder: Path) -> list[Frame]:
    frames: list[Frame] = []

    def frame(seconds: float, said: str) -> None:
        editor.look()
        name = f"neovim-{len(frames):02}.png"
        cast(ColouredScreen, editor.screen).painted().save(folder / name)
        frames.append(Frame(file=name, seconds=seconds, said=said))

    def landed(change: tuple[str, str]) -> Callable[[], bool]:
        return lambda: change[1].rstrip("\n") in editor.lines(story.FILE)

    open_chat(editor)
    send(editor, "hello")  # the server loads what a first request needs; the story begins in a new chat
    editor.see("Hello.")
    editor.command("Assent! chat")
    editor.until(lambda: "Hello." not in editor.look(), "for the new chat")
    editor.type(f"i{story.PROMPT}")
    editor.see("decimals.")
    frame(2.5, "The same in Neovim: ask in :Assent chat")
    editor.type("<Esc><CR>")
    editor.see("hunk 1 of 2", "hunk 2 of 2")
    frame(3, "Two hunks wait in the buffer. Nothing has changed yet")
    editor.command("Assent next")
    editor.type("gha")
    editor.until(landed(story.CHANGES[0]), "for the first hunk")
    editor.until(lambda: "hunk 1 of 2" not in editor.look(), "for its marks to go")
    frame(2.5, "gha accepts a hunk, in the file itself and on its undo stack")
    editor.command("Assent next")
    editor.type("gha")
    editor.until(landed(story.CHANGES[1]), "for the second hunk")
    editor.see("Assent asks", "Alt-y once")
    frame(3, "A command asks first, too")
    editor.type("<M-y>")
    editor.see(story.LAST)
    frame(3.5, "Alt-y allows it once, from any window")
    return frames
