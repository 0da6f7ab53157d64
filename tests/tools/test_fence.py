"""Bash inside real sandboxes: bubblewrap, fetched for this, and Landlock (T5, P4, safety.md).

Where the kernel refuses bubblewrap its namespaces, the product's own detection has to say so and fall back; these tests
then run inside what it fell back to. There is no macOS here: of its profile only the text is shown, in test_sandbox.py.
"""

import contextlib
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.tools.bash import Bash
from assent.tools.process import landlock, sandbox
from assent.tools.process.fence import Fences
from assent.tools.process.sandbox import FoundFences
from toolbox import Toolbox, gone

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def bwrap() -> str:
    """The system's bubblewrap, else Debian's, unpacked into the cache of the tests."""
    if here := shutil.which("bwrap"):
        return here
    done = subprocess.run([ROOT / "tests/editors/fetch.sh", "bwrap"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="session", params=["bubblewrap", "landlock"])
def found(request: pytest.FixtureRequest) -> FoundFences:
    if sys.platform != "linux":
        return sandbox.found_here()
    program = request.getfixturevalue("bwrap") if request.param == "bubblewrap" else None
    version = landlock.abi_version() if request.param == "landlock" else 0
    found = sandbox.detect(
        platform=sys.platform, which=lambda _name: program, complaint=sandbox.complaint, version=version
    )
    if found.kind != request.param and (program or version):
        assert f"{request.param} did not start" in sandbox.describe(found)
    return found


@pytest.fixture
def fenced(box: Toolbox, found: FoundFences) -> Toolbox:
    """A command that begins with `cat` only reads; any other was allowed to do its work."""
    return _fenced(box, found)


def _only_reads(command: str, *_where: object) -> bool:
    return command.startswith("cat")


def _fenced(box: Toolbox, found: FoundFences, *, network: bool = False) -> Toolbox:
    fence = Fences(home=str(box.root.parent / "home"), found=lambda: found).make(scope="all", network=network)
    box.tools["Bash"] = Bash(is_read_only=_only_reads, fence=fence)
    return box


async def test_a_fenced_command_works_and_keeps_its_directory(fenced: Toolbox) -> None:
    (fenced.root / "sub").mkdir()
    assert await fenced.text("Bash", command="cd sub && echo hi > a && cat a") == "hi"
    assert fenced.state.cwd == str(fenced.root / "sub")
    assert await fenced.text("Bash", command="cat a; cd ..; cat <<< here") == "hi\nhere"
    assert fenced.state.cwd == str(fenced.root)


@pytest.fixture
def outside() -> Iterator[Path]:
    """A file that could be made, were there no fence. Not below /tmp, where fenced commands may write; a home may be."""
    with tempfile.TemporaryDirectory(prefix="assent-fence-", dir="/var/tmp") as folder:
        yield Path(folder, "made")


async def test_a_fenced_command_changes_nothing_outside(fenced: Toolbox, found: FoundFences, outside: Path) -> None:
    output = await fenced.call("Bash", command=f"echo x > {outside}")
    assert output.is_error == (found.kind != "none")
    assert _exists(outside) == (found.kind == "none")


async def test_a_command_that_only_reads_writes_nowhere(fenced: Toolbox, found: FoundFences) -> None:
    output = await fenced.call("Bash", command="cat /dev/null > made")
    assert _exists(fenced.root / "made") == (found.kind == "none")
    assert output.is_error == (found.kind != "none")


async def test_protected_paths_stay_as_they_are_while_the_rest_is_writable(fenced: Toolbox, found: FoundFences) -> None:
    root = fenced.root
    kept = (
        ".git/hooks/pre-commit",
        ".git/config",
        ".vscode/tasks.json",
        ".github/workflows/ci.yml",
        "a.code-workspace",
    )
    for name in kept:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("mine")
    (root / "shared").mkdir()
    (root / ".claude").symlink_to("shared")
    refused = (
        *(f"echo theirs > {name}" for name in kept),
        *(f"echo theirs > new && mv new {name}" for name in kept),
        *(f"rm -f {name}" for name in kept),
        "mv .git away && cp -r away .git && echo theirs > .git/hooks/pre-commit",
        "mv .github away",
        "mkdir .vscode/more",
        "echo x > .claude/settings.json",
    )
    if found.kind == "bubblewrap":
        for command in refused:
            assert (await fenced.call("Bash", command=command)).is_error, command
        assert {(root / name).read_text() for name in kept} == {"mine"}
        assert list((root / "shared").iterdir()) == []
    else:
        assert "guarded by asking only" in sandbox.describe(found)
    written = "echo 1 > .git/index && mkdir src && echo 2 > src/a.py && rm src/a.py && echo ok"
    assert await fenced.text("Bash", command=written) == "ok"


_SEND = "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'inside', ('127.0.0.1', {port}))"


@pytest.mark.parametrize("allowed", [False, True])
async def test_there_is_no_network_of_any_kind_unless_allowed(box: Toolbox, found: FoundFences, allowed: bool) -> None:
    fenced = _fenced(box, found, network=allowed)
    reaches = allowed or found.kind == "none"
    with socket.create_server(("127.0.0.1", 0)) as server:
        output = await fenced.call("Bash", command=f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}")
        assert output.is_error != reaches
    with socket.socket(type=socket.SOCK_DGRAM) as receiver, socket.socket(type=socket.SOCK_DGRAM) as sender:
        receiver.bind(("127.0.0.1", 0))
        address = receiver.getsockname()
        script = _SEND.format(port=address[1])
        await fenced.call("Bash", command=f'{shlex.quote(sys.executable)} -I -S -c "{script}"')
        sender.sendto(b"outside", address)
        assert receiver.recv(100) == (b"inside" if reaches else b"outside")


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """A process outside of any fence, with a key in its environment."""
    with subprocess.Popen(["sleep", "1000"], env={"KEY": "sk-mine"}) as process:
        yield process
        process.kill()


async def test_a_fenced_command_sees_no_secrets_of_others_and_cannot_signal_them(
    fenced: Toolbox, found: FoundFences, other: subprocess.Popen[bytes]
) -> None:
    text = (await fenced.call("Bash", command=f"cat /proc/{other.pid}/environ; true")).content
    await fenced.call("Bash", command=f"kill -9 {other.pid}")
    if found.kind != "none":
        assert "sk-mine" not in text
        assert other.poll() is None


async def test_not_even_root_mounts_its_way_out(fenced: Toolbox, found: FoundFences, outside: Path) -> None:
    for how in ("", "unshare -Urm "):
        await fenced.call("Bash", command=f"{how}bash -c 'mount -o remount,rw,bind / && echo x > {outside}'")
        if found.kind != "none":
            assert not _exists(outside)


async def test_a_fenced_command_dies_with_its_session(fenced: Toolbox) -> None:
    sleep = f"sleep 1001.{os.getpid()}"  # known from those of another run of the tests
    text = await fenced.text("Bash", command=f"(setsid {sleep} &) ; {sleep} & echo started")
    assert text == "started"
    await fenced.jobs.close()
    await gone(*_running(sleep))


async def test_a_timeout_reaches_what_is_inside_the_fence(fenced: Toolbox) -> None:
    sleep = f"sleep 1002.{os.getpid()}"
    output = await fenced.call("Bash", command=f"setsid {sleep} & {sleep}", timeout=1000)
    assert output.is_error
    await gone(*_running(sleep))


@pytest.mark.parametrize("command", ["cat /etc/hostname", "touch made"])
async def test_a_fence_that_does_not_start_runs_nothing(box: Toolbox, command: str) -> None:
    """Allowed or not: what was to be fenced in runs fenced in, or does not run."""
    fenced = _fenced(box, FoundFences(kind="bubblewrap", bwrap="/nonexistent/bwrap"))
    assert "not be run" in await fenced.error("Bash", command=command)
    assert list(box.root.iterdir()) == []


def _without_namespaces() -> list[str]:
    """A place where no mount namespace can be made, as in many containers; where none can be anyway, just here."""
    inside = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    forbid = [*inside, 'echo 0 > /proc/sys/user/max_mnt_namespaces && exec "$@"', "sh"]
    works = subprocess.run([*forbid, "true"], capture_output=True, check=False).returncode == 0
    return forbid if works else []


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
def test_a_bubblewrap_that_cannot_start_is_told_and_landlock_is_used(bwrap: str, tmp_path: Path) -> None:
    programs, root = tmp_path / "bin", tmp_path / "project"
    programs.mkdir()
    root.mkdir()
    (programs / "bwrap").symlink_to(bwrap)
    env = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    place = _without_namespaces()

    def told(*argv: str, input: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run([*place, *argv], env=env, input=input, capture_output=True, text=True, check=False)

    assent = (sys.executable, "-I", "-m", "assent.cli.main")
    findings = json.loads(told(*assent, "doctor", "--json").stdout)
    words = next(finding["text"] for finding in findings if finding["name"] == "sandbox")
    question = json.dumps({"tool": "Bash", "input": {"command": "ls"}, "cwd": str(root), "trusted": True})
    answer = json.loads(told(*assent, "explain", input=question).stdout)
    assert answer["decision"] == "allow"  # by what it is, not by where it runs
    policy = sandbox.working_policy([str(root)])
    found = FoundFences(kind="bubblewrap", bwrap=bwrap, filters=False)
    argv = sandbox.plan(["touch", str(root / "made")], policy, found=found).argv
    if place:
        assert "bubblewrap did not start (bwrap: " in words
        assert told(*argv).returncode != 0
        assert list(root.iterdir()) == []
        assert answer["sandbox"] == ("landlock" if landlock.abi_version() else "none")
        assert words.startswith("Landlock" if landlock.abi_version() else "none")


def _exists(path: Path) -> bool:
    return path.exists()


def _running(words: str) -> Iterator[int]:
    """Processes of that command line: those of a namespace die on their own, right after its first."""
    wanted = words.replace(" ", "\0").encode()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and wanted in (entry / "cmdline").read_bytes():
                yield int(entry.name)
