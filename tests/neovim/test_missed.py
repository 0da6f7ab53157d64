"""One host behind several editors: what the next one is told, and whose text of a file counts (S4, S7)."""

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakeapi import FakeApi, text, tool
from nvimscreen import Neovim
from nvimscreen.scenes import Start, open_chat, send
from processes import wait_for_end

pytestmark = pytest.mark.editor


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home whose host goes on without an editor; it ends with the test, whatever became of that."""
    home = tmp_path / "home"
    settings = home / "config" / "assent" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"host": True, "hostKeepRunning": True, "hostIdleSeconds": 0}))
    yield home
    for lock in (home / "data" / "assent" / "host").rglob("lock"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            os.kill(json.loads(lock.read_text())["pid"], signal.SIGKILL)


def test_an_ask_that_waits_without_an_editor_is_told_to_the_next_one(newest: Start, home: Path, model: FakeApi) -> None:
    model.reply(tool("Bash", command="touch made"))
    model.reply(text("Made."))
    first = newest(env=model.env, cold=True)
    open_chat(first)
    send(first, "make it")
    first.see("Assent asks")
    server = first.server_pid()
    first.__exit__()
    wait_for_end(server)  # what waits is told to the next editor only if this one has left before

    second = newest(env=model.env, cold=True, config="vim.ui.select = function(items, _, done) done(items[1]) end\n")
    second.command("Assent mcp")  # anything that starts the server
    second.see("“make it” waits for your answer: Run touch made. (:Assent sessions opens it)")
    said = second.lua("return vim.fn.execute('messages')")
    assert said.count("While no window was open") == 1  # not once more as a plain message
    second.command("Assent sessions")
    second.see("make it", "Assent asks")
    second.command("Assent answer allow")
    second.see("Made.", "idle")
    assert (second.project / "made").exists()


def test_a_file_unsaved_in_two_editors_is_that_of_the_last_change_and_the_other_is_told(  # S7
    newest: Start, home: Path, model: FakeApi
) -> None:
    first, second = newest(env=model.env, cold=True), newest(env=model.env, cold=True)
    for editor in (first, second):
        open_chat(editor)
        editor.command("wincmd h")
        editor.until(lambda editor=editor: editor.nvim.current.buffer.name.endswith("greeter.py"), "for the file")

    def asked(editor: Neovim) -> str:
        """What the model reads of the file when this editor's user asks for it."""
        model.reply(tool("Read", file_path=str(editor.project / "greeter.py")))
        model.reply(text("I have read it."))
        before = len(model.calls)
        editor.command("wincmd l")
        editor.command("wincmd j")
        send(editor, "read it")
        editor.until(lambda: len(model.calls) == before + 2, "for the file to be read")
        editor.see("I have read it.", "idle")
        editor.command("wincmd h")
        return str(model.calls[-1].body["messages"][-1])

    first.type("gg0cwone<Esc>")
    first.until(lambda: first.lines()[0] == "one greet():", "for the first change")
    assert "one greet" in asked(first)
    second.type("gg0cwtwo<Esc>")
    first.see("greeter.py was changed in")
    assert (first.lines()[0], second.lines()[0]) == ("one greet():", "two greet():"), "nothing is merged"
    seen = asked(first)
    assert "two greet" in seen and "one greet" not in seen
    first.type("gg0cw1ne<Esc>")
    second.see("greeter.py was changed in")
    assert "1ne greet" in asked(first)
    assert (first.project / "greeter.py").read_text().startswith("def greet"), "saving is the user's"
