"""A terminal of 80 columns and 24 rows: nothing is cut where it matters, covered where one writes, or waits for ENTER."""

import pytest

from fakeapi import FakeApi, text, tool
from nvimscreen.scenes import Start, open_chat, send

pytestmark = pytest.mark.editor

SMALL = (80, 24)


@pytest.mark.parametrize("height", [1, pytest.param(0, marks=pytest.mark.torture)])
def test_a_long_message_never_waits_for_a_key_and_is_whole_in_messages(start: Start, height: int) -> None:
    editor = start(size=SMALL, server="'no-such-assent'", config=f"vim.o.cmdheight = {height}\n")
    editor.command("Assent chat")
    whole = "set vim.g.assent = { cmd = { '/path/to/assent', 'serve', '--stdio' } }"
    editor.until(lambda: whole in editor.messages(), "for the whole message")  # a look fails where a key is awaited
    if height:  # without a line of its own a message is gone with the next drawing
        editor.see("Assent: no-such-assent was not found. Install Assent,… (:messages)")


def test_the_bars_of_a_narrow_chat_begin_with_what_matters(newest: Start) -> None:
    editor = newest(size=SMALL, config="vim.g.assent = { cmd = vim.g.assent.cmd }\n")
    editor.command("Assent chat")
    rows = editor.see("● idle · ", "<CR> or <C-s> sends · @ files").splitlines()
    assert all(not row.partition("│")[2].startswith("<d") for row in rows)


def test_a_narrow_window_shows_a_hunk_to_its_end_and_says_what_can_be_done(newest: Start, model: FakeApi) -> None:
    line = "    return " + " + ".join(f"word{number}" for number in range(12))
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(tool("Edit", file_path="greeter.py", old_string='    return "Helo"\n', new_string=line + "\n"))
    model.reply(text("Longer now."))
    editor = newest(size=SMALL, env=model.env, config="vim.g.assent = { cmd = vim.g.assent.cmd }\n")
    editor.command("Assent chat")
    editor.see("sends")
    send(editor, "make it longer")
    editor.see("word11", "▲ Assent hunk 1 of 1", "gha accept · ghr reject · ghe edit")
    editor.command("Assent accept all")
    editor.see("Longer now.")
    assert editor.lines()[1] == line


def test_an_ask_makes_room_for_the_line_one_is_writing(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Bash", command="touch made"))
    model.reply(text("Made."))
    editor = newest(size=SMALL, env=model.env)
    (editor.project / "long.txt").write_text("".join(f"line {number}\n" for number in range(60)))
    editor.command("edit long.txt")
    editor.command("Assent prompt make it")
    screen = editor.see("Assent asks", "$ touch made")
    assert screen.index("line 0") < screen.index("Assent asks")  # in the lower corner, as long as that is free
    editor.type("Gowhat I write down here")
    screen = editor.see("what I write down here", "Assent asks", "$ touch made")
    assert screen.index("Assent asks") < screen.index("what I write down here")
    editor.type("<Esc>gg")

    def below() -> bool:
        screen = editor.look()
        return 0 <= screen.find("line 0") < screen.find("Assent asks")

    editor.until(below, "for it to go back")
    editor.command("Assent answer")
    editor.type("y")
    editor.until(lambda: (editor.project / "made").exists(), "for the command to run")


def test_a_long_plan_takes_half_of_the_screen_until_one_goes_into_it(newest: Start, model: FakeApi) -> None:
    plan = "\n".join(f"{number}. Step number {number}" for number in range(1, 60))
    model.reply(tool("ExitPlanMode", plan=plan))
    model.reply(text("Then not."))
    editor = newest(size=SMALL, env=model.env)
    open_chat(editor)
    editor.command("Assent mode plan")
    editor.see("· plan")
    send(editor, "plan it")
    screen = editor.see("Assent proposes a plan · more below", "1. Step number 1", ":Assent answer")
    assert "8. Step number 8" not in screen.partition("Assent proposes")[2] and "sends" in screen
    editor.command("Assent answer")
    editor.see("9. Step number 9")
    editor.type("d")
    screen = editor.see("q goes back · y approve the plan", "15. Step number 15")
    assert "Assent proposes" not in screen
    editor.command("Assent answer")
    editor.type("n")
    editor.see("Then not.")
