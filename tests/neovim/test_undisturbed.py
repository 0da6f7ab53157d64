"""What Neovim would ask by itself while the agent works: nobody opened these files, so no question may take the keys."""

import pytest

from fakeapi import FakeApi, text, tool
from nvimscreen import Neovim
from nvimscreen.scenes import GREETER, Start, open_chat, send

pytestmark = pytest.mark.editor


def test_messages_in_a_row_wait_for_no_key(start: Start) -> None:
    editor = start(size=(80, 24))
    editor.lua("for _, word in ipairs({ 'one', 'two', 'three' }) do require('assent.notice').tell(word) end")
    editor.see("Assent: three")
    assert editor.messages().split() == ["Assent:", "one", "Assent:", "two", "Assent:", "three"]


def leave_a_swap_file(start: Start) -> None:
    """As a Neovim does that was killed while it had changes in other.txt."""
    killed = start(file="", config="vim.o.swapfile = true\n", swap=True)
    (killed.project / "other.txt").write_text("one\ntwo\n")
    killed.command("edit other.txt | call setline(1, 'unsaved') | preserve")
    killed.watchdog.end()


@pytest.mark.parametrize("way", ["shown by the agent", "opened for review"])
def test_a_swap_file_raises_no_question_and_the_user_is_told(newest: Start, model: FakeApi, way: str) -> None:
    leave_a_swap_file(newest)
    if way == "shown by the agent":
        model.reply(tool("OpenFile", file_path="other.txt", line=2))
    else:
        model.reply(tool("Read", file_path="other.txt"))
        model.reply(tool("Edit", file_path="other.txt", old_string="two", new_string="three"))
    model.reply(text("There."))
    option = "vim.g.assent = vim.tbl_extend('force', vim.g.assent, { review = { open_files = true } })\n"
    editor = newest(env=model.env, swap=True, config="vim.o.swapfile = true\n" + option)
    open_chat(editor)
    send(editor, "look at it")
    editor.see("one", "two", "other.txt has a swap file and was opened read-only")
    editor.type("istill typing")
    editor.see("still typing")


def write_protected(editor: Neovim) -> None:
    editor.command("set confirm | wincmd h | set readonly | wincmd l")


def test_a_read_only_buffer_is_told_of_instead_of_asked_about_whoever_set_confirm(
    newest: Start, model: FakeApi
) -> None:
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(tool("Edit", file_path="greeter.py", old_string='"Helo"', new_string='"Hello"'))
    model.reply(tool("Bash", command="cp greeter.py seen.txt"))
    model.reply(text("Over."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "fix it and copy it")
    editor.see("hunk 1 of 1")
    editor.command("Assent accept all")
    editor.see("│$ cp greeter.py seen.txt")
    write_protected(editor)
    editor.command("Assent answer allow")
    editor.see("Not saved yet: greeter.py", "1  Saved, continue")
    editor.command("Assent answer")
    editor.type("3")
    editor.see("Over.")
    assert (editor.project / "greeter.py").read_text() == GREETER
    assert editor.lua("return vim.o.confirm") is True
