"""What stands in the conversation is what happened: the command that ran, the error that came, the turns that count."""

import os
import signal

import pytest

from fakeapi import FakeApi, hold, text, tool
from nvimscreen import Neovim
from nvimscreen.scenes import Start, open_chat, send, session

pytestmark = pytest.mark.editor

COMMAND = "touch made; echo *_test_* __init__.py **bold** _a_ `date`; false"


def conversation(editor: Neovim) -> str:
    return "\n".join(editor.lines(f"assent://chat/{session(editor)}"))


def test_commands_and_paths_are_shown_byte_for_byte(start: Start, model: FakeApi) -> None:
    model.reply(tool("Bash", command=COMMAND, description="List *all* the __tests__"))
    model.reply(tool("Read", file_path="pkg/__init__.py"))
    model.reply(text("See pkg/__init__.py and *_test.py."))
    editor = start(env=model.env)
    open_chat(editor)
    send(editor, "what of __init__ and *args?")
    editor.see("Assent asks")
    editor.command("Assent answer allow")
    words = (COMMAND, "List *all* the __tests__", "pkg/__init__.py", "what of __init__ and *args?", "and *_test.py.")
    editor.see(*words, "idle")
    editor.__exit__()
    again = start(env=model.env, config="vim.ui.select = function(items, _, done) done(items[1]) end\n")
    again.command("Assent sessions")
    again.see(*words, "sends · @ files")


def test_the_ends_of_a_long_command_are_always_in_sight_and_the_rest_is_one_fold_away(
    start: Start, model: FakeApi
) -> None:
    command = "\n".join(f"echo step {number}" for number in range(12))
    model.reply(tool("Bash", command=command, description="Do it in steps"))
    model.reply(text("Done."))
    editor = start(env=model.env)
    open_chat(editor)
    send(editor, "go")
    editor.see(
        "Done.",
        "idle",
        "Do it in steps",
        "  $ echo step 0",
        "echo step 2",
        "⋯ The command has 8 lines more",
        "echo step 11",
    )
    assert "echo step 5" not in editor.look()
    editor.command("wincmd k | call search('echo step 5') | normal! zo")
    editor.see("echo step 5", "echo step 10")


