"""git unasked: only in the workspace's own repository, and only when that runs nothing."""

import os
import subprocess
from pathlib import Path

import pytest

from assent.permissions.git_index import IndexRefused, gitlinks
from assent.permissions.repositories import checkout_doubt, repository_doubt
from assent.types.hardening import SCRUBBED_VARIABLES, hardening_env
from assent.types.permissions import Ask
from oddfiles import ODD, put
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
        "[core]\n\tfsmon\\\nitor = x\n", "garbage\n", "[core\n", "[commit]\ntemplate = x\n", "[user]\n\tsigningkey\n[pretty]\nx = %G?\n", "[core]\nx" + "y" * 250_000, "[tag]\ngpgSign = true\n", "[format]\npretty = '%G?'\n", "[format]\npretty = %\"G\"?\n", "[pretty]\nx = %+G?\n", "[mailmap]\nfile = /x\n", "[core]\nexcludesFile = /x\n", "[core]\nattributesFile = /x\n", "[diff]\norderFile = /x\n", "[core]\nworktree = /\n", "[blame]\nignoreRevsFile = /x\n", "[blame]\nignoreRevsFile = ../x\n", "[status]\nsubmoduleSummary = true\n", "[diff]\nsubmodule = diff\n", "[submodule \"x\"]\nupdate = !x\n", "[url \"x\"]\ninsteadOf = y\n",
    ],
)  # fmt: skip
def test_configuration_that_may_run_programs_asks(ws: Scratch, text: str) -> None:
    (ws.root / ".git/config").write_text(text)
    assert ws.bash("git status").decision == "ask"
    assert ws.bash("git diff", allow=["Bash(git diff:*)"]).decision == "ask"


