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
KEYS = 300
BURST = 25
Row = dict[str, Any]


def main() -> list[Row]:
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    return [*_start_up(), *_reviewing(), *_typing()]


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
        {"name": "start-up: what the plugin adds", "ours": added, "floor": None, "unit": "ms", "ratio": None},
    ]


def _typing() -> list[Row]:
    """Two editors on the same file, one of them with an agent at work; keys go to the one and the other in turn."""
    from fakeapi import FakeApi, Reply, text, tool
    from nvimscreen.scenes import editors, open_chat, send

    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        FakeApi.threaded() as api,
        editors("0.12", Path(folder)) as start,
    ):
        api.reply(tool("Read", file_path="greeter.py"))
        api.reply(tool("Edit", _EDIT))
        api.reply(text(*_STORY), every=0.005)
        api.otherwise(Reply(parts=(text("A title"),)))
        bare = start()
        editor = start(env=api.env)
        for each in (bare, editor):
            each.command("normal! ggO# ")
        open_chat(editor)
        send(editor, "fix it")
        editor.see("hunk 1 of 1")
        editor.command("Assent! chat")
        editor.see("sends · @ files")
        send(editor, "talk")
        editor.see("a word or two")
        editor.command("wincmd t | normal! gg")
        before = _cpu(editor), _cpu(bare)
        ours, floor = _keys(editor, bare)
        work = (_cpu(editor) - before[0]) / KEYS, (_cpu(bare) - before[1]) / KEYS
        row: Row = {"name": "a key in a buffer under review, a turn streaming (no agent), median", "unit": "ms"}
        slow = statistics.quantiles(ours, n=100)[94], statistics.quantiles(floor, n=100)[94]
        return [
            row | _numbers(ours, floor),
            {"name": "… the slowest 1 in 20", "unit": "ms", "ours": slow[0], "floor": slow[1],
             "ratio": slow[0] / slow[1]},
            {"name": "… what Neovim's processor does meanwhile, for each key", "unit": "ms", "ours": work[0],
             "floor": work[1], "ratio": work[0] / work[1]},
        ]  # fmt: skip


def _reviewing() -> list[Row]:
    """The processor's work for a key where a hunk and its ask wait: the least of many short runs that alternate, so
    that other work on the machine counts little."""
    from fakeapi import FakeApi, Reply, text, tool
    from nvimscreen.scenes import editors, open_chat, send

    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        FakeApi.threaded() as api,
        editors("0.12", Path(folder)) as start,
    ):
        api.reply(tool("Read", file_path="greeter.py"))
        api.reply(tool("Edit", _EDIT))
        api.otherwise(Reply(parts=(text("A title"),)))
        bare, served, editor = start(config=_BARE), start(config=_BARE + _SERVED), start(env=api.env)
        for each in (bare, served, editor):
            each.command("normal! ggO# ")
        open_chat(editor)
        send(editor, "fix it")
        editor.see("hunk 1 of 1", "Assent asks")
        editor.command("wincmd t | normal! gg")
        work: tuple[list[float], ...] = ([], [], [])
        for each in (editor, bare, served):
            each.nvim.input("A")
        for _ in range(KEYS // BURST):
            for each, spent in zip((editor, bare, served), work, strict=True):
                before = _cpu(each)
                for _ in range(BURST):
                    each.nvim.input("x")
                    each.nvim.eval("1")
                spent.append((_cpu(each) - before) / BURST)
                each.nvim.input("<C-u># ")  # a longer line costs more
    mine, floor, with_server = map(min, work)
    name = "Neovim's processor for a key in a buffer under review (no plugin), least"
    return [
        {"name": name, "unit": "ms", "ours": mine, "floor": floor, "ratio": mine / floor},
        {"name": "… (no plugin, but a language server that hears of every change)", "unit": "ms", "ours": mine,
         "floor": with_server, "ratio": mine / with_server},
    ]  # fmt: skip


_BARE = f"vim.opt.rtp:remove([[{PLUGIN}]])\nvim.o.statusline = '%f %m'\n"

# A language server inside Neovim that says nothing: what it costs is Neovim's own keeping track of changes.
_SERVED = """
vim.api.nvim_create_autocmd("BufReadPost", { callback = function()
  vim.lsp.start({ name = "silent", cmd = function()
    local nothing = function() return true end
    return { request = function(method, _, done)
      local sync = { openClose = true, change = 2 }
      vim.schedule(function() done(nil, { capabilities = { textDocumentSync = sync } }) end)
      return true, 1
    end, notify = nothing, is_closing = function() return false end, terminate = nothing }
  end })
end })
"""

_EDIT = {"file_path": "greeter.py", "old_string": '"Helo and bye"', "new_string": '"Goodbye"'}


_STORY = ["a word or two " if number % 40 else "a word or two.\n\n" for number in range(1, 20_000)]


def _keys(editor: Any, bare: Any) -> tuple[list[float], list[float]]:
    """From sending a key to the answer of Neovim's next request: it has handled the key by then."""
    took: tuple[list[float], list[float]] = ([], [])
    for each in (editor, bare):
        each.nvim.input("A")
    for _ in range(KEYS):
        for each, times in zip((editor, bare), took, strict=True):
            began = time.perf_counter()
            each.nvim.input("x")
            each.nvim.eval("1")
            times.append((time.perf_counter() - began) * 1000)
    for each in (editor, bare):
        each.nvim.input("<Esc>")
    return took


def _cpu(editor: Any) -> float:
    used = editor.lua("return vim.uv.getrusage()")
    return sum(used[kind]["sec"] * 1000 + used[kind]["usec"] / 1000 for kind in ("utime", "stime"))


def _numbers(ours: list[float], floor: list[float]) -> Row:
    mine, bare = statistics.median(ours), statistics.median(floor)
    return {"ours": mine, "floor": bare, "ratio": mine / bare}
