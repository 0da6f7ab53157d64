"""git's command lines: what git would read as a flag is never taken for a value, and the other way round."""

import pytest

from permissions.scratch import Scratch

WRITES = [
    "git log -1 --format=tformat:'touch x' -U --output={home}/.bashrc --no-patch",
    "git log --format --output=a.py",
    "git log --pretty --output=a.py",
    "git log -M --output=a.py",
    "git show --stat --output=a.py",
    "git diff --abbrev --output=a.py",
    "git diff -U --output=.git/hooks/pre-commit",
    "git diff --word-diff --output=x",
    "git diff --dirstat --output=x",
    "git log --decorate --output=x",
    "git log --branches --output=x",
    "git log --no-walk --output=x",
    "git reflog --pretty --output=x",
    "git stash list --stat --output=x",
    "git stash show -U --output=x",
    "git diff-tree --pretty --output=x HEAD",
    "git log -L --output=x",
    "git log -S --output=x",
    "git log --grep --output=x",
    "git log -n --output=x",
    "git log --since --output=x",
    "git log --grep -- --output=x",
    "git log -pU --output=x",
    "git diff --outp=x",
    "git diff --o=x",
    "git log --output x",
]


@pytest.mark.parametrize("command", WRITES)
@pytest.mark.parametrize(
    "rules", [[], ["Bash(git diff:*)", "Bash(git log:*)", "Bash(git show:*)", "Bash(git stash:*)"], ["Bash(git:*)"]]
)
def test_no_line_of_git_writes_a_file_unasked(plain_ws: Scratch, command: str, rules: list[str]) -> None:  # H05
    text = command.replace("{home}", str(plain_ws.home))
    assert plain_ws.bash(text, allow=rules).decision == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git blame --abbrev --contents={home}/.ssh/id_rsa README.md",
        "git blame --contents={home}/.ssh/id_rsa README.md",
        "git blame --contents {home}/.ssh/id_rsa README.md",
        "git blame --content={home}/.ssh/id_rsa README.md",
        "git blame -S {home}/.ssh/id_rsa README.md",
        "git blame --ignore-revs-file={home}/.ssh/id_rsa README.md",
        "git grep -f {home}/.ssh/id_rsa",
        "git grep -f{home}/.ssh/id_rsa",
        "git grep -nf {home}/.ssh/id_rsa",
        "git grep --no-index x {home}/.ssh",
        "git diff --no-index {home}/.ssh/id_rsa README.md",
        "git diff {home}/.ssh/id_rsa README.md",
        "git diff ../home/.ssh/id_rsa README.md",
        "git diff -O{home}/.ssh/id_rsa",
        "git ls-files -X {home}/.ssh/id_rsa",
        "git ls-files --exclude-per-directory={home}/.ssh/id_rsa",
        "git diff --pathspec-from-file={home}/.ssh/id_rsa",
        "git config -f {home}/.ssh/id_rsa -l",
        "git config --file={home}/.ssh/id_rsa -l",
        "git config --blob=HEAD:x -l",
        "git cat-file --batch",
        "git shortlog --stdin",
        "git log --stdin",
    ],
)
def test_no_line_of_git_reads_a_file_elsewhere_unasked(plain_ws: Scratch, command: str) -> None:
    text = command.replace("{home}", str(plain_ws.home))
    for rules in ([], ["Bash(git diff:*)", "Bash(git blame:*)", "Bash(git grep:*)", "Bash(git ls-files:*)"]):
        assert plain_ws.bash(text, allow=rules).decision == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git blame --contents=a.py README.md",
        "git grep -f README.md",
        "git diff --no-index a.py b.py",
        "git log -S'--output=x'",
        "git log --grep=--output=x",
        "git log -- --output=x",
        "git grep -ne hello",
        "git grep -C2 hello",
        "git log -n5 -U2 -M50%",
        "git branch -a --contains HEAD",
        "git branch --merged",
        "git tag --contains HEAD",
        "git rev-parse --git-path hooks",
        "git diff HEAD~1 -- *.py",
        "git status -sb",
        "git shortlog -sne",
        "git show HEAD:README.md",
    ],
)
def test_what_git_would_read_as_a_value_is_one(plain_ws: Scratch, command: str) -> None:
    assert plain_ws.bash(command).decision == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "git diff *", "git diff -*", "git log --*", "git log *.py", "git grep x [-]*", "git diff --stat=*", "git log --since *", "git grep -e *", "git diff {-a,-b}", "git diff $x", "git log -n $PATH", "git log $PATH", "git -C . diff -U$PATH",
        "git fetch *", "git fetch -*", "git push ?-x", "git clone [-]u x",
    ],
)  # fmt: skip
def test_what_the_shell_may_turn_into_a_flag_asks(plain_ws: Scratch, command: str) -> None:
    (plain_ws.root / "1").write_text("")
    for rules in ([], ["Bash(git diff:*)", "Bash(git log:*)", "Bash(git fetch:*)", "Bash(git push:*)", "Bash(git:*)"]):
        assert plain_ws.bash(command, allow=rules).decision == "ask"