def test_usual_configuration_is_fine(ws: Scratch) -> None:
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
[format]
\tpretty = %h %s
[blame]
\tignoreRevsFile = .git-blame-ignore-revs
"""
    (ws.root / ".git/config").write_text(text)
    assert ws.bash("git status").decision == "allow"


@pytest.mark.parametrize("value", ["{home}/.ssh/id_rsa", "../home/.ssh/id_rsa", "key", "~/.ssh/id_rsa"])
def test_a_file_of_commits_to_ignore_elsewhere_asks(ws: Scratch, value: str) -> None:  # H09
    assert ws.bash("git blame README.md").decision == "allow"
    with (ws.root / ".git/config").open("a") as config:
        config.write(f"[blame]\n\tignoreRevsFile = {value.format(home=ws.home)}\n")
    for rules in ([], ["Bash(git blame:*)"]):
        assert ws.bash("git blame README.md", allow=rules).decision == "ask"


def test_the_usual_file_of_commits_to_ignore_is_no_link(ws: Scratch) -> None:
    with (ws.root / ".git/config").open("a") as config:
        config.write("[blame]\n\tignoreRevsFile = .git-blame-ignore-revs\n")
    (ws.root / ".git-blame-ignore-revs").write_text("# none\n")
    assert ws.bash("git blame README.md").decision == "allow"
    (ws.root / ".git-blame-ignore-revs").unlink()
    (ws.root / ".git-blame-ignore-revs").symlink_to(ws.home / ".ssh/id_rsa")
    assert ws.bash("git blame README.md").decision == "ask"


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


@pytest.mark.parametrize("text", ["gitdir: ./evil", "nonsense", "gitdir: /nowhere/.git/modules/x", "gitdir: ../.git"])
def test_a_git_file_that_leads_elsewhere_asks(ws: Scratch, text: str) -> None:
    root = ws.root / "other"
    (root / "evil").mkdir(parents=True)
    (root / ".git").write_text(text)
    asked = Scratch(root=root, home=ws.home).bash("git log -p")
    assert asked.decision == "ask"
    assert "leads elsewhere" in asked.reason or "cannot be read" in asked.reason


def test_a_git_file_cannot_borrow_another_repository_or_worktree(ws: Scratch, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    subprocess.run(["git", "-C", str(ws.root), "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    thief = tmp_path / "thief"
    thief.mkdir()
    (thief / ".git").write_text((tree / ".git").read_text())
    assert Scratch(root=thief, home=ws.home).bash("git log -p").decision == "ask"
    (thief / ".git").write_text(f"gitdir: {ws.root}/.git\n")
    assert Scratch(root=thief, home=ws.home).bash("git log -p").decision == "ask"


def test_a_git_that_is_a_link_asks(ws: Scratch, tmp_path: Path) -> None:
    root = tmp_path / "other"
    root.mkdir()
    (root / ".git").symlink_to(ws.root / ".git")
    assert Scratch(root=root, home=ws.home).bash("git status").decision == "ask"


def test_a_folder_named_git_that_is_no_repository_asks(ws: Scratch) -> None:
    root = ws.root / "other"  # git would go on to the repository above it
    (root / ".git").mkdir(parents=True)
    assert Scratch(root=root, home=ws.home).bash("git status").decision == "ask"


def test_a_configuration_that_lies_elsewhere_asks(ws: Scratch, tmp_path: Path) -> None:
    (ws.root / ".git/commondir").write_text(f"{tmp_path}/evil\n")
    assert ws.bash("git status").decision == "ask"
    assert ws.bash("git status", allow=["Bash(git status:*)"]).decision == "ask"


OWN_FILES = ("config", "HEAD", "index", "packed-refs", "shallow", "rebase-merge/done", "info/exclude")


@pytest.mark.parametrize("kind", [kind for kind in ODD if kind != "directory"])
@pytest.mark.parametrize("name", OWN_FILES)
def test_an_odd_file_among_the_repositorys_own_asks_at_once(ws: Scratch, name: str, kind: str) -> None:
    # git prints lines of some of them, waits for ever for a FIFO, and reads others whole
    path = ws.root / ".git" / name
    path.unlink(missing_ok=True)
    put(kind, path)
    for trusted in (True, False):
        assert ws.bash("git status", trusted=trusted).decision == "ask"


def test_objects_taken_from_another_repository_ask_unless_a_rule_says_so(ws: Scratch, tmp_path: Path) -> None:
    (ws.root / ".git/objects/info").mkdir(exist_ok=True)
    (ws.root / ".git/objects/info/alternates").write_text(f"{tmp_path}/private/.git/objects\n")
    asked = ws.bash("git show HEAD")
    assert isinstance(asked, Ask)
    assert asked.suggestions
    assert ws.bash("git show HEAD", allow=["Bash(git show:*)"]).decision == "allow"


def make_submodule(ws: Scratch, *, version: int = 2) -> Path:
    """A submodule checked out at `m`, as git itself makes one."""
    inner = ws.root.parent / "inner"
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run([*git, "init", "-q", str(inner)], check=True)
    (inner / "f").write_text("x\n")
    subprocess.run([*git, "-C", str(inner), "add", "."], check=True)
    subprocess.run([*git, "-C", str(inner), "commit", "-qm", "x"], check=True)
    subprocess.run(
        [*git, "-C", str(ws.root), "submodule", "--quiet", "add", str(inner), "m"], check=True, capture_output=True
    )
    subprocess.run([*git, "-C", str(ws.root), "update-index", "--index-version", str(version)], check=True)
    return ws.root / ".git/modules/m"


@pytest.mark.parametrize("version", [2, 3, 4])
def test_submodules_count_with_their_own_configuration(ws: Scratch, version: int) -> None:
    # git status starts a second git in each, and our settings do not reach it
    module = make_submodule(ws, version=version)
    assert gitlinks(str(ws.root / ".git")) == ("m",)
    for command in ("git status", "git diff", "git submodule status"):
        assert ws.bash(command).decision == "allow", command
    with (module / "config").open("a") as config:
        config.write('[filter "x"]\n\tclean = ./ev.sh\n')
    for command in ("git status", "git diff", "git describe --dirty", "git submodule status"):
        asked = ws.bash(command, allow=["Bash(git status:*)"])
        assert asked.decision == "ask", command
        assert "submodule m" in asked.reason


def test_a_submodule_is_asked_about_where_the_folder_is_not_trusted(ws: Scratch) -> None:
    make_submodule(ws)
    asked = ws.bash("git status", trusted=False)
    assert asked.decision == "ask"
    assert "trusted" in asked.reason


def test_a_repository_in_place_of_a_submodule_counts_too(ws: Scratch) -> None:
    """The classic: a link to a commit, and a folder with a configuration of its own where it leads."""
    subprocess.run(["git", "init", "-q", str(ws.root / "sub/inner")], check=True)
    head = subprocess.run(["git", "-C", str(ws.root), "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    link = f"160000,{head.stdout.strip()},sub/inner"
    subprocess.run(["git", "-C", str(ws.root), "update-index", "--add", "--cacheinfo", link], check=True)
    assert ws.bash("git status").decision == "allow"
    with (ws.root / "sub/inner/.git/config").open("a") as config:
        config.write("[core]\n\tfsmonitor = ./ev.sh\n")
    assert ws.bash("git status").decision == "ask"
    (ws.root / "sub/inner").rename(ws.root / "elsewhere")
    (ws.root / "sub/inner").symlink_to(ws.root / "elsewhere")
    assert ws.bash("git status").decision == "ask"


def test_submodules_in_submodules_are_followed_only_so_far(ws: Scratch) -> None:
    folder = ws.root
    for _ in range(10):
        inner = folder / "n"
        subprocess.run(["git", "init", "-q", str(inner)], check=True)
        git = ["git", "-C", str(folder)]
        subprocess.run([*git, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},n"], check=True)
        folder = inner
    assert "cannot be looked into" in (checkout_doubt(str(ws.root)) or "")


@pytest.mark.parametrize("data", [
    b"DIRC\0\0\0\x09\0\0\0\1" + b"\0\0\xe0\0", b"JUNK\0\0\0\2\0\0\0\1\0\0\xe0\0", b"DIRC\0\0\0\2\0\0\0\5" + b"\x01" * 24 + b"\0\0\xe0\0",
    b"DIRC\0\0\0\4\0\0\0\1" + b"\1" * 24 + b"\0\0\xe0\0" + b"\1" * 34, b"DIRC\0\0\0\4\0\0\0\1" + b"\1" * 24 + b"\0\0\xe0\0" + b"\1" * 34 + b"\x81",
    b"DIRC\0\0\0\2\0\0\0\1" + b"\1" * 24 + b"\0\0\x40\0" + b"\1" * 34 + b"dir\0\0\0",
    b"DIRC\0\0\0\2" + (300).to_bytes(4) + (b"\1" * 24 + b"\0\0\xe0\0" + b"\1" * 34 + b"aa" + b"\0" * 8) * 300,
])  # fmt: skip
def test_an_index_that_nobody_can_read_asks(ws: Scratch, data: bytes) -> None:
    (ws.root / ".git/index").write_bytes(data)
    with pytest.raises(IndexRefused):
        gitlinks(str(ws.root / ".git"))
    assert ws.bash("git status").decision == "ask"


def test_an_index_is_read_once_while_it_stays_the_same(ws: Scratch) -> None:
    make_submodule(ws)
    index, git_dir = ws.root / ".git/index", str(ws.root / ".git")
    os.utime(index, (1, 1))
    assert gitlinks(git_dir) == ("m",)
    index.write_bytes(b"")
    assert gitlinks(git_dir) == ()


@pytest.mark.parametrize("text", ["gitdir: ../.git/modules/m\n"])
def test_a_submodule_is_held_to_its_configuration(ws: Scratch, text: str) -> None:
    module = make_submodule(ws)
    assert (ws.root / "m/.git").read_text() == text
    assert checkout_doubt(str(ws.root / "m")) is None
    (module / "config").write_text("[core]\nworktree = ../../../sub\n")
    assert checkout_doubt(str(ws.root / "m"))


def test_a_worktree_with_its_own_bad_configuration_asks(ws: Scratch, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    subprocess.run(["git", "-C", str(ws.root), "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    (ws.root / ".git/worktrees/tree/config.worktree").write_text("[core]\nfsmonitor = x\n")
    assert checkout_doubt(str(tree))


def test_a_repository_of_longer_names_is_read_too(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    subprocess.run(["git", "init", "-q", "--object-format=sha256", str(root)], check=True)
    link = f"160000,{'1' * 64},n"
    subprocess.run(["git", "-C", str(root), "update-index", "--add", "--cacheinfo", link], check=True)
    assert gitlinks(str(root / ".git"), 32) == ("n",)
    assert checkout_doubt(str(root)) is None


@pytest.mark.parametrize(
    "command", ["git status", "git diff", "git log --oneline -5", "git -C sub status", "git show HEAD", "git branch -a"]
)
def test_a_plain_repository_is_read_without_trust(ws: Scratch, command: str) -> None:
    assert ws.bash(command, trusted=False).decision == "allow"


def test_what_trust_would_end_says_so(ws: Scratch, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    subprocess.run(["git", "-C", str(ws.root), "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    for place in (tree, ws.root / "sub"):
        asked = Scratch(root=place, home=ws.home).bash("git status", trusted=False)
        assert asked.decision == "ask"
        assert "trusted" in asked.reason
    (ws.root / ".git/config").write_text("[core]\nfsmonitor = ./ev.sh\n")
    asked = ws.bash("git status", trusted=False)
    assert asked.decision == "ask"
    assert "trusted" not in asked.reason  # trust would not end it


def test_our_own_worktrees_and_the_submodules_of_a_root_are_its_own(ws: Scratch) -> None:
    tree = ws.root / ".worktrees/x"
    subprocess.run(["git", "-C", str(ws.root), "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    make_submodule(ws)
    for place in (str(tree), str(ws.root / "m")):
        assert ws.bash("git status", cwd=place).decision == "allow"
        assert ws.bash("git status", cwd=place, trusted=False).decision == "ask"
    with (ws.root / ".git/config").open("a") as config:
        config.write("[core]\n\tfsmonitor = ./ev.sh\n")
    assert ws.bash("git status", cwd=str(tree)).decision == "ask"
    (ws.root / "m/.git").write_text("nonsense\n")
    assert ws.bash("git status", cwd=str(ws.root / "m")).decision == "ask"


ISOLATED = {"description": "d", "prompt": "p", "isolation": "worktree"}


def test_an_isolated_agent_is_asked_about_where_edits_are_and_any_other_is_not(ws: Scratch) -> None:
    assert ws.decide("Agent", ISOLATED, mode="default").decision == "ask"
    assert ws.decide("Agent", ISOLATED, mode="plan").decision == "deny"
    assert ws.decide("Agent", {"description": "d", "prompt": "p"}, mode="plan").decision == "allow"


def test_a_worktree_is_made_unasked_only_where_git_runs_nothing(ws: Scratch) -> None:
    # accepted edits let the tool write there, but checking files out runs the configured filters
    for tool, input in (("EnterWorktree", {}), ("ExitWorktree", {"remove": True}), ("Agent", ISOLATED)):
        assert ws.decide(tool, input, mode="acceptEdits").decision == "allow"
    (ws.root / ".git/config").write_text('[filter "x"]\n\tsmudge = ./ev.sh\n')
    for tool, input in (("EnterWorktree", {}), ("ExitWorktree", {"remove": True}), ("Agent", ISOLATED)):
        assert ws.decide(tool, input, mode="acceptEdits").decision == "ask"
        assert ws.decide(tool, input, mode="bypassPermissions").decision == "allow"


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


TRAPS = {
    "core.fsmonitor": ("./ev.sh", "git status"),
    "gpg.program": ("./ev.sh", "git log -1 --format=%G? signed"),
    "log.showSignature": ("true", "git log -1 signed"),
    "core.hooksPath": ("hooks", "git describe --always --dirty"),
}


@pytest.mark.parametrize("key", TRAPS)
@pytest.mark.parametrize("hardened", [True, False])
def test_hardened_git_runs_nothing_of_the_repository_even_where_the_check_is_wrong(
    ws: Scratch, key: str, hardened: bool
) -> None:
    git = ["git", "-C", str(ws.root)]
    (ws.root / "hooks").mkdir()
    (ws.root / "hooks/post-index-change").write_text(f"#!/bin/sh\ntouch {ws.root}/PWNED\n")
    (ws.root / "hooks/post-index-change").chmod(0o755)
    text = subprocess.run([*git, "cat-file", "commit", "HEAD"], check=True, capture_output=True, text=True).stdout
    head, _, message = text.partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    made = subprocess.run(
        [*git, "hash-object", "-t", "commit", "-w", "--stdin"],
        input=f"{head}\n{signature}\n\n{message}", check=True, capture_output=True, text=True,
    )  # fmt: skip
    subprocess.run([*git, "tag", "signed", made.stdout.strip()], check=True)
    value, command = TRAPS[key]
    subprocess.run([*git, "config", "gpg.program", "./ev.sh"], check=True)
    subprocess.run([*git, "config", key, value], check=True)
    os.utime(ws.root / "a.py", (1, 1))
    env = {"PATH": "/usr/bin:/bin", "HOME": str(ws.home), **(hardening_env() if hardened else {})}
    subprocess.run(command.split(), cwd=ws.root, env=env, check=False, capture_output=True)
    assert (ws.root / "PWNED").exists() is not hardened


def test_hardened_git_runs_no_monitor_even_where_one_is_set(ws: Scratch) -> None:
    (ws.root / ".git/config").write_text("[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ./ev.sh\n")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(ws.home), **hardening_env()}
    subprocess.run(["git", "status"], cwd=ws.root, env=env, check=True, capture_output=True)
    assert not (ws.root / "PWNED").exists()
