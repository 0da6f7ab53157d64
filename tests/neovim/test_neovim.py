"""The plugin in a real Neovim, read from the screen. Behaviours of the server are tested elsewhere."""

import os
import signal

import pytest

from nvimscreen.scenes import GREETER, Start, open_chat, send, session

pytestmark = pytest.mark.editor


def test_the_chat_streams_an_answer_and_says_who_answers(start: Start) -> None:
    editor = start(cold=True)
    open_chat(editor)
    send(editor, "find greet")
    screen = editor.see("## You", "find greet", "## Assent", "greeter.py:1:def greet():")
    assert "not a language model" in screen
    editor.see("offline", "default", "idle")


def test_an_ask_is_answered_by_keys_and_never_takes_the_focus(start: Start) -> None:
    editor = start()
    open_chat(editor)
    send(editor, "run `touch made`")
    editor.see("Assent asks", "$ touch made", "Alt-n deny")
    window = editor.nvim.current.window.handle
    editor.type("iy<Esc>")  # typed for the prompt: it must not answer
    assert not (editor.project / "made").exists()
    assert editor.nvim.current.window.handle == window
    assert editor.lines(f"assent://prompt/{session(editor)}") == ["y"]
    editor.command("Assent answer")
    editor.type("y")
    editor.until(lambda: (editor.project / "made").exists(), "for the command to run")


def test_a_denial_with_a_reason_reaches_the_model(start: Start) -> None:
    editor = start(config="vim.ui.input = function(_, done) done('not on a Friday') end\n")
    open_chat(editor)
    send(editor, "run `touch made`")
    editor.see("Assent asks")
    editor.command("Assent answer")
    editor.type("r")
    editor.see("not on a Friday")
    assert not (editor.project / "made").exists()


def test_two_hunks_one_accepted_and_one_rejected_and_undo_takes_the_accepted_one_back(start: Start) -> None:
    editor = start()
    open_chat(editor)
    send(editor, "replace 'Helo' by 'Hello' in greeter.py")
    editor.see('return "Hello"', "hunk 1 of 2", "hunk 2 of 2", "2 hunks")
    assert editor.lines() == GREETER.splitlines()
    editor.command("wincmd h | 1")
    editor.type("]h")
    editor.type("gha")
    editor.until(lambda: editor.lines()[1] == '    return "Hello"', "for the first hunk to land")
    editor.type("]hghr")
    editor.see("1 of 2 hunks accepted; hunk 2 rejected by the user")
    expected = GREETER.splitlines()
    assert editor.lines() == [expected[0], '    return "Hello"', *expected[2:]]
    assert (editor.project / "greeter.py").read_text() == GREETER  # the buffer is the file; the disk waits for :w
    editor.type("u")
    editor.until(lambda: editor.lines() == expected, "for undo")


def test_typing_while_a_hunk_is_pending_loses_nothing(start: Start) -> None:
    editor = start()
    open_chat(editor)
    send(editor, "replace 'Helo' by 'Hello' in greeter.py")
    editor.see("hunk 2 of 2")
    editor.command("wincmd h | 1")
    editor.type("O# typed meanwhile<Esc>")
    editor.command("Assent accept all")
    editor.see("I replaced")
    assert editor.lines() == ["# typed meanwhile", *GREETER.replace("Helo", "Hello").splitlines()]


def test_an_edited_hunk_lands_as_the_user_wrote_it(start: Start) -> None:
    editor = start()
    open_chat(editor)
    send(editor, "replace 'Helo' by 'Hello' in greeter.py")
    editor.see("hunk 1 of 2")
    editor.command("wincmd h | 2")
    editor.type("ghe")
    editor.see(":w accepts your version")
    editor.type(":s/Hello/Moin/<CR>:w<CR>")
    editor.until(lambda: editor.lines()[1] == '    return "Moin"', "for the user's version to land")


def test_the_review_list_shows_every_hunk(start: Start) -> None:
    editor = start()
    open_chat(editor)
    send(editor, "replace 'Helo' by 'Hello' in greeter.py")
    editor.see("hunk 2 of 2")
    editor.command("Assent review")
    listed = editor.lua("return vim.tbl_map(function(i) return { i.lnum, i.text } end, vim.fn.getqflist())")
    assert [line for line, _ in listed] == [2, 6]
    assert listed[0][1].startswith("[pending] -1 +1")


def test_stop_ends_the_turn(start: Start) -> None:
    editor = start()
    open_chat(editor)
    send(editor, "run `sleep 600`")
    editor.see("Assent asks")
    editor.command("Assent answer allow")
    editor.see("Run sleep 600 running")
    editor.command("Assent stop")
    editor.see("**Stopped.**")
    send(editor, "find greet")
    editor.see("greeter.py:1:def greet():")


def test_a_killed_server_loses_nothing_and_the_chat_goes_on(start: Start) -> None:
    editor = start(cold=True)
    open_chat(editor)
    send(editor, "find greet")
    editor.see("greeter.py:1:def greet():", "idle")
    os.kill(editor.server_pid(), signal.SIGKILL)
    editor.see("The server is gone")
    send(editor, "find bye")
    editor.see("find greet", "greeter.py:5:def bye():")


def test_the_prompt_completes_files_and_commands(start: Start) -> None:
    editor = start()
    open_chat(editor)
    editor.type("i@gree")
    editor.type("<C-x><C-o>")
    editor.see("greeter.py")
    editor.type("<Esc>cc/")
    editor.see("/compact")


def test_checkhealth_says_what_is_there(start: Start) -> None:
    editor = start()
    editor.command("checkhealth assent")
    screen = editor.see("Assent", "server:")
    assert "ERROR" not in screen
    assert "offline stand-in" in "\n".join(editor.nvim.current.buffer[:])


def test_nothing_but_the_offers_is_loaded_before_it_is_used(start: Start) -> None:
    editor = start(config="vim.o.statusline = ''\n")
    editor.until(lambda: bool(editor.lua("return package.loaded['assent.offers'] ~= nil")), "for the offers")
    loaded = editor.lua("return vim.tbl_filter(function(n) return n:find('^assent') end, vim.tbl_keys(package.loaded))")
    assert loaded == ["assent.offers"]
    assert editor.server_pid() == 0
