"""Answers by one key from any buffer: the focus stays where it is, and nothing is allowed that was not on the screen."""

import pytest

from fakeapi import FakeApi, text, tool
from nvimscreen.scenes import Start, open_chat, send

pytestmark = pytest.mark.editor


def test_one_key_allows_from_another_buffer_and_the_focus_stays_there(start: Start) -> None:
    editor = start()
    open_chat(editor)
    send(editor, "run `touch made`")
    editor.see("Assent asks", "Alt-y once", "Alt-a always", "Alt-n deny", ":Assent answer for more")
    editor.command("wincmd h")
    window = editor.nvim.current.window.handle
    editor.type("<M-y>")
    editor.until(lambda: (editor.project / "made").exists(), "for the command to run")
    assert editor.nvim.current.window.handle == window
    editor.until(lambda: editor.lua("return vim.fn.maparg('<M-y>', 'n')") == "", "for the key to be free again")


def test_one_key_answers_while_text_is_being_typed_and_the_text_stays(newest: Start) -> None:
    editor = newest()
    open_chat(editor)
    send(editor, "run `touch made`")
    editor.see("Assent asks")
    editor.command("wincmd h")
    editor.type("ggOhalf a line")
    editor.type("<M-n>")
    editor.until(lambda: "Assent asks" not in editor.look(), "for the ask to go")
    editor.type(" and its end<Esc>")
    assert editor.lines()[0] == "half a line and its end"
    assert not (editor.project / "made").exists()


def test_asks_that_wait_are_answered_one_after_the_other_by_the_same_key(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Bash", command="touch one"), tool("Bash", command="touch two"))
    model.reply(text("Both are there."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "make two")
    for name in ("one", "two"):
        editor.see("Assent asks", f"│$ touch {name}")  # the ask itself: both commands stand in the chat before it
        editor.type("<M-y>")
    editor.see("Both are there.")
    assert (editor.project / "one").exists() and (editor.project / "two").exists()


def test_always_saves_the_rule_and_the_next_call_runs_unasked(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Bash", command="touch one"))
    model.reply(tool("Bash", command="touch one"))
    model.reply(text("Twice."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "make it twice")
    editor.see("Assent asks", "Alt-a always")
    editor.type("<M-a>")
    editor.see("Twice.")
    assert "touch one" in (editor.project / ".assent" / "settings.local.json").read_text()


def test_a_key_of_the_users_own_is_left_alone_and_the_ask_names_the_command(newest: Start) -> None:
    editor = newest(config="vim.keymap.set('n', '<M-y>', function() _G.mine = true end)\n")
    open_chat(editor)
    send(editor, "run `touch made`")
    editor.see("Assent asks", ":Assent yes once", "Alt-n deny")
    editor.type("<M-y>")
    editor.until(lambda: editor.lua("return _G.mine == true"), "for the user's own mapping")
    assert not (editor.project / "made").exists()
    editor.command("Assent yes")
    editor.until(lambda: (editor.project / "made").exists(), "for the command to run")


def test_a_mapped_plug_is_the_key_that_the_ask_names(newest: Start) -> None:
    editor = newest(config="vim.keymap.set('n', '<F2>', '<Plug>(AssentYes)')\n")
    open_chat(editor)
    send(editor, "run `touch made`")
    editor.see("Assent asks", "<F2> once", "Alt-n deny")
    assert editor.lua("return vim.fn.maparg('<M-y>', 'n')") == ""
    editor.type("<F2>")
    editor.until(lambda: (editor.project / "made").exists(), "for the command to run")


def test_one_key_does_not_allow_what_was_not_on_the_screen(newest: Start, model: FakeApi) -> None:
    plan = "\n".join(f"{number}. Step number {number}" for number in range(1, 60))
    model.reply(tool("ExitPlanMode", plan=plan))
    model.reply(text("On my way."))
    editor = newest(env=model.env)
    open_chat(editor)
    editor.command("Assent mode plan")
    editor.see("· plan")
    send(editor, "plan it")
    editor.see("Assent proposes a plan · more below")
    editor.type("<M-y>")  # goes into it instead
    editor.see("y approve the plan")
    editor.type("y")  # its lines were cut: all of it is shown
    editor.see("59. Step number 59" if editor.nvim.options["lines"] > 62 else "20. Step number 20")
    assert len(model.calls) == 1
    editor.command("Assent answer")
    editor.see("the keys above answer it")
    editor.type("y")  # the rest of it
    editor.see("59. Step number 59", "61 of 61 lines shown")
    assert len(model.calls) == 1
    editor.type("y")
    editor.see("On my way.")
