"""The fence around commands: what each kind is told, and that the one of this machine really holds."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from assent.tools import landlock, sandbox
from assent.tools.bash import Bash
from assent.tools.files import DiskWorkspace
from assent.tools.sandbox import (
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

POLICY = SandboxPolicy(writable=("/w",), protected=("/w/.git/hooks",), network=False)


def test_bubblewrap_makes_all_read_only_but_the_workspace() -> None:
    argv = plan(["bash", "-c", "x"], POLICY, kind="bubblewrap").argv
    assert argv[0] == "bwrap"
    assert argv[-4:] == ("--", "bash", "-c", "x")
    text = " ".join(argv)
    assert text.index("--ro-bind / /") < text.index("--bind-try /w /w") < text.index("--ro-bind-try /w/.git/hooks")
    assert "--unshare-net" in argv
    assert "--unshare-net" not in plan(["x"], SandboxPolicy(network=True), kind="bubblewrap").argv


def test_sandbox_exec_gets_a_profile_whose_last_word_is_protection() -> None:
    argv = plan(["x"], SandboxPolicy(writable=('/w"x',), protected=("/w/.git",)), kind="sandbox-exec").argv
    profile = argv[2]
    assert profile.startswith("(version 1)")
    assert '(subpath "/w\\"x")' in profile
    assert profile.index("allow file-write* (subpath") < profile.index('deny file-write* (subpath "/w/.git")')
    assert "(deny network*)" in profile
    assert "network" not in plan(["x"], SandboxPolicy(network=True), kind="sandbox-exec").argv[2]


def test_without_a_fence_the_command_is_itself_and_it_is_said() -> None:
    bare = plan(["x", "y"], POLICY, kind="none")
    assert (bare.kind, bare.argv) == ("none", ("x", "y"))
    assert "no sandbox" in describe("none")
    assert all(describe(kind).split(":")[0] for kind in ("bubblewrap", "landlock", "sandbox-exec"))


@pytest.mark.parametrize(
    ("platform", "installed", "working", "expected"),
    [
        ("linux", {"bwrap"}, {"bwrap"}, "bubblewrap"),
        ("linux", {"bwrap"}, {"python"}, "landlock"),
        ("linux", set[str](), {"python"}, "landlock"),
        ("linux", {"bwrap"}, set[str](), "none"),
        ("darwin", set[str](), {"sandbox-exec"}, "sandbox-exec"),
        ("darwin", set[str](), set[str](), "none"),
        ("win32", {"bwrap"}, {"bwrap"}, "none"),
    ],
)
def test_a_fence_counts_only_after_it_has_worked(
    platform: str, installed: set[str], working: set[str], expected: str
) -> None:
    def works(argv: Sequence[str]) -> bool:
        return any(name in argv[0] for name in working)

    assert detect(platform=platform, which=lambda name: name if name in installed else None, works=works) == expected


def test_what_cannot_be_started_does_not_work() -> None:
    assert not sandbox._works(["/nonexistent/program"])
    assert not sandbox._works(["false"])


def run(command: str, policy: SandboxPolicy) -> subprocess.CompletedProcess[str]:
    argv = plan(["bash", "-c", command], policy, kind="landlock").argv
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
    policy = working_policy([str(inside)], temporary=str(inside))
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
    argv = plan(["touch", str(tmp_path / "x")], reading_policy(), kind="landlock").argv
    broken = f"import sys; sys.path.insert(0, {str(Path(landlock.__file__).parent)!r}); import landlock; landlock.abi_version = lambda: 0; sys.exit(landlock.main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", broken, *argv[4:]], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == landlock.NOT_STARTED
    assert "was not run" in done.stderr
    assert not (tmp_path / "x").exists()


def test_the_bash_tool_is_fenced_as_the_settings_say() -> None:
    assert make_fence(scope="off") is None
    reading = make_fence(kind="landlock")
    everything = make_fence(scope="all", network=True, kind="bubblewrap")
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
    bash = Bash(is_read_only=lambda _command, _cwd, _roots: True, fence=make_fence(kind="landlock"))
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
