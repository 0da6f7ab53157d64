"""The fence around commands: what each kind is told, and that the one of this machine really holds."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from assent.permissions.paths import locate
from assent.permissions.protected import protected_write
from assent.tools import landlock, sandbox
from assent.tools.bash import Bash
from assent.tools.files import DiskWorkspace
from assent.tools.sandbox import (
    PROTECTED_IN_WORKSPACE,
    Found,
    Kind,
    SandboxPolicy,
    describe,
    detect,
    make_fence,
    plan,
    reading_policy,
    working_policy,
)
from assent.tools.tool import SessionState, ToolContext
from permissions.scratch import Scratch

LANDLOCK = Found(kind="landlock")
POLICY = SandboxPolicy(writable=("/w",), protected=("/w/.git/hooks",), network=False)


def test_bubblewrap_makes_all_read_only_but_the_workspace() -> None:
    argv = plan(["bash", "-c", "x"], POLICY, found=Found(kind="bubblewrap", bwrap="/usr/bin/bwrap")).argv
    assert argv[0] == "/usr/bin/bwrap"
    assert argv[-4:] == ("--", "bash", "-c", "x")
    text = " ".join(argv)
    assert text.index("--ro-bind / /") < text.index("--bind-try /w /w") < text.index("--ro-bind-try /w/.git/hooks")
    assert "--unshare-net" in argv
    assert "--unshare-net" not in plan(["x"], SandboxPolicy(network=True), found=Found(kind="bubblewrap")).argv


def test_sandbox_exec_gets_a_profile_whose_last_word_is_protection(tmp_path: Path) -> None:
    """All that can be shown without macOS: the text, rule by rule; there the last one that matches decides."""
    real, link = tmp_path / 'real "one"', tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    policy = SandboxPolicy(writable=(str(link),), pinned=("/w/.git",), protected=("/w/.git/hooks",))
    argv = plan(["x", "y z"], policy, found=Found(kind="sandbox-exec")).argv
    assert argv[:2] == ("/usr/bin/sandbox-exec", "-p")
    assert argv[3:] == ("x", "y z")
    quoted = str(real).replace('"', '\\"')
    assert argv[2].split("\n") == [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        "(deny network*)",
        '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/stdout") '
        '(literal "/dev/stderr") (regex #"^/dev/fd/"))',
        f'(allow file-write* (subpath "{link}"))',
        f'(allow file-write* (subpath "{quoted}"))',
        '(deny file-write-unlink (literal "/w/.git"))',
        '(deny file-write* (subpath "/w/.git/hooks"))',
    ]
    assert "network" not in plan(["x"], SandboxPolicy(network=True), found=Found(kind="sandbox-exec")).argv[2]


_WORD = r'(?:"(?:[^"\\]|\\.)*"|#"[^"]*"|[a-z*0-9.-]+)'


@pytest.mark.parametrize("root", ["/w", '/a "quoted" (one)', "/back\\slash", "/new\nline", "/é"])
def test_a_profile_is_well_formed_whatever_the_workspace_is_called(root: str) -> None:
    profile = plan(["x"], working_policy([root]), found=Found(kind="sandbox-exec")).argv[2]
    filter = rf"\((?:subpath|literal|regex) {_WORD}\)"
    rule = rf"\((?:version 1|(?:allow|deny) {_WORD}(?: {filter})*)\)"
    assert re.fullmatch(rf"(?:{rule}(?:\n|\Z))+", profile, re.DOTALL)


def test_what_the_fence_protects_the_iron_gate_asks_about(ws: Scratch) -> None:
    """The two lists are kept apart, as layers are; they must not drift apart."""
    policy = working_policy([str(ws.root)])
    assert len(policy.protected) >= len(PROTECTED_IN_WORKSPACE)
    for path in policy.protected:
        located = locate(path, cwd=str(ws.root), home="/h")
        assert protected_write(located, roots=(str(ws.root),), home="/h"), path
    assert policy.pinned == tuple(str(ws.root / name) for name in (".git", ".cargo", ".github"))


def test_without_a_fence_the_command_is_itself_and_it_is_said() -> None:
    bare = plan(["x", "y"], POLICY, found=Found(kind="none"))
    assert (bare.kind, bare.argv) == ("none", ("x", "y"))
    assert "no sandbox" in describe(Found(kind="none"))
    assert describe(Found(kind="landlock", failed="bubblewrap did not start (no)")).endswith("did not start (no)")
    kinds: tuple[Kind, ...] = ("bubblewrap", "landlock", "sandbox-exec")
    assert all(describe(Found(kind=kind)).split(":")[0] for kind in kinds)


@pytest.mark.parametrize(
    ("platform", "installed", "working", "expected", "failed"),
    [
        ("linux", {"bwrap"}, {"bwrap"}, "bubblewrap", ""),
        ("linux", {"bwrap"}, {"python"}, "landlock", "bubblewrap did not start (no)"),
        ("linux", set[str](), {"python"}, "landlock", ""),
        ("linux", {"bwrap"}, set[str](), "none", "bubblewrap did not start (no); landlock did not start (no)"),
        ("darwin", set[str](), {"sandbox-exec"}, "sandbox-exec", ""),
        ("darwin", set[str](), set[str](), "none", "sandbox-exec did not start (no)"),
        ("win32", {"bwrap"}, {"bwrap"}, "none", ""),
    ],
)
def test_a_fence_counts_only_after_it_has_worked(
    platform: str, installed: set[str], working: set[str], expected: str, failed: str
) -> None:
    def complaint(argv: Sequence[str]) -> str | None:
        return None if any(name in argv[0] for name in working) else "no"

    found = detect(platform=platform, which=lambda name: name if name in installed else None, complaint=complaint)
    assert (found.kind, found.failed) == (expected, failed)


def test_what_cannot_be_started_tells_why() -> None:
    assert sandbox.complaint(["true"]) is None
    assert sandbox.complaint(["/nonexistent/program"]) == "[Errno 2] No such file or directory: '/nonexistent/program'"
    assert sandbox.complaint(["false"]) == "exit code 1"
    assert sandbox.complaint(["sh", "-c", "echo one >&2; echo two >&2; exit 3"]) == "two"


def run(command: str, policy: SandboxPolicy) -> subprocess.CompletedProcess[str]:
    argv = plan(["bash", "-c", command], policy, found=LANDLOCK).argv
    return subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)


def without_landlock() -> bool:
    """On a kernel without it there is one thing to show: nothing runs."""
    if landlock.abi_version() > 0:
        return False
    assert run("true", reading_policy()).returncode == landlock.NOT_STARTED
    return True


def test_landlock_lets_a_reader_read_and_nothing_else(tmp_path: Path) -> None:
    if without_landlock():
        return
    (tmp_path / "file").write_text("hello")
    assert run(f"cat {tmp_path}/file > /dev/null && cat {tmp_path}/file", reading_policy()).stdout == "hello"
    for command in (
        f"echo x > {tmp_path}/file",
        f"touch {tmp_path}/new",
        f"rm {tmp_path}/file",
        f"mkdir {tmp_path}/d",
        f"mv {tmp_path}/file {tmp_path}/g",
    ):
        assert run(command, reading_policy()).returncode != 0, command
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "hello"


def test_landlock_lets_a_worker_write_only_in_the_workspace(tmp_path: Path) -> None:
    if without_landlock():
        return
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    policy = working_policy([str(inside)], temporary=[str(inside)])
    assert (
        run(
            f"mkdir {inside}/d && echo x > {inside}/d/f && mv {inside}/d/f {inside}/g && rm -r {inside}/d", policy
        ).returncode
        == 0
    )
    assert run(f"echo x > {outside}/f", policy).returncode != 0
    assert list(outside.iterdir()) == []


def test_landlock_cuts_the_network_off() -> None:
    if without_landlock():
        return
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert run(f"exec 3<>/dev/tcp/127.0.0.1/{port}", reading_policy()).returncode != 0
        assert run(f"exec 3<>/dev/tcp/127.0.0.1/{port}", SandboxPolicy(network=True)).returncode == 0


def test_a_fence_that_does_not_start_runs_nothing(tmp_path: Path) -> None:
    argv = plan(["touch", str(tmp_path / "x")], reading_policy(), found=LANDLOCK).argv
    broken = f"import sys; sys.path.insert(0, {str(Path(landlock.__file__).parent)!r}); import landlock; landlock.abi_version = lambda: 0; sys.exit(landlock.main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", broken, *argv[4:]], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == landlock.NOT_STARTED
    assert "was not run" in done.stderr
    assert not (tmp_path / "x").exists()


def test_the_bash_tool_is_fenced_as_the_settings_say() -> None:
    assert make_fence(scope="off") is None
    reading = make_fence(found=LANDLOCK)
    everything = make_fence(scope="all", network=True, found=Found(kind="bubblewrap"))
    assert reading is not None
    assert everything is not None
    assert "landlock.py" in " ".join(reading(["ls"], True, ["/w"]))
    assert reading(["make"], False, ["/w"]) == ["make"]
    assert "--bind-try /w /w" in " ".join(everything(["make"], False, ["/w"]))


async def test_the_real_bash_tool_works_inside_the_fence_and_cannot_write(ws: Scratch) -> None:
    if without_landlock():
        return
    state = SessionState(cwd=str(ws.root))
    context = ToolContext(
        session_id="s", tool_use_id="t", state=state, workspace=DiskWorkspace(), roots=(str(ws.root),)
    )
    bash = Bash(is_read_only=lambda _command, _cwd, _roots: True, fence=make_fence(found=LANDLOCK))
    with anyio.fail_after(30):
        moved = await bash.call(bash.parse({"command": "cd sub && cat a.py && cat <<'E'\nhi\nE"}), context)
        refused = await bash.call(bash.parse({"command": "touch PWNED"}), context)
    assert moved.content == "x = 1\nhi"
    assert state.cwd == str(ws.root / "sub")
    assert refused.is_error
    assert not (ws.root / "sub/PWNED").exists()


def test_the_chain_knows_nothing_of_fences() -> None:
    """So no fence, started or not, can ever be a reason to allow."""
    folder = Path(sandbox.__file__).parents[1] / "permissions"
    assert not [
        file
        for file in folder.glob("*.py")
        if "tools" in file.read_text().split('"""', 2)[-1] and "assent.tools" in file.read_text()
    ]
