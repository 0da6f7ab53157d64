"""What a user is told when something is missing: one clear message with the fix, and no errors on top of it."""

from pathlib import Path

import pytest

from nvimscreen.scenes import editors

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
