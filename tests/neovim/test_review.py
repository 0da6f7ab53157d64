"""Reviewing edits in the real buffer: where hunks show, what typing into them does, how one gets from one to the next."""

import pytest

from fakeapi import FakeApi, text, tool
from nvimscreen.scenes import GREETER, Start, open_chat, send

pytestmark = pytest.mark.editor

REPAIRS = {"Helo": "Hello", "Helo and bye": "Hello and bye"}
ASKED = "replace 'Helo' by 'Hello' in greeter.py"


def test_typing_into_a_hunk_marks_it_as_a_conflict_and_the_other_lives(newest: Start) -> None:
    editor = newest()
    open_chat(editor)
    send(editor, ASKED)
    editor.see("hunk 1 of 2", "hunk 2 of 2")
    editor.command("wincmd h | 2")
    editor.type("A  # mine<Esc>")
    editor.see("conflict: you changed these lines", "hunk 2 of 2")
    editor.command("Assent accept all")
    editor.until(lambda: editor.lines()[5] == '    return "Hello and bye"', "for the other hunk to land")
    assert editor.lines()[1] == '    return "Helo"  # mine'


def test_an_ask_shows_only_the_hunks_that_are_not_decided_yet(start: Start) -> None:
    editor = start()
    open_chat(editor)
    send(editor, ASKED)
    editor.see("Assent asks", "│@@ line 2", "│@@ line 6", "hunk 1 of 2")
    editor.command("wincmd h | 2")
    editor.type("ghr")
    screen = editor.see("│1 of 2 hunks left to decide", "│@@ line 6", "hunk 2 of 2")
    assert "@@ line 2" not in screen
    editor.type("<M-y>")
    editor.until(lambda: editor.lines()[5] == '    return "Hello and bye"', "for the hunk that was left")
    assert editor.lines()[1] == '    return "Helo"'


def test_the_models_reason_for_a_change_stands_once_under_its_first_hunk(newest: Start, model: FakeApi) -> None:
    changes = [{"old_string": f'"{old}"', "new_string": f'"{new}"'} for old, new in REPAIRS.items()]
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(text("Both are misspelt."), tool("MultiEdit", file_path="greeter.py", edits=changes))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "mend it")
    editor.see("hunk 1 of 2", "hunk 2 of 2", "Both are misspelt.")
    editor.command("wincmd h | only")
    screen = editor.see("hunk 1 of 2", "hunk 2 of 2", "Both are misspelt.")
    assert screen.count("Both are misspelt.") == 1
    assert screen.index("hunk 1 of 2") < screen.index("Both are misspelt.") < screen.index("hunk 2 of 2")


def test_a_file_to_review_opens_beside_the_others_without_taking_the_focus(newest: Start) -> None:
    option = "vim.g.assent = vim.tbl_extend('force', vim.g.assent, { review = { open_files = true } })\n"
    editor = newest(config=option)
    (editor.project / "other.txt").write_text("Helo\n")
    open_chat(editor)
    send(editor, "replace 'Helo' by 'Hello' in other.txt")
    screen = editor.see("other.txt", "Helo", "Hello", "hunk 1 of 1", "def greet():")
    assert "sends · @ files" in screen
    assert "assent://prompt/" in editor.nvim.current.buffer.name
    editor.command("Assent next")
    assert editor.nvim.current.buffer.name.endswith("other.txt")
    editor.type("gha")
    editor.until(lambda: editor.lines("other.txt") == ["Hello"], "for the hunk to land")


def test_a_file_to_review_that_is_not_shown_is_told_of_and_next_goes_there_from_the_chat(newest: Start) -> None:
    editor = newest()
    (editor.project / "other.txt").write_text("Helo\n")
    open_chat(editor)
    send(editor, "replace 'Helo' by 'Hello' in other.txt")
    editor.see("an edit to review in other.txt; :Assent next goes there")
    editor.command("Assent next")
    screen = editor.see("hunk 1 of 1", "Hello")
    assert editor.nvim.current.buffer.name.endswith("other.txt")
    assert "sends · @ files" in screen  # the chat keeps its windows


