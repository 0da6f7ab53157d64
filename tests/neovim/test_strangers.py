"""What a stranger met who used the plugin for the first time on a public package's source: one test for each finding."""

import re

import pytest

from fakeapi import FakeApi, hold, text, thinking, tool
from nvimscreen import Neovim
from nvimscreen.scenes import Start, open_chat, send

pytestmark = pytest.mark.editor

NARROW = (100, 30)
OUTPUT = "for n in 1 2 3 4; do echo output $n; done"
NEW_FILE = "".join(f"def f{number}():\n    return {number}\n" for number in range(45))


def many(count: int) -> str:
    """A command of many lines, each of which has to be asked about."""
    return "\n".join(f"touch made_{number}" for number in range(count))


def made(editor: Neovim) -> bool:
    return (editor.project / "made_0").exists()


def read_to_the_end(editor: Neovim) -> None:
    """Press `y` until all lines were shown; each press shows more of them, and allows nothing."""
    shown, lines = 0, 1
    while shown < lines:
        editor.type("y")
        editor.until(lambda before=shown: told(editor)[0] > before, "for the next part")
        assert not made(editor)
        shown, lines = told(editor)


def told(editor: Neovim) -> tuple[int, int]:
    """How many lines of how many were shown, as the message says."""
    found = re.search(r"(\d+) of (\d+) lines shown", editor.look())
    return (int(found[1]), int(found[2])) if found else (0, 0)


def test_outputs_fold_away_while_one_types_and_after_one_was_opened(start: Start, model: FakeApi) -> None:
    model.reply(tool("Bash", command=OUTPUT))
    model.reply(thinking("first\nsecond\nthird"), text("Once."))
    model.reply(tool("Bash", command=OUTPUT))
    model.reply(text("Twice."))
    editor = start(env=model.env)
    open_chat(editor)
    editor.type("igo<C-s>ihalf a thought")
    screen = editor.see("Once.", "half a thought", "⋯ 4 lines of output", "⋯ It thought for 3 lines: first")
    assert "│ output 2" not in screen
    editor.type("<Esc>ccagain")
    editor.command("wincmd k")
    editor.type("<Esc>")
    editor.lua("vim.fn.search('thought', 'b'); vim.fn.search('output 1$'); vim.cmd('normal! zo')")
    editor.see("│ output 2")
    editor.command("wincmd j")
    editor.type("<Esc><CR>")
    screen = editor.see("Twice.", "⋯ 4 lines of output")
    assert screen.count("│ output 2") <= 1  # the one that its reader opened


def test_a_command_that_waits_for_its_answer_stands_as_it_is(start: Start, model: FakeApi) -> None:
    model.reply(tool("Bash", command="touch made", description="Make it"))
    model.reply(text("Made."))
    editor = start(env=model.env)
    open_chat(editor)
    send(editor, "go")
    rows = editor.see("Assent asks", "`Bash` Make it …").splitlines()
    assert any(row.endswith("│  $ touch made") for row in rows)  # the mark of what is not done yet is not part of it
    editor.type("<M-n>")
    editor.see("Made.")


def test_a_question_longer_than_its_window_is_allowed_at_its_end_only(start: Start, model: FakeApi) -> None:
    model.reply(tool("Bash", command=many(13)))
    model.reply(text("Made."))
    editor = start(env=model.env, size=NARROW)
    open_chat(editor)
    send(editor, "go")
    editor.see("Assent asks · more below", "│$ touch made_0")
    editor.type("ihalf a thought<M-y>")
    screen = editor.see("scroll to its end", "y once")
    assert "│Run touch made_0" not in screen  # the command is said once
    assert editor.nvim.api.get_mode()["mode"] == "n"
    read_to_the_end(editor)
    editor.type("y")
    editor.see("Made.", "half a thought")
    assert made(editor)


def test_what_does_not_fit_a_question_is_allowed_where_it_is_whole_and_at_its_end(
    newest: Start, model: FakeApi
) -> None:
    model.reply(tool("Bash", command=many(45)))
    model.reply(text("Made."))
    editor = newest(env=model.env, size=NARROW)
    open_chat(editor)
    send(editor, "go")
    editor.see("Assent asks · more below")
    editor.command("Assent answer")
    editor.see("y once")
    editor.type("y")
    editor.see("not all of this was shown", "q goes back · y once", "touch made_20")
    assert editor.lua("return #vim.api.nvim_list_tabpages()") == 2
    read_to_the_end(editor)
    editor.type("<M-y>")
    editor.see("Made.")
    assert made(editor) and editor.lua("return #vim.api.nvim_list_tabpages()") == 1


