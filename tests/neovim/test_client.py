"""The plugin as a language client: one server however it is started, the user's own servers asked, files saved."""

import sys
from typing import Any

import pytest

from fakeapi import FakeApi, text, tool
from nvimscreen.scenes import GREETER, Start, open_chat, send

pytestmark = pytest.mark.editor

OTHER_SERVER = """
import re
from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("other", "1")

@server.feature(types.TEXT_DOCUMENT_DEFINITION)
def definition(params):
    at = types.Range(types.Position(4, 4), types.Position(4, 7))
    return types.Location(params.text_document.uri, at)

@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(params):
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "*greets*"))

server.start_io()
"""


def test_enabling_the_server_and_the_command_share_one_client(newest: Start) -> None:
    editor = newest(config="if vim.fn.has('nvim-0.11') == 1 then vim.lsp.enable('assent') end\n")
    open_chat(editor)
    send(editor, "find greet")
    editor.see("greeter.py:1:def greet():", "idle")
    assert editor.lua("return #vim.lsp.get_clients({ name = 'assent' })") == 1
    assert editor.lua("return #vim.lsp.get_clients({ bufnr = vim.fn.bufnr('greeter.py'), name = 'assent' })") == 1


def test_the_users_own_language_server_answers_editor_queries(newest: Start) -> None:
    editor = newest()
    script = editor.folder / "other.py"
    script.write_text(OTHER_SERVER)
    editor.lua("vim.lsp.start({ name = 'other', cmd = { ... } })", sys.executable, str(script))
    editor.until(
        lambda: editor.lua("local c = vim.lsp.get_clients({ name = 'other' })[1]; return c and c.initialized or false"),
        "for the other server",
    )

    def query(kind: str) -> Any:
        editor.lua(
            """
_G.answer = nil
local uri = vim.uri_from_bufnr(vim.fn.bufnr("greeter.py"))
local params = { requestId = "q", kind = ..., uri = uri, position = { line = 0, character = 5 }, timeoutMs = 5000 }
coroutine.wrap(function() _G.answer = require("assent.queries").query(params) end)()
""",
            kind,
        )
        editor.until(lambda: bool(editor.lua("return _G.answer ~= nil")), f"for {kind}")
        return editor.lua("return { _G.answer.status, _G.answer.value }")

    status, value = query("definition")
    assert status == "success" and value[0]["range"]["start"] == {"line": 4, "character": 4}
    assert query("hover") == ["success", {"markdown": "*greets*"}]
    assert query("rename")[0] == "noServer"


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
    editor.see("$ cp greeter.py seen.txt")
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
    editor.until(lambda: editor.lua("return require('assent.client').running() ~= nil"), "for the server")
    editor.until(lambda: "The server is gone" not in editor.look(), "for the chat to be taken up")
    editor.see("find greet", "idle")
    assert editor.server_pid() != before
    send(editor, "find bye")
    editor.see("greeter.py:5:def bye():")