def test_the_list_and_the_keys_go_across_files(newest: Start, model: FakeApi) -> None:
    model.reply(
        tool("Write", file_path="first.txt", content="one\n"), tool("Write", file_path="second.txt", content="two\n")
    )
    model.reply(text("Written."))
    editor = newest(env=model.env, config="vim.g.assent = vim.tbl_extend('force', vim.g.assent, { trusted = true })\n")
    open_chat(editor)
    editor.command("Assent mode acceptEdits")
    editor.see("· acceptEdits")
    send(editor, "write both")
    editor.see("Written.", "idle")
    editor.command("wincmd h | Assent review")
    editor.see("first.txt|1| [landed] -0 +1  one", "second.txt|1| [landed] -0 +1  two")
    editor.type("<CR>")
    editor.until(lambda: editor.nvim.current.buffer.name.endswith("first.txt"), "for the first file")
    editor.see("Assent landed")
    editor.type("]h")
    editor.until(lambda: editor.nvim.current.buffer.name.endswith("second.txt"), "for the second file")
    editor.type("[h")
    editor.until(lambda: editor.nvim.current.buffer.name.endswith("first.txt"), "for the first file again")
    editor.type("ghr")
    editor.until(lambda: editor.lines("first.txt") == [""], "for the hunk to be taken back")
    assert (editor.project / "second.txt").read_text() == "two\n"


def test_the_diff_split_shows_the_file_with_every_hunk_taken(newest: Start) -> None:
    editor = newest()
    open_chat(editor)
    send(editor, ASKED)
    editor.see("hunk 2 of 2")
    editor.command("wincmd h | 2 | Assent diff")
    editor.see("with every hunk taken · q closes")
    assert (
        editor.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
        == GREETER.replace("Helo", "Hello").splitlines()
    )
    assert editor.lua("return vim.wo.diff") is True
    editor.type("q")
    editor.until(lambda: not editor.lua("return vim.wo.diff"), "for the diff to end")
    assert editor.lines() == GREETER.splitlines()


def test_reloading_the_file_or_leaving_it_keeps_its_hunks(newest: Start) -> None:
    editor = newest()
    (editor.project / "other.txt").write_text("other\n")
    open_chat(editor)
    send(editor, ASKED)
    editor.see("hunk 2 of 2")
    editor.command("wincmd h | edit other.txt")
    editor.until(lambda: "hunk 1 of 2" not in editor.look(), "for the other file")
    editor.command("edit greeter.py")
    editor.see("hunk 1 of 2", "hunk 2 of 2")
    editor.command("edit!")
    editor.see("hunk 1 of 2", "hunk 2 of 2")
    editor.command("edit other.txt | bwipeout greeter.py | edit greeter.py")
    editor.see("hunk 1 of 2", "hunk 2 of 2")
    editor.command("Assent accept all")
    editor.see("I replaced")
    assert editor.lines() == GREETER.replace("Helo", "Hello").splitlines()


def test_the_plug_maps_do_what_the_commands_do(newest: Start) -> None:
    editor = newest(
        config="""
vim.keymap.set("n", "<F2>", "<Plug>(assent-chat)")
vim.keymap.set("n", "<F3>", "<Plug>(assent-next-hunk)")
vim.keymap.set("n", "<F4>", "<Plug>(assent-accept)")
vim.keymap.set("n", "<F5>", "<Plug>(assent-reject-all)")
"""
    )
    editor.type("<F2>")
    editor.see("sends · @ files")
    send(editor, ASKED)
    editor.see("hunk 2 of 2")
    editor.type("<F3>")
    editor.until(lambda: editor.nvim.current.buffer.name.endswith("greeter.py"), "for the file")
    editor.type("<F4>")
    editor.until(lambda: editor.lines()[1] == '    return "Hello"', "for the first hunk to land")
    editor.type("<F5>")
    editor.see("1 of 2 hunks accepted; hunk 2 rejected by the user")


def test_a_landed_hunk_that_was_changed_by_hand_stays_marked_and_can_be_taken_back(
    start: Start, model: FakeApi
) -> None:
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(tool("Edit", file_path="greeter.py", old_string='"Helo"', new_string='"Hello there"'))
    model.reply(text("Fixed."))
    editor = start(env=model.env)
    open_chat(editor)
    editor.command("Assent mode acceptEdits")
    editor.see("· acceptEdits")
    send(editor, "fix it")
    editor.see("Fixed.", "Assent landed")
    editor.command("wincmd h | 2")
    editor.type("A  # mine<Esc>")
    editor.see("landed, changed by you")
    assert editor.lines()[1].endswith("# mine")
