"""The plugin as a language client: one server however it is started, files saved."""

import pytest

from fakeapi import FakeApi, text, tool
from nvimscreen.scenes import GREETER, Start, open_chat, send

pytestmark = pytest.mark.editor


def test_enabling_the_server_and_the_command_share_one_client(newest: Start) -> None:
    editor = newest(config="if vim.fn.has('nvim-0.11') == 1 then vim.lsp.enable('assent') end\n")
    open_chat(editor)
    send(editor, "find greet")
    editor.see("greeter.py:1:def greet():", "idle")
    assert editor.lua("return #vim.lsp.get_clients({ name = 'assent' })") == 1
    assert editor.lua("return #vim.lsp.get_clients({ bufnr = vim.fn.bufnr('greeter.py'), name = 'assent' })") == 1


def test_landed_edits_are_saved_before_a_command_and_nothing_else_is(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(tool("Edit", file_path="greeter.py", old_string='"Helo"', new_string='"Hello"'))
    model.reply(tool("Bash", command="cp greeter.py seen.txt"))
    model.reply(text("Copied."))
    editor = newest(env=model.env)
    (editor.project / "mine.txt").write_text("old\n")
    editor.command("edit mine.txt | call setline(1, 'unsaved') | edit! greeter.py | set hidden")
    editor.command("badd mine.txt | buffer mine.txt | call setline(1, 'unsaved') | buffer greeter.py")
    open_chat(editor)
    send(editor, "fix it and copy it")
    editor.see("hunk 1 of 1")
    editor.command("Assent accept all")
    editor.see("│$ cp greeter.py seen.txt")
    editor.command("Assent answer allow")
    editor.see("Copied.")
    assert '"Hello"' in (editor.project / "seen.txt").read_text()
    assert (editor.project / "mine.txt").read_text() == "old\n"


def test_edits_that_land_at_once_stay_marked_and_can_be_taken_back(newest: Start) -> None:
    editor = newest(config="vim.g.assent = vim.tbl_extend('force', vim.g.assent, { trusted = true })\n")
    open_chat(editor)
    editor.command("Assent mode acceptEdits")
    editor.see("· acceptEdits")
    send(editor, "replace 'Helo' by 'Hello' in greeter.py")
    editor.see("Assent landed", "gha keep · ghr take back", "I replaced")
    assert editor.lines()[1] == '    return "Hello"'
    editor.command("wincmd h | 2")
    editor.type("ghr")
    editor.until(lambda: editor.lines()[1] == '    return "Helo"', "for the hunk to go back")
    assert editor.lines()[5] == '    return "Hello and bye"'


def test_a_key_decides_only_about_the_hunk_at_the_cursor(newest: Start) -> None:
    editor = newest(config="vim.keymap.set('n', 'ghe', 'ix', {})\n")
    open_chat(editor)
    send(editor, "replace 'Helo' by 'Hello' in greeter.py")
    editor.see("hunk 2 of 2")
    editor.command("wincmd h | 4")
    editor.type("gha")
    editor.see("no hunk is here")
    assert editor.lines() == GREETER.splitlines()
    editor.command("2 | Assent diff")
    editor.see("with every hunk taken")
    assert editor.lua("return vim.api.nvim_get_current_line()") is not None
    editor.type("q")
    editor.until(lambda: not editor.lua("return vim.wo.diff"), "for the diff to end")


def test_a_restart_takes_up_the_chat_that_is_open(newest: Start) -> None:
    editor = newest()
    open_chat(editor)
    send(editor, "find greet")
    editor.see("greeter.py:1:def greet():", "idle")
    before = editor.server_pid()
    editor.command("Assent restart")
    editor.until(lambda: editor.server_pid() not in (0, before), "for another server")
    editor.until(lambda: editor.lua("return require('assent.client').running() ~= nil"), "for it to be ready")
    editor.until(lambda: "The server is gone" not in editor.look(), "for the chat to be taken up")
    editor.see("find greet", "idle")
    send(editor, "find bye")
    editor.see("greeter.py:5:def bye():")
