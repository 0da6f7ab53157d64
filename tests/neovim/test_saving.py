"""Saving before a command, and the plain questions of the server: nothing of it may take keys typed for a buffer."""

import json

import pytest

from fakeapi import FakeApi, text, tool
from nvimscreen import Neovim
from nvimscreen.scenes import Start, open_chat, send

pytestmark = pytest.mark.editor

THEIRS = "# by another program\n"


@pytest.fixture
def editor(newest: Start, model: FakeApi) -> Neovim:
    """An accepted edit waits unsaved in the buffer, another program writes the file, and a command is to run."""
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(tool("Edit", file_path="greeter.py", old_string='"Helo"', new_string='"Hello"'))
    model.reply(tool("Bash", command="cp greeter.py seen.txt"))
    model.reply(text("Over."))
    editor = newest(env=model.env, config="vim.o.autoread = false\n")
    open_chat(editor)
    send(editor, "fix it and copy it")
    editor.see("hunk 1 of 1")
    editor.command("Assent accept all")
    editor.see("│$ cp greeter.py seen.txt")
    (editor.project / "greeter.py").write_text(THEIRS)
    return editor


def _told(model: FakeApi) -> str:
    return str(model.calls[-1].messages[-1])


def test_a_file_that_changed_under_the_buffer_is_not_saved_over_and_no_question_takes_the_keys(
    editor: Neovim, model: FakeApi
) -> None:
    editor.command("Assent answer allow")
    editor.see("was changed by another program", "1  Saved, continue", "3  Cancel")
    editor.command("stopinsert | wincmd h")
    editor.type("Go123<Esc>")
    editor.until(lambda: editor.lines()[-1] == "123", "for the keys to arrive in the buffer")
    assert (editor.project / "greeter.py").read_text() == THEIRS
    editor.command("Assent answer")
    editor.type("3")
    editor.see("Over.")
    assert "Not run: the user cancelled because of unsaved changes in greeter.py" in _told(model)
    assert (editor.project / "greeter.py").read_text() == THEIRS
    assert not (editor.project / "seen.txt").exists()


def test_a_change_that_neovim_has_told_of_before_raises_no_question_in_the_middle_of_the_write(
    editor: Neovim, model: FakeApi
) -> None:
    editor.command("autocmd FileChangedShell * let v:fcs_choice = ''")
    editor.command("checktime")
    editor.command("Assent answer allow")
    editor.see("was changed by another program")
    editor.command("Assent answer")
    editor.type("2")
    editor.see("Over.")
    assert "Unsaved in the editor while this ran: greeter.py" in _told(model)
    assert (editor.project / "seen.txt").read_text() == THEIRS


def test_saving_by_hand_answers_the_question_and_takes_it_away(editor: Neovim, model: FakeApi) -> None:
    editor.command("Assent answer allow")
    editor.see("was changed by another program")
    editor.command("stopinsert | wincmd h | write!")
    seen = editor.see("Over.")
    assert "Saved, continue" not in seen
    assert "Unsaved" not in _told(model)
    assert 'return "Hello"' in (editor.project / "seen.txt").read_text()


def test_the_question_of_trust_waits_in_the_corner_and_is_answered_by_its_number(newest: Start) -> None:
    editor = newest()
    folder = editor.project / ".assent"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps({"permissions": {"allow": ["Bash(make test)"]}}))
    open_chat(editor)
    editor.see("Do you trust", "1  Stay restricted", "2  Trust this folder")
    editor.type("i12 words")
    editor.see("12 words", "2  Trust this folder")
    editor.type("<Esc>")
    editor.command("Assent answer")
    editor.type("2")
    editor.until(lambda: "Trust this folder" not in editor.look(), "for the question to go")
    editor.command("Assent trust no")
    editor.see("Assent: this folder is not trusted")
