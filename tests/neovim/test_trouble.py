"""What a user is told when something is missing: one clear message with the fix, and no errors on top of it."""

from pathlib import Path

import pytest

from nvimscreen.scenes import Start, editors

pytestmark = pytest.mark.editor

TOO_OLD = "Assent needs Neovim 0.10 or later; this is 0.7.2. Please update it."


def test_a_neovim_that_is_too_old_is_told_so_once_at_the_start_and_by_the_command(tmp_path: Path) -> None:
    with editors("0.7", tmp_path) as start:
        editor = start()
        editor.see(TOO_OLD)
        assert editor.messages().strip().splitlines() == [TOO_OLD]
        editor.command("messages clear | edit greeter.py")
        editor.command("1,2Assent! ask what is this?")
        editor.see(TOO_OLD)
        assert editor.messages().strip().splitlines() == [TOO_OLD]


def test_checkhealth_in_a_neovim_that_is_too_old_names_the_version_that_is_needed(tmp_path: Path) -> None:
    with editors("0.7", tmp_path) as start:
        editor = start()
        editor.command("checkhealth assent")
        report = "\n".join(editor.nvim.current.buffer[:])
        assert TOO_OLD in report and "Update Neovim" in report
        assert report.count("ERROR") == 1 and "Failed to run" not in report


MISSING = "no-such-assent was not found. Install Assent, or set vim.g.assent = { cmd = "
AT_ONCE = "the server ended at once (exit code 3). Run `sh -c exit 3` in a terminal to see why, or :checkhealth assent"


def test_a_missing_server_is_one_clear_message(start: Start) -> None:
    editor = start(server="'no-such-assent', 'serve', '--stdio'")
    editor.command("Assent chat")
    editor.see(MISSING)
    assert len(editor.messages().strip().splitlines()) == 1


def test_a_server_that_exits_at_once_is_one_clear_message(start: Start) -> None:
    editor = start(server="'sh', '-c', 'exit 3'")
    editor.command("Assent chat")
    editor.see(AT_ONCE)
    assert len(editor.messages().strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("server", "words"), [("'no-such-assent'", MISSING), ("'sh', '-c', 'exit 3'", AT_ONCE)], ids=["missing", "at once"]
)
def test_a_server_that_is_enabled_but_cannot_start_is_told_of_once_not_with_every_file(
    newest: Start, server: str, words: str
) -> None:
    editor = newest(server=server, file="", config="if vim.lsp.enable then vim.lsp.enable('assent') end\n")
    if editor.lua("return vim.lsp.enable == nil"):
        editor.command("Assent chat")  # Neovim 0.10 cannot enable servers
    editor.command("edit greeter.py")
    editor.see(words)
    for name in ("one.py", "two.py", "three.py"):
        editor.command(f"edit {name} | set filetype=python")
    assert len(editor.messages().strip().splitlines()) == 1


def test_a_server_that_keeps_ending_is_left_alone_and_a_restart_tries_again(newest: Start) -> None:
    editor = newest(server="'sh', '-c', 'exit 3'")
    for times in range(1, 4):
        editor.command("Assent chat")
        editor.until(lambda n=times: editor.messages().count("ended at once") == n, "for the server to end")
    editor.command("Assent chat")
    editor.see("ended three times within a minute and is left alone now", ":Assent restart tries again")
    editor.command("Assent restart")
    editor.until(lambda: editor.messages().count("ended at once") == 4, "for one more try")


def test_wrong_settings_and_unknown_subcommands_are_named(newest: Start) -> None:
    editor = newest(config="vim.g.assent = { chat = { layout = 'upside down' } }\n")
    editor.command("Assent chat")
    editor.see("vim.g.assent.chat.layout must be right, left, bottom, tab or float")
    editor.command("Assent nonsense")
    editor.see("there is no command nonsense. There are: accept, ")


def test_checkhealth_says_how_to_get_a_missing_server(newest: Start) -> None:
    editor = newest(server="'no-such-assent', 'serve', '--stdio'")
    editor.command("checkhealth assent")
    screen = editor.see("no-such-assent was not found", "pip install assent-lsp")
    assert screen.count("ERROR") == 1
