"""Deciding about lines, in lists and for whole turns: what lands is what was selected, and every list follows."""

import pytest

from fakeapi import FakeApi, text, tool
from nvimscreen import Neovim
from nvimscreen.scenes import GREETER, Start, open_chat, send

pytestmark = pytest.mark.editor

THREE = "one\ntwo\nthree\n"


def propose(editor: Neovim, model: FakeApi, old: str, new: str) -> None:
    """An edit to three.txt, under review in its own window with nothing else on the screen."""
    (editor.project / "three.txt").write_text(THREE)
    model.reply(tool("Read", file_path="three.txt"))
    model.reply(tool("Edit", file_path="three.txt", old_string=old, new_string=new))
    model.reply(text("So be it."))
    editor.command("edit three.txt")
    open_chat(editor)
    send(editor, "change it")
    editor.see("hunk 1 of 1")
    editor.command("wincmd h")
    editor.until(lambda: editor.nvim.current.buffer.name.endswith("three.txt"), "for the file")


def test_a_visual_selection_of_a_hunk_takes_only_those_lines(start: Start, model: FakeApi) -> None:
    editor = start(env=model.env)
    propose(editor, model, THREE, "ONE\nTWO\nTHREE\n")
    editor.type("ggVjgha")
    editor.until(lambda: editor.lines("three.txt") == ["ONE", "TWO", "three"], "for two of three lines")
    editor.see("So be it.")
    assert "TWO" in str(model.calls[-1].tool_results)  # the model is told what stands there now


def test_where_lines_have_no_partners_all_of_them_are_shown_to_select_from(newest: Start, model: FakeApi) -> None:
    editor = newest(env=model.env)
    propose(editor, model, "two\n", "deux\ntwo and more\nfin\n")
    editor.type("ggjghl")
    editor.see("-two", "+deux", "+two and more", "accepts (all or selected)")
    editor.command("call search('two and more', 'w')")
    editor.type("Vgha")
    wanted = ["one", "two", "two and more", "three"]
    editor.until(lambda: editor.lines("three.txt") == wanted, "for the one line")


def test_the_quickfix_list_follows_what_is_decided(newest: Start) -> None:
    editor = newest()
    open_chat(editor)
    send(editor, "replace 'Helo' by 'Hello' in greeter.py")
    editor.see("hunk 2 of 2", "2 hunks")
    editor.command("wincmd h | Assent review")
    editor.see("greeter.py|2| [pending] -1 +1", "greeter.py|6| [pending] -1 +1")
    editor.command("wincmd t | 2")
    editor.type("ggO# above<Esc>")
    editor.see("greeter.py|3| [pending] -1 +1", "greeter.py|7| [pending] -1 +1")
    editor.type("]hgha")
    editor.until(lambda: len(editor.lua("return vim.fn.getqflist()")) == 1, "for the first to leave the list")
    screen = editor.see("greeter.py|7| [pending] -1 +1", "1 hunk")
    assert "greeter.py|3|" not in screen


def test_the_list_window_shows_each_hunk_and_decides_by_key(newest: Start) -> None:
    editor = newest()
    (editor.project / "other.txt").write_text("Helo\n")
    open_chat(editor)
    send(editor, "replace 'Helo' by 'Hello' in greeter.py")
    editor.see("hunk 2 of 2")
    editor.command("wincmd h | Assent hunks")
    editor.see("2 to decide · 1 file +2 −2", "greeter.py  2 hunks +2 −2", "a accept · r reject")
    editor.type("a")
    editor.until(lambda: editor.lines()[1] == '    return "Hello"', "for the first hunk to land")
    editor.see("1 to decide · 1 file +1 −1")
    assert editor.lua("return vim.bo.filetype") == "assent_hunks"  # the focus stays in the list
    editor.type("r")
    editor.see("1 of 2 hunks accepted; hunk 2 rejected by the user")
    assert editor.lines()[5] == '    return "Helo and bye"'


def test_undo_takes_the_files_of_the_last_turn_back_says_how_much_and_can_be_undone(
    start: Start, model: FakeApi
) -> None:
    trusted = "vim.g.assent = vim.tbl_extend('force', vim.g.assent, { trusted = true })\n"
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(
        tool("Edit", file_path="greeter.py", old_string='"Helo"', new_string='"Hello"'),
        tool("Write", file_path="new.txt", content="one\ntwo\n"),
    )
    model.reply(text("Written."))
    editor = start(env=model.env, config=trusted)
    open_chat(editor)
    editor.command("Assent mode acceptEdits")
    editor.see("· acceptEdits")
    send(editor, "greet better")
    editor.see("Written.", "› 2 files +3 −1 · `:Assent undo` takes it back")
    assert editor.lines()[1] == '    return "Hello"'
    editor.command("Assent undo")
    editor.see("took back 2 files +3 −1 of “greet better”")
    assert editor.lines() == GREETER.splitlines()
    assert not (editor.project / "new.txt").exists()
    editor.command("Assent! undo")
    editor.see("brought back 2 files +3 −1")
    assert editor.lines()[1] == '    return "Hello"'
    assert (editor.project / "new.txt").read_text() == "one\ntwo\n"