def test_a_wildcard_is_fine_where_no_flag_could_do_harm(plain_ws: Scratch) -> None:
    assert plain_ws.bash("git add *.md", allow=["Bash(git add:*)"]).decision == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "git fetch --upload-pack=./ev.sh", "git fetch --upl=./ev.sh", "git fetch --upload-pack ./ev.sh", "git clone --u=./ev.sh x", "git clone -u ./ev.sh x", "git push --rec=./ev.sh", "git push --exec=./ev.sh", "git push --ex ./ev.sh",
        "git archive --remote=x --exec=./ev.sh HEAD", "git rebase -x ./ev.sh", "git rebase --exec ./ev.sh", "git clone -c core.fsmonitor=./ev.sh x", "git clone --conf core.fsmonitor=./ev.sh x", "git clone --template=. x", "git init --templ=.",
        "git difftool --extcmd=./ev.sh", "git send-email --smtp-server=./ev.sh x", "git fetch ext::./ev.sh", "git submodule foreach ./ev.sh", "git grep -O./ev.sh x", "git grep --open=./ev.sh x", "git diff --ext-d", "git log -p --textc", "git -c core.pager=./ev.sh log",
    ],
)  # fmt: skip
def test_a_rule_for_git_covers_no_program_it_is_told_to_run(plain_ws: Scratch, command: str) -> None:
    name = next(word for word in command.split()[1:] if word.isalpha() or word in ("send-email",))
    assert plain_ws.bash(command, allow=["Bash(git:*)", f"Bash(git {name}:*)"]).decision == "ask"


SHOWS = [
    "git cat-file blob 1234567", "git cat-file -p 1234567", "git show 1234567", "git show HEAD:src/secret/k", "git show --stat 1234567", "git stash list -p", "git stash list -U3", "git stash show -p", "git stash show", "git log -p", "git log -u -3",
    "git log -L 1,5:README.md", "git log -S secret", "git log -G secret", "git log -c", "git log --cc", "git log -m", "git log --word-diff", "git grep x", "git diff", "git diff --cached", "git diff HEAD~1", "git diff-tree HEAD", "git diff-index HEAD", "git diff-files",
    "git reflog -p", "git blame README.md", "git status -v", "git archive HEAD", "git show", "git diff --stat -p", "git bundle create - HEAD", "git format-patch --stdout HEAD~1",
    "git for-each-ref --format='%(raw)'", "git tag -l --format='%(*raw)'", "git branch --format='%(contents)'",
]  # fmt: skip


@pytest.mark.parametrize("command", SHOWS)
def test_what_git_shows_is_held_against_rules_that_deny_reading(plain_ws: Scratch, command: str) -> None:
    for mode in ("default", "bypassPermissions", "acceptEdits"):
        answer = plain_ws.bash(command, deny=["Read(src/secret/**)"], mode=mode)
        assert answer.decision in ("ask", "deny"), mode


@pytest.mark.parametrize(
    "command", ["git status", "git log --oneline -5", "git log --stat", "git diff --stat", "git diff --name-only", "git branch -a", "git ls-files", "git stash list", "git cat-file -t HEAD", "git show --stat HEAD~1"]
)  # fmt: skip
def test_what_shows_names_only_is_not_asked_about(plain_ws: Scratch, command: str) -> None:
    assert plain_ws.bash(command, deny=["Read(src/secret/**)"]).decision == "allow"


@pytest.mark.parametrize("format", ["%G?", "%+G?", "%-GK", "% GS", "%(signature)"])
@pytest.mark.parametrize(
    "start",
    ["git log --format=", "git show --pretty=format:", "git stash list --format=", "git reflog --pretty=tformat:"],
)
def test_a_format_that_verifies_signatures_asks(plain_ws: Scratch, start: str, format: str) -> None:
    assert plain_ws.bash(f"{start}'{format}'").decision == "ask"
