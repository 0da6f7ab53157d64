"""Where paths lead: links and targets, names that only look alike, and what is refused."""

import os
import stat
from pathlib import Path

import pytest

from assent.permissions.lookups import may_read, private_allowed
from assent.permissions.paths import (
    MAX_MATCHES,
    PathRefused,
    fold,
    inside,
    is_regular,
    locate,
    matches,
    real_directory,
    under,
    with_real,
)
from assent.permissions.protected import mentions_protected, protected_read, protected_write, root_at_risk
from assent.text.words import names
from permissions.scratch import Scratch


def test_every_name_on_the_way_is_kept(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/file").write_text("x")
    (tmp_path / "b").symlink_to("real")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    found = locate("a/file", cwd=str(tmp_path), home="/h")
    assert found.target == str(tmp_path / "real/file")
    assert set(found.names) == {str(tmp_path / name / "file") for name in ("a", "b", "real")}
    assert found.exists
    assert not found.special


def test_dots_are_taken_where_the_link_leads(tmp_path: Path) -> None:
    (tmp_path / "far/deep").mkdir(parents=True)
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/link").symlink_to(tmp_path / "far/deep")
    assert locate("ws/link/../x", cwd=str(tmp_path), home="/h").target == str(tmp_path / "far/x")


def test_what_does_not_exist_is_placed_where_it_would_be(tmp_path: Path) -> None:
    found = locate("new/dir/file", cwd=str(tmp_path), home="/h")
    assert (found.target, found.exists, found.sure) == (str(tmp_path / "new/dir/file"), False, True)
    doubtful = locate("new/../x", cwd=str(tmp_path), home="/h")
    assert not doubtful.sure
    assert not inside(doubtful, (str(tmp_path),))


@pytest.mark.parametrize("path", ["a\0b", "loop/x", "file/below", "x" * 300 + "/y", "\ud800"])
def test_what_cannot_be_resolved_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("x")
    with pytest.raises(PathRefused):
        locate(path, cwd=str(tmp_path), home="/h")


def test_a_link_that_vanishes_meanwhile_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(PathRefused):
        locate("x", cwd=str(tmp_path), home="/h", seen={str(tmp_path / "x"): stat.S_IFLNK})


def test_the_process_directory_is_never_used() -> None:
    with pytest.raises(PathRefused):
        locate("x", cwd="relative", home="/h")
    assert locate("~/x", cwd="/w", home="/h").written == "/h/x"
    assert locate("~", cwd="/w", home="/h").written == "/h"
    assert locate("~root/x", cwd="/w", home="/h").written == "/w/~root/x"


def test_a_prefix_is_not_a_parent() -> None:
    assert under("/w/proj/x", "/w/proj")
    assert not under("/w/proj-evil/x", "/w/proj")
    assert under("/anything", "/")


def test_a_linked_root_holds_its_files_by_both_names(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    roots = with_real([str(tmp_path / "link")])
    assert roots == (str(tmp_path / "link"), str(tmp_path / "real"))
    for root in roots:
        assert inside(locate("x", cwd=root, home="/h"), roots)
    (tmp_path / "real/out").symlink_to("/etc")
    assert not inside(locate("out/passwd", cwd=str(tmp_path / "link"), home="/h"), roots)
    (tmp_path / "loop").symlink_to("loop")
    assert real_directory(str(tmp_path / "loop")) == str(tmp_path / "loop")


def test_devices_and_pipes_are_special(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert locate("pipe", cwd=str(tmp_path), home="/h").special
    assert locate("/dev/zero", cwd="/", home="/h").special
    assert not is_regular(str(tmp_path / "pipe"))
    assert not is_regular(str(tmp_path / "missing"))


def test_globs_expand_as_in_the_shell_and_not_for_ever(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", ".c.py", "z"):
        (tmp_path / name).write_text("")
    assert sorted(matches("*.py", cwd=str(tmp_path))) == ["a.py", "b.py"]
    assert matches("[^ab]", cwd=str(tmp_path)) == ["z"]
    many = tmp_path / "many"
    many.mkdir()
    for number in range(MAX_MATCHES + 1):
        (many / str(number)).touch()
    with pytest.raises(PathRefused):
        matches("many/*", cwd=str(tmp_path))
    with pytest.raises(PathRefused):
        matches("*\0", cwd=str(tmp_path) + "\0")


def test_lookalike_names_fold_together() -> None:
    assert fold(".GIT") == fold(".git") == fold(".g\u200cit") == fold(".ｇｉｔ")


PROTECTED = names(""".git/config .git .GIT/hooks/x .Git/HOOKS sub/.git/config .git::$INDEX_ALLOCATION/config git~1/config .git./x .g\u200cit/config
    .assent/settings.json .claude/settings.local.json .Claude/Settings.JSON .vscode/tasks.json .VSCODE/x .idea/x .cursor/mcp.json .zed/tasks.json
    x.code-workspace A.CODE-WORKSPACE .nvim.lua .exrc .vimrc .mcp.json .MCP.JSON .envrc .env .npmrc .yarnrc.yml .pypirc .netrc .bashrc .zshrc
    .profile .github/workflows/ci.yml .GitHub/Workflows/x .github/actions/a/action.yml .gitlab-ci.yml Jenkinsfile .circleci/config.yml azure-pipelines.yml
    .husky/pre-commit .githooks/x .pre-commit-config.yaml lefthook.yml .gitmodules .gitconfig .cargo/config.toml .mvn/x sitecustomize.py x.pth
    .devcontainer/devcontainer.json .ssh/authorized_keys sub/id_rsa mise.toml .ripgreprc .gdbinit .config/git/config .dir-locals.el .lintstagedrc .bashrc.local .env.production .eslintrc.js eslint.config.mjs .prettierrc.cjs tailwind.config.ts .pylintrc rust-toolchain.toml""")


@pytest.mark.parametrize("path", sorted(PROTECTED))
def test_protected_paths_are_asked_about_even_when_absent(shared_ws: Scratch, path: str) -> None:
    for mode in ("acceptEdits", "bypassPermissions"):
        decision = shared_ws.decide("Write", {"file_path": path}, mode=mode, allow=["Edit", "Write"])
        assert (decision.decision, decision.step) == ("ask", "ironGate"), path
    assert shared_ws.bash(f"tee '{path}'", mode="bypassPermissions").decision == "ask"


ORDINARY = names("""README.md src/git.py gitignore .gitignore .gitattributes .editorconfig package.json Makefile tests/test_x.py setup.py .github/ISSUE_TEMPLATE.md
    Dockerfile pyproject.toml tsconfig.json src/.hidden env.py ssh.md .env.example .env.sample vscode/x git/config""")


@pytest.mark.parametrize("path", sorted(ORDINARY))
def test_ordinary_project_files_are_not_protected(shared_ws: Scratch, path: str) -> None:
    assert shared_ws.decide("Write", {"file_path": path}, mode="acceptEdits").decision == "allow"


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "~/.bashrc", "~/.ssh/config", "~", "/", "/usr/bin/x", "~/.config/assent/settings.json"]
)
def test_system_and_home_files_are_iron(shared_ws: Scratch, path: str) -> None:
    assert shared_ws.decide("Write", {"file_path": path}, mode="bypassPermissions").step == "ironGate"


def test_a_link_to_a_protected_place_is_protected(ws: Scratch) -> None:
    (ws.root / "innocent").symlink_to(".git/hooks")
    for path in ("innocent/pre-commit", "sub/../innocent/x"):
        assert ws.decide("Write", {"file_path": path}, mode="bypassPermissions").step == "ironGate"
    assert ws.bash("cp a.py innocent/pre-commit", mode="acceptEdits").step == "ironGate"


def test_dotfiles_opened_as_a_workspace_can_be_worked_on(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".config/nvim").mkdir(parents=True)
    ws = Scratch(root=home / ".config/nvim", home=home)
    assert ws.decide("Write", {"file_path": "init.lua"}, mode="acceptEdits").decision == "allow"


@pytest.mark.parametrize(
    "path",
    [
        "/proc/self/environ", "/proc/1/environ", "/proc/self/task/1/environ", "/proc/self/mem", "/etc/shadow", "~/.ssh/id_rsa", "~/.gnupg/x",
        "~/.aws/credentials", "~/.docker/config.json", "~/.netrc", "sub/id_ed25519", "~/.kube/config", "~/.config/gh/hosts.yml", "key",
    ],
)  # fmt: skip
def test_secrets_are_asked_about_even_for_reading(shared_ws: Scratch, path: str) -> None:
    for call in (("Read", {"file_path": path}), ("Bash", {"command": f"cat {path}"})):
        assert shared_ws.decide(*call, mode="bypassPermissions", allow=["Read", "Bash"]).step == "ironGate"


def test_public_keys_are_not_secrets() -> None:
    assert protected_read(locate("/h/.ssh/id_rsa.pub", cwd="/", home="/h"), roots=("/w",)) is None


def test_whole_trees_are_at_risk() -> None:
    roots = ("/home/u/w",)
    for path, risky in (
        ("/home/u/w", True),
        ("/home/u", True),
        ("/", True),
        ("/usr", True),
        ("/home/u/w/sub", False),
        ("/opt/w/x", False),
    ):
        located = locate(path, cwd="/", home="/home/u")
        assert (root_at_risk(located, roots=roots, home="/home/u") is not None) is risky, path


def test_text_nobody_can_parse_is_searched_for_protected_names() -> None:
    assert mentions_protected("for x in a; do echo > .git/config; done")
    assert mentions_protected("x=$HOME/.ssh; cat $x/id_rsa")
    assert not mentions_protected("for x in a b; do echo $x; done")


def test_an_argument_of_an_unknown_program_is_not_a_system_write() -> None:
    located = locate("/usr/lib/x.py", cwd="/", home="/h")
    assert protected_write(located, roots=("/w",), home="/h", sure=False) is None
    assert protected_write(located, roots=("/w",), home="/h") is not None
    null = locate("/dev/null", cwd="/", home="/h")
    assert protected_write(null, roots=("/w",), home="/h", in_place=True) is None
    assert protected_write(null, roots=("/w",), home="/h") is not None


def test_searches_leave_out_what_may_not_be_read(shared_ws: Scratch) -> None:
    allowed = may_read(shared_ws.context(deny=["Read(sub/**)", "Read(~/.ssh/**)"]))
    assert allowed is not None
    assert allowed(str(shared_ws.root / "a.py"))
    assert not allowed(str(shared_ws.root / "sub/a.py"))
    assert not allowed(str(shared_ws.root / "key"))
    assert not allowed(str(shared_ws.root / "a.py/below"))
    assert may_read(shared_ws.context()) is None


def test_private_hosts_need_a_rule_of_their_own(shared_ws: Scratch) -> None:
    asked = private_allowed(shared_ws.context(allow=["WebFetch(domain:localhost)", "WebFetch"]))
    assert asked("LOCALHOST.")
    assert not asked("127.0.0.1")


def test_a_rule_for_a_public_name_does_not_let_it_lead_into_the_users_network(shared_ws: Scratch) -> None:  # T6
    rules = ["WebFetch(domain:docs.example.com)", "WebFetch(domain:10.0.0.7)", "WebFetch(domain:wiki.corp)"]
    asked = private_allowed(shared_ws.context(allow=rules))
    assert not asked("docs.example.com")
    assert asked("10.0.0.7")
    assert asked("wiki.corp")