def test_a_fold_counts_also_the_lines_of_an_output_that_are_not_shown(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Bash", command="seq 613"))
    model.reply(text("Counted."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "count")
    editor.see("Counted.", "idle", "⋯ 613 lines of output")


def test_errors_and_denials_can_be_read_whole(start: Start, model: FakeApi) -> None:
    deep = "/".join(["a_long_folder_name"] * 8)
    many = "touch made; for n in 1 2 3 4 5 6 7 8 9; do echo problem $n; done; exit 3"
    model.reply(tool("Read", file_path=f"{deep}/none.py"))
    model.reply(tool("Bash", command=many))
    model.reply(tool("Bash", command="touch other"))
    model.reply(text("So be it."))
    editor = start(
        env=model.env,
        size=(100, 50),
        config="vim.ui.input = function(_, done) done('not on a Friday, and not in this folder at all') end\n",
    )
    open_chat(editor)
    send(editor, "go")
    editor.see("│$ touch made; for n in 1 2 3")
    editor.command("Assent answer allow")
    editor.see("Assent asks", "│$ touch other")
    editor.command("Assent answer")
    editor.type("r")
    editor.see("So be it.", "idle")
    seen = editor.look().replace("\n", "").replace(" ", "")
    said = "".join(part.rpartition("│")[2] for part in editor.look().splitlines()).replace(" ", "")
    assert f"{deep}/none.py" in said, editor.look()
    assert "notonaFriday,andnotinthisfolderatall" in said, editor.look()
    assert "⋯Itfailed,10lines:problem1" in seen, editor.look()
    editor.command("wincmd k | call search('problem 5') | normal! zo")
    editor.see("problem 1", "problem 9")


def test_a_rewound_part_leaves_the_chat_and_its_prompt_comes_back(start: Start, model: FakeApi) -> None:
    model.reply(text("The first answer."))
    model.reply(tool("Bash", command="ls greeter.py", description="Look around"))
    model.reply(text("The second answer."))
    pick = """
vim.ui.select = function(items, options, done)
  _G.offered = _G.offered or vim.tbl_map(options.format_item or tostring, items)
  done(items[#items == 3 and 2 or 1])
end
"""
    editor = start(env=model.env, config=pick)
    open_chat(editor)
    send(editor, "say one")
    editor.see("The first answer.", "idle")
    send(editor, "say two\rand *three*")
    editor.see("The second answer.", "idle")
    editor.command("Assent rewind")
    editor.until(lambda: "The second answer." not in conversation(editor), "for the conversation to go back")
    assert editor.lua("return _G.offered") == ["say two and *three*", "say one"]
    editor.until(
        lambda: editor.lines(f"assent://prompt/{session(editor)}") == ["say two", "and *three*"], "for the words"
    )
    left = conversation(editor)
    assert "The first answer." in left and left.count("## You") == left.count("## Assent") == 1
    assert "Look around" not in left and "say two" not in left


def test_a_retried_part_leaves_nothing_behind(start: Start, model: FakeApi) -> None:
    model.cut(text("A false start."), tool("Bash", command="ls"), at_event=8, how="reset")
    model.reply(text("A whole answer."))
    editor = start(env=model.env)
    open_chat(editor)
    send(editor, "go")
    editor.see("A whole answer.", "idle")
    left = conversation(editor)
    assert "A false start." not in left and "Bash" not in left and "Retry" not in left


def test_a_turn_sent_again_stands_in_the_chat_once(start: Start, model: FakeApi) -> None:
    model.reply(text("Half an ", hold("never")))
    model.reply(text("A whole answer."))
    editor = start(env=model.env, cold=True)  # the server itself is killed, not one that speaks for it
    open_chat(editor)
    send(editor, "tell me")
    editor.see("Half an")
    os.kill(editor.server_pid(), signal.SIGKILL)
    editor.see("The server is gone")
    editor.command("Assent chat")
    editor.see("The last turn was cut short")
    editor.command("Assent retry")
    editor.see("A whole answer.", "idle")
    model.release("never")
    left = conversation(editor)
    assert left.count("tell me") == 1 and left.count("## Assent") == 1 and "Half an" not in left


def test_the_mode_above_the_chat_is_the_engines(start: Start, model: FakeApi) -> None:
    model.reply(tool("ExitPlanMode", plan="1. Look\n2. Act"))
    model.reply(text("On it.", hold("more"), " Done."))
    editor = start(env=model.env)
    open_chat(editor)
    editor.command("Assent mode plan")
    editor.see("· plan")
    send(editor, "plan it")
    editor.see("Assent proposes a plan")
    editor.command("Assent answer allow")
    editor.see("On it.", "· default")
    model.release("more")
    editor.see("Done.", "idle")


def test_the_bar_above_the_chat_names_the_call_that_waits_for_an_answer(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Bash", command="touch one"), tool("Bash", command="touch two"))
    model.reply(text("Both."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "touch them")
    for name in ("one", "two"):
        editor.see(f"│$ touch {name}", f"? Run touch {name}")
        editor.type("<M-y>")
    editor.see("Both.", "idle")


def test_stop_gives_back_the_messages_that_waited(start: Start, model: FakeApi) -> None:
    model.reply(text("Once "), tool("Bash", command="sleep 600"))
    model.reply(text("Another time."))
    editor = start(env=model.env)
    open_chat(editor)
    send(editor, "tell me")
    editor.see("Assent asks")
    editor.command("Assent answer allow")
    editor.see("running")
    send(editor, "and then two")
    editor.see("Your message waits its turn.")
    send(editor, "and three")
    editor.until(lambda: conversation(editor).count("waits its turn") == 2, "for the second")
    editor.type("ihalf written<Esc><C-c>")
    prompt = f"assent://prompt/{session(editor)}"
    editor.until(
        lambda: editor.lines(prompt) == ["and then two", "and three", "half written"], "for the words to come back"
    )
    assert "waits its turn" not in editor.see("idle")
    editor.type("<CR>")
    editor.see("Another time.", "idle")
    assert conversation(editor).count("## You") == 2
