"""What a third attack found: names that a search hands on, and variables and templates that tell git where to write."""

import pytest

from permissions.scratch import Scratch

BYPASS = {"mode": "bypassPermissions"}


@pytest.fixture
def config_ws(plain_ws: Scratch) -> Scratch:
    for name in (".vscode/settings.json", ".github/workflows/ci.yml", "tpl/hooks/pre-commit"):
        path = plain_ws.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    return plain_ws


@pytest.mark.parametrize(
    "command",
    [
        "find .git -type f | xargs rm", "find .git | xargs rm -rf", "find .git/hooks -type f | xargs rm", "find .git -name config | xargs rm",
        "find .git -type f -print0 | xargs -0 rm", "find .git -type f | xargs sed -i s/a/b/", "find .git -type f | xargs cp a.py",
        "find .git -type f | env xargs rm", "find .git -type f | sudo xargs rm", "find .git -type f | /usr/bin/xargs /bin/rm", "find ./.git | xargs gzip",
        "find {root}/.git -type f | xargs rm", "find sub/../.git | xargs rm", "rg --files .git | xargs rm", "grep -rl x .git | xargs rm",
        "grep -rlZ bare .git | xargs -0 sed -i s/a/b/", "find .vscode -type f | xargs rm", "find .github/workflows -type f | xargs sed -i s/a/b/",
        "find .git | parallel rm", "find .git | parallel -j 4 rm {}", "ls -d .git/* | parallel 'rm -r {}'", "find .git | parallel -0 gzip",
    ],
)  # fmt: skip
def test_protected_files_that_a_search_hands_on_are_asked_about(config_ws: Scratch, command: str) -> None:
    answer = config_ws.bash(command.replace("{root}", str(config_ws.root)), **BYPASS)
    assert (answer.decision, answer.step) == ("ask", "ironGate")


@pytest.mark.parametrize(
    "command",
    [
        "find sub -name '*.py' | xargs sed -i s/x/y/",
        "grep -rl x sub | xargs sed -i s/x/y/",
        "find . -name '*.pyc' | xargs rm",
        "find .git -type f | xargs wc -l",
        "find .git -type f | parallel echo",
        "rg -l .eslintrc | xargs sed -i s/x/y/",
    ],
)
def test_ordinary_files_that_a_search_hands_on_are_changed_unasked_in_bypass(plain_ws: Scratch, command: str) -> None:
    assert plain_ws.bash(command, **BYPASS).decision == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "git init --template=tpl", "git init --template tpl", "git init --temp=tpl", "git init --t=tpl sub", "git -c init.templateDir=tpl init",
        "git -c INIT.TEMPLATEDIR=tpl clone . y", "git clone --template=tpl . y", "git clone --separate-git-dir=z . y", "git init --separate-git-dir=z",
        "git init --sep z", "git clone -c core.hooksPath=tpl . y", "git clone -qc core.fsmonitor=./ev.sh . y", "git clone --config=a.b=c . y",
        "git clone --conf a.b=c . y",
        "GIT_TEMPLATE_DIR=tpl git init", "env GIT_TEMPLATE_DIR=tpl git init", "export GIT_TEMPLATE_DIR=tpl; git init", "env GIT_TEMPL''ATE_DIR=tpl git init",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=init.templateDir GIT_CONFIG_VALUE_0=tpl git init", "GIT_CONFIG_GLOBAL=x git init",
        "HOME=sub git init", "XDG_CONFIG_HOME=sub git init", "GIT_DIR=x git checkout -f", "GIT_WORK_TREE=.vscode git reset --hard", "env GIT_DIR=x git restore .",
    ],
)  # fmt: skip
def test_git_that_is_told_where_its_files_lie_or_come_from_is_asked_about(config_ws: Scratch, command: str) -> None:
    answer = config_ws.bash(command, **BYPASS)
    assert (answer.decision, answer.step) == ("ask", "ironGate")
    assert config_ws.bash(command, allow=["Bash(git:*)", f"Bash({command})"]).decision == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git init", "git init -q -b main sub/new", "git clone https://example.org/x y", "git clone -q --depth 1 -b main https://example.org/x",
        "git clone -bcd https://example.org/x", "GIT_PAGER=cat git init", "GIT_AUTHOR_NAME=x git commit -m y", "GIT_SSH_COMMAND='ssh -v' git push",
        "GIT_TERMINAL_PROMPT=0 git fetch",
    ],
)  # fmt: skip
def test_plain_uses_of_the_same_go_on_unasked_in_bypass(plain_ws: Scratch, command: str) -> None:
    assert plain_ws.bash(command, **BYPASS).decision == "allow"
