"""git unasked: only in the workspace's own repository, and only when that runs nothing."""

import subprocess
from pathlib import Path

import pytest

from assent.permissions.repositories import config_doubt, repository_doubt, unsafe_key
from assent.types.hardening import SCRUBBED_VARIABLES, hardening_env
from assent.types.permissions import Ask
from permissions.scratch import Scratch


def test_a_repository_at_the_root_is_fine_and_none_at_all_too(ws: Scratch, tmp_path: Path) -> None:
    assert ws.bash("git status").decision == "allow"
    assert repository_doubt(frozenset({str(tmp_path)}), [str(tmp_path)], trusted=True) is None


def test_an_embedded_bare_repository_asks(ws: Scratch) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(ws.root / "sub/bare")], check=True)
    for command in (
        "cd sub/bare && git status",
        "git -C sub/bare status",
        "cd sub/bare; git log",
        "(cd sub/bare && git diff)",
    ):
        for rules in ([], ["Bash(git:*)", "Bash(cd:*)", "Bash(git status:*)"]):
            assert ws.bash(command, allow=rules).decision == "ask", command


def test_a_nested_repository_asks(ws: Scratch) -> None:
    subprocess.run(["git", "init", "-q", str(ws.root / "sub/nested")], check=True)
    assert ws.bash("cd sub/nested && git status").decision == "ask"
    assert ws.bash("git -C sub/nested status", allow=["Bash(git -C sub/nested status)"]).decision == "ask"


def test_a_repository_above_the_root_asks_unless_a_rule_says_so(ws: Scratch) -> None:
    inner = Scratch(root=ws.root / "sub", home=ws.home)
    asked = inner.bash("git status")
    assert isinstance(asked, Ask)
    assert asked.suggestions
    assert inner.bash("git status", allow=["Bash(git status:*)"]).decision == "allow"
    (ws.root / ".git/config").write_text("[core]\nfsmonitor = x\n")
    assert inner.bash("git status", allow=["Bash(git status:*)"]).decision == "ask"


@pytest.mark.parametrize(
    "text",
    [
        "[core]\n\tfsmonitor = ./ev.sh\n", "[core]\nhooksPath=x\n", "[core] pager = x\n", "[CORE]\n\tSSHCommand=x\n", "[diff]\nexternal = x\n", '[diff "x"]\n\ttextconv = y\n',
        '[filter "x"]\nclean = y\n', "[include]\npath = x\n", '[includeIf "gitdir:/"]\npath = x\n', "[gpg]\nprogram = x\n", "[alias]\nx = !y\n", '[credential "x"]\nhelper = y\n',
        '[remote "o"]\n\tuploadpack = x\n', '[remote "o"]\n\tpromisor = true\n', "[log]\nshowSignature = true\n", "[pager]\nlog = x\n", "[extensions]\npartialClone = o\n",
        "[core]\n\tfsmon\\\nitor = x\n", "garbage\n", "[core\n", "[commit]\ntemplate = x\n", "[user]\n\tsigningkey\n[pretty]\nx = y\n", "[core]\nx" + "y" * 250_000, "[tag]\ngpgSign = true\n",
    ],
)  # fmt: skip
def test_configuration_that_may_run_programs_asks(ws: Scratch, text: str) -> None:
    assert unsafe_key(text)
    (ws.root / ".git/config").write_text(text)
    assert ws.bash("git status").decision == "ask"
    assert ws.bash("git diff", allow=["Bash(git diff:*)"]).decision == "ask"


def test_usual_configuration_is_fine() -> None:
    text = """# a comment
; another
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
[remote "origin"]
\turl = https://example.org/x.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"] # the usual
\tremote = origin
\tmerge = refs/heads/main
[user] name = Somebody
\temail = x@example.org
[pull]
\trebase = true
"""
    assert unsafe_key(text) is None


def test_configuration_nobody_can_read_asks(ws: Scratch) -> None:
    config = ws.root / ".git/config"
    config.unlink()
    assert ws.bash("git status").decision == "allow"  # git itself then finds no repository
    config.mkdir()
    assert ws.bash("git status").decision == "ask"


def test_worktrees_of_the_same_kind_are_fine(ws: Scratch, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    subprocess.run(["git", "-C", str(ws.root), "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    linked = Scratch(root=tree, home=ws.home)
    assert linked.bash("git status").decision == "allow"
    (ws.root / ".git/config").write_text("[core]\nfsmonitor = x\n")
    assert linked.bash("git status").decision == "ask"


@pytest.mark.parametrize("text", ["gitdir: ./evil", "nonsense", "gitdir: /nowhere/.git/modules/x", None])
def test_a_git_file_that_leads_elsewhere_asks(ws: Scratch, text: str | None) -> None:
    root = ws.root / "other"
    (root / "evil").mkdir(parents=True)
    if text is None:
        (root / ".git").symlink_to("nowhere")
        assert config_doubt(root / ".git") is None  # git finds nothing there either
        return
    (root / ".git").write_text(text)
    assert Scratch(root=root, home=ws.home).bash("git status").decision == "ask"
    (root / ".git").chmod(0)


def test_a_submodule_like_directory_is_held_to_its_configuration(ws: Scratch) -> None:
    module = ws.root / ".git/modules/m"
    subprocess.run(["git", "init", "-q", "--bare", str(module)], check=True)
    checkout = ws.root / "m"
    checkout.mkdir()
    (checkout / ".git").write_text("gitdir: ../.git/modules/m\n")
    assert config_doubt(checkout / ".git") is None
    (module / "config").write_text("[core]\nfsmonitor = x\n")
    assert config_doubt(checkout / ".git")


def test_a_worktree_with_its_own_bad_configuration_asks(ws: Scratch, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    subprocess.run(["git", "-C", str(ws.root), "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    (ws.root / ".git/worktrees/tree/config.worktree").write_text("[core]\nfsmonitor = x\n")
    assert config_doubt(tree / ".git")


def test_where_git_runs_must_be_known(ws: Scratch) -> None:
    assert repository_doubt(None, [str(ws.root)], trusted=True)
    for command in (
        "git -C $x status",
        "git -C s* status",
        "git -C missing/.. status",
    ):
        assert ws.bash(command).decision == "ask", command


def test_hardening_is_a_plain_environment() -> None:
    env = hardening_env()
    count = int(env["GIT_CONFIG_COUNT"])
    keys = {env[f"GIT_CONFIG_KEY_{n}"]: env[f"GIT_CONFIG_VALUE_{n}"] for n in range(count)}
    assert keys["core.fsmonitor"] == "false"
    assert keys["safe.bareRepository"] == "explicit"
    assert env["GIT_OPTIONAL_LOCKS"] == "0"
    assert "GIT_EXTERNAL_DIFF" in SCRUBBED_VARIABLES


def test_hardened_git_runs_no_monitor_even_where_one_is_set(ws: Scratch) -> None:
    (ws.root / ".git/config").write_text("[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ./ev.sh\n")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(ws.home), **hardening_env()}
    subprocess.run(["git", "status"], cwd=ws.root, env=env, check=True, capture_output=True)
    assert not (ws.root / "PWNED").exists()