def test_a_question_names_no_key_that_does_something_else_where_one_is(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Bash", command="touch made"))
    model.reply(text("No."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "go")
    screen = editor.see("Assent asks", "“session” and “always” allow Bash(touch made", "Alt-a always")
    assert "s and a allow" not in screen  # in the prompt those keys change text
    editor.type("<M-n>")
    editor.see("No.")


def test_the_mode_stays_in_the_header_whatever_is_asked(start: Start, model: FakeApi) -> None:
    model.reply(tool("Write", file_path="a_folder_with_a_long_name/and_a_file_with_one.py", content="one\n"))
    model.reply(text("No."))
    editor = start(env=model.env, size=(80, 24), config="vim.g.assent = { cmd = vim.g.assent.cmd }\n")
    editor.command("Assent chat")
    editor.see("● idle")
    send(editor, "go")
    screen = editor.see("Assent asks", " ? Write a_folder", "· default")
    header = screen.splitlines()[0].partition("│")[2]
    assert header.startswith(" ? Write a_folder") and header.endswith("… · default")
    editor.type("<M-n>")
    editor.see("No.")


def test_a_long_new_file_is_to_be_seen_also_once_its_own_window_is_closed(start: Start, model: FakeApi) -> None:
    model.reply(tool("Write", file_path="new.py", content=NEW_FILE))
    model.reply(text("Left alone."))
    editor = start(env=model.env, size=NARROW)
    open_chat(editor)
    send(editor, "write it")
    editor.see("Assent asks")
    editor.type("]h")
    editor.see("new.py · hunk 1 of 1", "def f0():")
    editor.type("q")
    editor.until(lambda: "hunk 1 of 1" not in editor.look(), "for its window to go")
    assert "------" not in editor.see("def f0():", "    return 5")
    assert editor.lua("return vim.fn.bufname()") == "new.py"
    editor.type("<M-n>")
    editor.see("Left alone.")


def test_a_word_that_a_command_does_not_know_is_answered_with_those_it_knows(newest: Start, model: FakeApi) -> None:
    editor = newest(env=model.env)
    open_chat(editor)
    editor.command("Assent mode nonsense")
    editor.see("there is no mode nonsense. There are: default, acceptEdits")
    editor.command("Assent chat upside")
    editor.see("there is no layout upside. There are: right, left")
    editor.command("Assent stop")
    editor.see("nothing is running")
    editor.command("Assent retry")
    assert "protocol" not in editor.see("No turn of this session was cut short")


def test_a_turn_that_was_stopped_says_so_in_plain_words(newest: Start, model: FakeApi) -> None:
    model.reply(text("One. ", hold("here"), "Two."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "go")
    editor.see("One.")
    editor.type("<C-c>")
    assert "aborted" not in editor.see("**Stopped.**", "idle")
    model.release("here")


def test_closing_a_view_goes_back_to_where_one_was(newest: Start, model: FakeApi) -> None:
    editor = newest(env=model.env)
    open_chat(editor)
    for words, shown in (("context", "window"), ("memory", "No instruction files"), ("agents", "general-purpose")):
        editor.command(f"Assent {words}")
        editor.see(f"Assent: {words}", shown)
        editor.type("q")
        editor.until(lambda: "assent://prompt/" in editor.nvim.current.buffer.name, f"to be back from {words}")


def test_the_diff_of_a_file_opens_from_any_of_its_lines(newest: Start) -> None:
    editor = newest()
    open_chat(editor)
    send(editor, "replace 'Helo' by 'Hello' in greeter.py")
    editor.see("hunk 2 of 2")
    editor.command("wincmd h | 4 | Assent diff")
    editor.see("with every hunk taken · q closes")
    editor.command("close | wincmd l | Assent diff")
    editor.see("no hunk waits in this file")


def test_a_file_is_attached_to_one_client_of_ours_at_a_time(newest: Start) -> None:
    editor = newest(cold=True)
    names = (
        "return vim.tbl_map(function(c) return c.name end, vim.lsp.get_clients({ bufnr = vim.fn.bufnr('greeter.py') }))"
    )
    editor.until(lambda: editor.lua(names) == ["assent-actions"], "for the actions before the server runs")
    open_chat(editor)
    editor.until(lambda: editor.lua(names) == ["assent"], "for the server alone: every key is told to each client")
    editor.lua("vim.uv.kill(..., 'sigkill')", editor.server_pid())
    editor.until(lambda: editor.lua(names) == ["assent-actions"], "for the actions without a server")
