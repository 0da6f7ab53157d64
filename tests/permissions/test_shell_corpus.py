"""Hundreds of command lines, each with its one right answer."""

import re
from pathlib import Path

import pytest

from assent.permissions.shell.judge import is_read_only
from permissions.scratch import Scratch, make_scratch
from permissions.shell_corpus import ALWAYS_FINE, NEVER_UNASKED


@pytest.mark.parametrize("kind", NEVER_UNASKED)
def test_what_could_do_harm_is_never_allowed_unasked(plain_ws: Scratch, kind: str) -> None:
    allowed = [command for command in NEVER_UNASKED[kind] if plain_ws.bash(command).decision == "allow"]
    assert allowed == []


@pytest.mark.parametrize("kind", NEVER_UNASKED)
def test_a_rule_for_another_command_does_not_help_it(plain_ws: Scratch, kind: str) -> None:
    rules = [
        f"Bash({name}:*)" for name in ("ls", "echo", "cat", "git status", "grep", "head", "true", "test", "printf")
    ]
    allowed = [c for c in NEVER_UNASKED[kind] if plain_ws.bash(c, allow=rules).decision == "allow"]
    reading_elsewhere = re.compile(r"(?:cd sub\W+)?(?:cat|head|ls|grep|test|\[)\b|\[")
    assert [c for c in allowed if not reading_elsewhere.match(c)] == []
    assert all("PWNED" not in c for c in allowed)


def test_everyday_reading_is_never_asked_about(plain_ws: Scratch) -> None:
    asked = {command: d.reason for command in ALWAYS_FINE if (d := plain_ws.bash(command)).decision != "allow"}
    assert asked == {}


@pytest.mark.parametrize("mode", ["acceptEdits", "dontAsk", "plan", "auto"])
def test_everyday_reading_is_fine_in_every_mode(plain_ws: Scratch, mode: str) -> None:
    assert {c for c in ALWAYS_FINE if plain_ws.bash(c, mode=mode).decision != "allow"} == set()


def test_an_untrusted_workspace_runs_git_unasked_only_in_a_plain_repository(tmp_path: Path) -> None:
    ws = make_scratch(tmp_path, key=False)
    with_git = [c for c in ALWAYS_FINE if "git " in c and "--version" not in c and "-v git" not in c]
    assert len(with_git) > 40
    assert {c for c in with_git if ws.bash(c, trusted=False).decision != "allow"} == set()
    (ws.root / ".git/config").write_text("[core]\n\tfsmonitor = ./ev.sh\n")
    assert {c for c in with_git if ws.bash(c, trusted=False).decision == "allow"} == set()


def test_what_only_reads_may_run_beside_other_calls(plain_ws: Scratch) -> None:
    root = str(plain_ws.root)
    assert is_read_only("ls | head", root)
    assert not is_read_only("ls > x", root)
    assert not is_read_only("echo $(x)", root)
    assert not is_read_only("make", root)
