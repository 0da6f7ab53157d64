"""The Neovim plugin: what it adds to start-up, and how typing feels in a buffer under review while a turn streams.

Floors: the same Neovim without the plugin; the same keys in the same file with no agent at work. Real Neovim, real
server, the fake Messages API on loopback. Ours and the floor alternate in one run; medians.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "editors" / "neovim"
ROUNDS = 15
KEYS = 150
Row = dict[str, Any]


def main() -> list[Row]:
    sys.path.insert(0, str(ROOT / "tests"))
    return [*_start_up(), *_typing()]


def _start_up() -> list[Row]:
    """Sourcing plugin/assent.lua, as `--startuptime` would time it, but inside one process and without the disk."""
    from nvimscreen import program

    script = (
        "local began = vim.uv.hrtime(); vim.g.loaded_assent = nil; "
        "if {load} then vim.cmd.source([[{file}]]) else vim.cmd.source([[{empty}]]) end; "
        "io.write((vim.uv.hrtime() - began) / 1e6)"
    )
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder, "empty.lua")
        empty.write_text("return\n")
        ours: list[float] = []
        floor: list[float] = []
        for _ in range(ROUNDS):
            for load, into in (("true", ours), ("false", floor)):
                code = Path(folder, "time.lua")
                code.write_text(script.format(load=load, file=PLUGIN / "plugin" / "assent.lua", empty=empty))
                command = [program("0.12"), "--clean", "--cmd", f"set rtp^={PLUGIN}", "-l", str(code)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                into.append(float(done.stdout))
    added = statistics.median(ours) - statistics.median(floor)
    return [
        {"name": "start-up: sourcing the plugin (an empty one)", **_numbers(ours, floor), "unit": "ms"},
        {"name": "start-up: what the plugin adds (the mark is 1 ms)", "ours": added, "floor": 1.0, "unit": "ms",
         "ratio": added},
    ]  # fmt: skip


def _typing() -> list[Row]:
    from fakeapi import FakeApi, Reply, text, tool
    from nvimscreen.scenes import editors, open_chat, send

    with tempfile.TemporaryDirectory() as folder, FakeApi.threaded() as api, editors("0.12", Path(folder)) as start:
        api.reply(tool("Read", file_path="greeter.py"))
        api.reply(tool("Edit", _EDIT))
        api.reply(text(*["a word or two "] * 20_000), every=0.005)
        api.otherwise(Reply(parts=(text("A title"),)))
        editor = start(env=api.env)
        editor.command("normal! ggO# ")
        floor = _keys(editor)
        open_chat(editor)
        send(editor, "fix it")
        editor.see("hunk 1 of 1")
        editor.command("Assent! chat")
        editor.see("sends · @ files")
        send(editor, "talk")
        editor.see("a word or two")
        editor.command("wincmd t | normal! gg")
        ours = _keys(editor)
        row: Row = {"name": "a key in a buffer under review, a turn streaming (no agent), median", "unit": "ms"}
        slow = statistics.quantiles(ours, n=100)[94], statistics.quantiles(floor, n=100)[94]
        return [
            row | _numbers(ours, floor),
            {"name": "… the slowest 1 in 20", "unit": "ms", "ours": slow[0], "floor": slow[1],
             "ratio": slow[0] / slow[1]},
        ]  # fmt: skip


_EDIT = {"file_path": "greeter.py", "old_string": '"Helo and bye"', "new_string": '"Goodbye"'}


def _keys(editor: Any) -> list[float]:
    """From sending a key to the answer of Neovim's next request: it has handled the key by then."""
    took: list[float] = []
    editor.nvim.input("A")
    for _ in range(KEYS):
        began = time.perf_counter()
        editor.nvim.input("x")
        editor.nvim.eval("1")
        took.append((time.perf_counter() - began) * 1000)
    editor.nvim.input("<Esc>")
    return took


def _numbers(ours: list[float], floor: list[float]) -> Row:
    mine, bare = statistics.median(ours), statistics.median(floor)
    return {"ours": mine, "floor": bare, "ratio": mine / bare}
