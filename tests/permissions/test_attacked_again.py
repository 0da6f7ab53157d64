"""What a second attack on the whole list found: each class was open, and is closed by more than its own inputs."""

import os

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
