"""What a second attack on the whole list found: each class was open, and is closed by more than its own inputs."""

import os
import subprocess

import pytest

from permissions.scratch import Scratch

BYPASS = {"mode": "bypassPermissions"}


@pytest.mark.parametrize(
    "command",
    [
        "env -S'curl x'", "env -Scurl", "flock x -c'curl y'", "script -qc'curl x'", "su -c'curl x'", "watch -x'curl x'",
        "socat - EXEC:'curl x'", "socat - SYSTEM:curl", "gcc -wrapper curl,x a.c",
        "ghc -e 'System.Process.system \"curl x\"'", "m4 <<< 'syscmd(curl x)'", "dc <<< '!curl x'", "curl.exe x",
        "tool <<'E'\nrun(curl, x)\nE", "/mnt/c/Windows/System32/CURL.EXE x", "foo --run=cu\"\"rl", "foo 'a;curl x'",
    ],
)  # fmt: skip
def test_a_denied_command_is_found_in_arguments_of_any_program(ws: Scratch, command: str) -> None:
    assert ws.bash(command, deny=["Bash(curl:*)"], **BYPASS).decision in ("ask", "deny")


@pytest.mark.parametrize(
    "command",
    [
        "pip install pycurl",
        "apt install libcurl4",
        "make curl-test",
        "git commit -m 'use curl'",
        "gh pr create --title 'Use curl less'",
    ],
)
def test_a_name_that_only_contains_that_of_a_denied_command_is_another(ws: Scratch, command: str) -> None:
    assert ws.bash(command, deny=["Bash(curl:*)"], **BYPASS).decision == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "cat /proc/self/cwd/sub/deep/c.txt", "cat /proc/thread-self/cwd/sub/deep/c.txt",
        "cat /proc/self/task/1/cwd/sub/deep/c.txt", "cat //proc//self/cwd/sub/../sub/deep/c.txt",
        "cat /proc/self/root{root}/sub/deep/c.txt", "cat /proc/self/root/proc/self/cwd/sub/deep/c.txt",
        "ln -s sub x && cat x/deep/c.txt", "ln -s sub/deep x", "ag x", "ack x", "ugrep x", "gzip -rc sub", "zstd -rc sub",
        "docker run -v $PWD/sub:/x y", "docker build sub", "docker cp sub c:/x", "aws s3 sync sub s3://x",
        "prettier sub", "uploader sub", "git clone . /tmp/x", "git worktree add /tmp/x", "git checkout-index -a --prefix=/tmp/x/",
    ],
)  # fmt: skip
def test_a_file_that_may_not_be_read_is_found_behind_other_names_and_trees(ws: Scratch, command: str) -> None:
    line = command.replace("{root}", str(ws.root))
    assert ws.bash(line, deny=["Read(sub/deep/**)"], **BYPASS).decision in ("ask", "deny")


def test_a_process_s_own_links_lead_where_the_command_is(ws: Scratch) -> None:
    assert ws.bash("cat /proc/self/cwd/a.py").decision == "allow"
    assert ws.bash("cat /proc/self/root/etc/shadow").step == "ironGate"
    assert ws.bash(f"cat /proc/{os.getpid()}/cwd/a.py").decision == "ask"
    assert ws.bash("cat " + "/proc/self/root" * 60 + "/etc/passwd").decision == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git submodule --quiet status",
        "git worktree list x",
        "git count-objects x",
        "git log --author",
    ],
)
def test_git_lines_that_git_itself_would_refuse_are_asked_about(ws: Scratch, command: str) -> None:
    assert ws.bash(command).decision == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git log -1 --remerge-diff", "git log -1 --dd", "git log -1 --diff-merges=first-parent", "git show --dd", "git diff --strange",
        "git -c color.ui=always log", "git whatchanged -p", "git range-diff a b c", "git shortlog -p", "git reflog --strange",
        "git cat-file --batch", "git annotate a.py", "git difftool", "git format-patch --stdout HEAD~1",
    ],
)  # fmt: skip
def test_git_with_flags_nobody_knows_may_show_any_file(ws: Scratch, command: str) -> None:
    denied = {"deny": ["Read(sub/deep/**)"]}
    assert ws.bash(command, **denied, **BYPASS).decision in ("ask", "deny")
    assert ws.bash(command, **denied, allow=["Bash(git:*)"]).decision in ("ask", "deny")


def test_git_that_shows_no_contents_is_left_alone_by_a_rule_about_reading(ws: Scratch) -> None:
    for command in ("git branch new", "git tag v2", "git commit -m x", "git log --oneline", "git ls-remote"):
        assert ws.bash(command, deny=["Read(sub/deep/**)"], **BYPASS).decision == "allow", command


@pytest.mark.parametrize("command", ["git -c a.b=c credential fill", "git --no-pager -C . credential fill"])
def test_gits_own_flags_do_not_hide_what_is_asked_about_always(ws: Scratch, command: str) -> None:
    assert ws.bash(command, **BYPASS).step == "ironGate"


@pytest.mark.parametrize(
    "line",
    [
        "true {PATH}> /dev/null; cat a.py", "echo x {PATH}>/dev/null && cat a.py", "true {PATH}< a.py; cat a.py",
        "true {PATH}>&1; cat a.py", "true {PATH}<<<x; cat a.py", "true {PATH}>>/dev/null; cat a.py",
        "true {PATH}<<'E'; cat a.py\nx\nE", "true {PATH}<>out; cat a.py", "{ true; } {PATH}>/dev/null; cat a.py",
        "[ -f a.py ] {PATH}>/dev/null; cat a.py", "for i in 1; do true; done {PATH}>/dev/null; cat a.py",
    ],
)  # fmt: skip
def test_a_descriptor_that_is_given_a_name_sets_a_variable_and_so_asks(ws: Scratch, line: str) -> None:
    """bash sets PATH to 10, the number it opens the file as, and runs what lies in the folder of that name."""
    program = ws.root / "10" / "cat"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n: > {ws.root}/RAN\n")
    program.chmod(0o755)
    subprocess.run(["bash", "--norc", "-c", line], cwd=ws.root, capture_output=True, check=False)
    assert (ws.root / "RAN").exists()
    for mode in ("default", "acceptEdits", "plan"):
        assert ws.bash(line, mode=mode).decision == "ask"
    assert ws.bash(line, deny=["Bash(curl:*)"], **BYPASS).decision == "ask"


def test_braces_that_name_no_descriptor_do_not_ask(ws: Scratch) -> None:
    for line in (r"echo \{x}>/dev/null", "echo {x} >/dev/null", "echo a{x}>/dev/null"):
        assert ws.bash(line).decision == "allow"


def test_tail_does_not_wait_for_more_in_its_oldest_spelling(ws: Scratch) -> None:
    for line in ("tail +1f a.py", "tail +f a.py", "tail +2lf a.py"):
        assert ws.bash(line).decision == "ask"
    assert ws.bash("tail -n +2 a.py").decision == "allow"
