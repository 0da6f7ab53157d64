"""The keys that common flows cost, counted: every key a person presses goes through `Fingers`, the prompt's words aside.

What each flow may cost is read from the table of `:help assent-flows`, so that the table says what was measured.
"""

import re

import pytest

from fakeapi import FakeApi, text, tool
from nvimscreen import ROOT, Neovim
from nvimscreen.scenes import Start, open_chat, send

pytestmark = pytest.mark.editor

MAPS = """
vim.keymap.set("x", "gA", "<Plug>(assent-ask)")
vim.keymap.set("n", "gP", "<Plug>(assent-prompt)")
vim.keymap.set("n", "gU", "<Plug>(assent-undo)")
"""

HELP = (ROOT / "editors" / "neovim" / "doc" / "assent.txt").read_text().partition("*assent-flows*\n")[2]
TABLE = HELP.partition("flow\t")[2].partition("\n\n")[0]
KEYS = {flow.partition(" (")[0]: int(keys) for flow, keys in re.findall(r"^\t(.+?)\t+(\d+)\t", TABLE, re.MULTILINE)}


class Fingers:
    """Presses keys, and counts them. Words that a person writes anyway are typed with `write`."""

    def __init__(self, editor: Neovim) -> None:
        self.editor = editor
        self.pressed = 0

    def press(self, *keys: str) -> None:
        self.pressed += len(keys)
        self.editor.type("".join(keys))

    def write(self, words: str) -> None:
        self.editor.type(words)

    def did(self, flow: str) -> None:
        """It took as many keys as the table says; the next flow begins."""
        assert self.pressed == KEYS[flow], flow
        self.pressed = 0


def edits(model: FakeApi, *names: str) -> None:
    """The model edits each of these files, one call after the other."""
    for name in names:
        model.reply(tool("Read", file_path=name))
        model.reply(tool("Edit", file_path=name, old_string="Helo", new_string="Hello"))
    model.reply(text("All done."))


def test_three_edits_in_three_files_cost_three_keys_from_any_buffer(start: Start, model: FakeApi) -> None:
    names = ("one.txt", "two.txt", "three.txt")
    edits(model, *names)
    editor = start(env=model.env)
    for name in names:
        (editor.project / name).write_text("Helo\n")
    open_chat(editor)
    send(editor, "mend them")
    editor.command("wincmd h")
    fingers = Fingers(editor)
    for name in names:
        editor.see("Assent asks", f"Edit {name}", "+ Hello")
        fingers.press("<M-y>")
        editor.until(lambda name=name: (editor.project / name).read_text() == "Hello\n", f"for {name}")
    editor.see("All done.")
    fingers.did("three edits in three files, by ask")
    assert KEYS["three edits in three files, by ask"] <= 8 and len(KEYS) == 10


def test_one_hunk_costs_five_keys_by_review_and_one_by_the_ask(newest: Start) -> None:
    editor = newest()
    open_chat(editor)
    send(editor, "replace 'Helo' by 'Hello' in greeter.py")
    editor.see("hunk 2 of 2")
    fingers = Fingers(editor)
    fingers.press("]", "h", "g", "h", "a")
    editor.until(lambda: editor.lines()[1] == '    return "Hello"', "for the first hunk")
    fingers.did("accept the next hunk")
    fingers.press("<M-n>")
    editor.see("rejected by the user")
    fingers.did("deny it")


def test_an_edit_is_allowed_always_by_one_key(newest: Start, model: FakeApi) -> None:
    edits(model, "one.txt")
    editor = newest(env=model.env)
    (editor.project / "one.txt").write_text("Helo\n")
    open_chat(editor)
    send(editor, "mend it")
    editor.see("Assent asks", "Alt-a always")
    fingers = Fingers(editor)
    fingers.press("<M-a>")
    editor.see("All done.")
    assert (editor.project / "one.txt").read_text() == "Hello\n"
    assert "Edit(" in (editor.project / ".assent" / "settings.local.json").read_text()
    fingers.did("allow it always in this project")


def test_asking_about_a_selection_costs_five_keys_beside_the_words(newest: Start, model: FakeApi) -> None:
    model.reply(text("It greets."))
    editor = newest(env=model.env, config=MAPS)
    fingers = Fingers(editor)
    fingers.press("V", "j", "g", "A")
    editor.see("Ask Assent:")
    fingers.write("what is it?")
    fingers.press("<CR>")
    editor.see("It greets.")
    fingers.did("ask about a selection")
    assert KEYS["ask about a selection"] <= 6


def test_an_inline_change_its_ask_and_its_undo_cost_three_keys_one_and_two(newest: Start, model: FakeApi) -> None:
    edits(model, "greeter.py")
    editor = newest(env=model.env, config=MAPS)
    (editor.project / "greeter.py").write_text('def greet():\n    return "Helo"\n')
    editor.command("edit! | 2")
    fingers = Fingers(editor)
    fingers.press("g", "P")
    editor.see("Change this:")
    fingers.write("spell it right")
    fingers.press("<CR>")
    editor.see("hunk 1 of 1", "Assent asks")
    fingers.did("change a line by an inline prompt")
    fingers.press("<M-y>")
    editor.until(lambda: editor.lines()[1] == '    return "Hello"', "for the change")
    editor.see("Assent ●")
    fingers.did("allow one edit, from any buffer")
    assert KEYS["allow one edit, from any buffer"] <= 2
    fingers.press("g", "U")
    editor.see("took back 1 file +1 −1")
    fingers.did("undo the last turn")
    assert editor.lines()[1] == '    return "Helo"'


def test_one_line_of_a_hunk_costs_four_keys_and_stopping_one(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Read", file_path="greeter.py"))
    whole = {
        "file_path": "greeter.py",
        "old_string": 'def greet():\n    return "Helo"',
        "new_string": 'def hail():\n    return "Hail"',
    }
    model.reply(tool("Edit", whole))
    model.reply(tool("Bash", command="touch made"))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "change it")
    editor.see("hunk 1 of 1")
    editor.command("wincmd h | 2")
    fingers = Fingers(editor)
    fingers.press("V", "g", "h", "a")
    editor.until(lambda: editor.lines()[:2] == ["def greet():", '    return "Hail"'], "for the one line")
    fingers.did("take one line of a hunk")
    editor.see("Assent asks", "$ touch made")
    editor.command("wincmd l")
    fingers.press("<C-c>")
    editor.see("Stopped", "idle")
    fingers.did("stop, from the chat")
    assert not (editor.project / "made").exists()
