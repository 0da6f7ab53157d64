"""The end of the conversation: it is in sight when a chat opens, while text comes, and after one sends."""

import pytest

from fakeapi import FakeApi, hold, text
from nvimscreen import Neovim
from nvimscreen.scenes import Start, open_chat, send, session

pytestmark = pytest.mark.editor

LINES = "".join(f"line {number}\n" for number in range(80))


def long_chat(editor: Neovim, model: FakeApi) -> None:
    model.reply(text(f"{LINES}the last words"))
    open_chat(editor)
    send(editor, "count")
    editor.see("the last words", "idle")


def test_a_chat_that_was_closed_opens_at_its_end_with_what_came_meanwhile(start: Start, model: FakeApi) -> None:
    model.reply(text("first words\n", hold("more"), LINES, "the last words"))
    editor = start(env=model.env)
    open_chat(editor)
    send(editor, "count")
    editor.see("first words")
    editor.type("q")
    editor.until(lambda: "sends · @ files" not in editor.look(), "for the chat to close")
    model.release("more")
    editor.see("done: first words")
    editor.command("Assent chat")
    editor.see("the last words", "idle")


def test_an_earlier_conversation_opens_at_its_end(start: Start, model: FakeApi) -> None:
    pick = "vim.ui.select = function(items, _, done) done(items[1]) end\n"
    editor = start(env=model.env)
    long_chat(editor, model)
    editor.__exit__()
    again = start(env=model.env, config=pick)
    again.command("Assent sessions")
    again.see("the last words", "sends · @ files")


def test_a_chat_opens_at_its_end_on_a_second_tab_page(start: Start, model: FakeApi) -> None:
    editor = start(env=model.env)
    long_chat(editor, model)
    editor.command("tabnew")
    editor.command("Assent chat")
    editor.see("the last words", "sends · @ files")


def test_a_buffer_deleted_in_the_middle_of_an_answer_comes_back_whole_and_follows(start: Start, model: FakeApi) -> None:
    model.reply(text(LINES, "halfway\n", hold("more"), *LINES.splitlines(keepends=True), "the last words"))
    editor = start(env=model.env)
    open_chat(editor)
    send(editor, "count")
    editor.see("halfway")
    editor.command(f"bdelete {editor.lua('return vim.fn.bufnr(...)', f'assent://chat/{session(editor)}')}")
    editor.command("Assent chat")
    editor.see("halfway", "sends · @ files")
    model.release("more")
    editor.see("the last words", "idle")
    lines = editor.lines(f"assent://chat/{session(editor)}")
    assert [line for line in lines if line.startswith("## ")] == ["## You", "## Assent"]
    assert lines.count("line 79") == 2 and lines.count("halfway") == 1


def test_sending_brings_the_end_into_sight_wherever_one_was_reading(start: Start, model: FakeApi) -> None:
    editor = start(env=model.env)
    long_chat(editor, model)
    editor.command("wincmd k | 10")
    editor.command("normal! zt")
    editor.command("wincmd j")
    assert "the last words" not in editor.look()
    model.reply(text(f"{LINES}and the very last"))
    send(editor, "again")
    editor.see("and the very last", "idle")


def test_a_window_that_shows_the_end_again_follows_again(start: Start, model: FakeApi) -> None:
    model.reply(text(LINES, "so far\n", hold("more"), LINES, "the last words"))
    editor = start(env=model.env)
    open_chat(editor)
    send(editor, "count")
    editor.see("so far")
    chat = f"vim.fn.bufwinid('assent://chat/{session(editor)}')"
    scroll = "vim.api.nvim_win_call(%s, function() vim.cmd('normal! ' .. vim.keycode('%s')) end)"
    editor.lua(scroll % (chat, "40<C-y>"))  # as a mouse does in a window without the cursor
    editor.until(lambda: "so far" not in editor.look(), "to see what is further up")
    editor.lua(scroll % (chat, "40<C-e>"))
    editor.see("so far")
    model.release("more")
    editor.see("the last words")


def test_the_end_of_a_paragraph_longer_than_the_window_is_in_sight(start: Start, model: FakeApi) -> None:
    model.reply(text("It begins. " + "word " * 900, hold("more"), "and it ends"))
    editor = start(env=model.env, size=(100, 30))
    open_chat(editor)
    send(editor, "tell me")
    editor.see("word word")
    model.release("more")
    editor.see("and it ends", "idle")
