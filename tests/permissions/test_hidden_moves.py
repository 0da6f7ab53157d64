"""A `cd` that nobody sees in the line: what stands behind it is not judged as if the shell had stayed where it was."""

import subprocess

import pytest

from permissions.scratch import Scratch

LOOPS = (
    "for f in cd; do $f .git/hooks; @; done",
    "for f in cd; do $f .git/hooks; done; @",
    'for f in cd; do "$f" .git/hooks && @; done',
    "for f in cd; do ${f} -- .git/hooks; @; done",
    "for f in cd; do ($f .git/hooks; @); done",
    "for f in cd; do if $f .git/hooks; then @; fi; done",
    "for f in command; do $f cd .git/hooks; @; done",
)
TEXTS = (
    "command eval 'cd .git/hooks'; @",
    "builtin eval 'cd .git/hooks'; @",
    "command . ./move; @",
    "builtin source ./move; @",
    "trap 'cd {root}/.git/hooks' DEBUG; @",
    "mapfile -C 'cd .git/hooks #' -c 1 < a.py; @",
    "shopt -s expand_aliases\nalias x='cd .git/hooks'\nx; @",
)


@pytest.mark.parametrize("line", (*LOOPS, *TEXTS))
@pytest.mark.parametrize("write", ["touch pre-commit", "echo x > pre-commit"])
def test_a_hidden_move_does_not_lead_a_write_past_the_iron_gate(ws: Scratch, line: str, write: str) -> None:
    (ws.root / "move").write_text("cd .git/hooks\n")
    command = line.replace("@", write).replace("{root}", str(ws.root))
    for mode in ("default", "acceptEdits", "plan", "bypassPermissions"):
        assert ws.bash(command, mode=mode).decision == "ask"
    subprocess.run(["bash", "--norc", "-c", command], cwd=ws.root, capture_output=True, check=False)
    assert (ws.root / ".git/hooks/pre-commit").exists()  # bash does move


@pytest.mark.parametrize("line", LOOPS)
def test_a_loop_that_may_move_asks_before_it_reads(ws: Scratch, line: str) -> None:
    """In the folder it moves to, a name may be a link to what is outside."""
    (ws.root / "sub/leak").symlink_to(ws.home / ".ssh/id_rsa")
    command = line.replace(".git/hooks", "sub").replace("@", "cat leak")
    assert ws.bash(command).decision == "ask"
    assert ws.bash(command, deny=["Read(sub/**)"], mode="bypassPermissions").decision in ("ask", "deny")
    ran = subprocess.run(["bash", "--norc", "-c", command], cwd=ws.root, capture_output=True, text=True, check=False)
    assert ran.stdout == "secret\n"  # bash does move


def test_lines_that_move_nowhere_are_still_allowed(ws: Scratch) -> None:
    for line in (
        "for f in a.py b.py; do wc -l $f; done",
        "cd sub; cat a.py",
        "command ls; cat a.py",
        "timeout 1 ls; ls",
    ):
        assert ws.bash(line).decision == "allow"
