"""What is not a plain file is refused at once and clearly; what is written is written whole (T3, safety.md)."""

import errno
import json
import os
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from assent.tools.files import disk
from assent.tools.files.disk_workspace import DiskWorkspace, absolute, target_of
from assent.tools.glob import Glob
from assent.tools.grep import Grep
from assent.tools.search import ripgrep
from assent.types.errors import FileMissing, ToolError
from assent.types.ports import EditPlan
from toolbox import Toolbox

AT_ONCE = 120.0  # seconds: a pipe would be waited for without end; how fast it is, `benchmarks` measure


INPUTS: dict[str, dict[str, object]] = {
    "Read": {},
    "Write": {"content": "x"},
    "Edit": {"old_string": "a", "new_string": "b"},
    "MultiEdit": {"edits": [{"old_string": "a", "new_string": "b"}]},
    "NotebookEdit": {"new_source": "x", "cell_id": "a"},
    "Grep": {"pattern": "x"},
    "Glob": {"pattern": "*"},
}
ODD = {
    "fifo": "named pipe",
    "/dev/zero": "device",
    "/dev/tty": "device",
    "loop": "loop of symbolic links",
    "sparse": "too large",
    "directory": "directory",
    "socket": "socket",
    "link to fifo": "named pipe",
    "below a file": "does not exist",
}
PATHS = {"NotebookEdit": "notebook_path", "Grep": "path", "Glob": "path"}


@pytest.mark.parametrize("tool", INPUTS)
@pytest.mark.parametrize("kind", ODD)
async def test_what_is_no_plain_file_is_refused_at_once(box: Toolbox, tool: str, kind: str) -> None:
    path = _make(box.root, kind, name="odd.ipynb" if tool == "NotebookEdit" else "odd thing")
    raw = INPUTS[tool] | {PATHS.get(tool, "file_path"): path}
    with anyio.fail_after(AT_ONCE):
        if kind == "directory" and tool in ("Grep", "Glob"):  # what these are for
            assert (await box.text(tool, **raw)).startswith("No")
            return
        error = await box.error(tool, **raw)
    match tool, kind:
        case "Glob", "loop" | "below a file":
            words = ODD[kind]
        case "Glob", _:
            words = "is not a folder"
        case "Write", "below a file":
            words = "odd thing is not a directory"
        case _:
            words = ODD[kind]
    assert words in error
    assert path in error


@pytest.mark.parametrize("rg", [ripgrep.system_program(), None])
async def test_a_search_passes_odd_things_by(tmp_path: Path, rg: str | None) -> None:
    """And is not held up by them: a pipe is not waited for, a huge file not read to its end."""
    root = tmp_path / "project"
    for kind in ("fifo", "loop", "sparse", "directory", "socket", "link to fifo"):
        (root / kind).mkdir(parents=True)
        _make(root / kind, kind)
    (root / "plain").write_text("needle")
    (root / "zero").symlink_to("/dev/zero")
    box = Toolbox(root, tools=[Glob(find_rg=lambda: rg), Grep(find_rg=lambda: rg)])
    with anyio.fail_after(AT_ONCE):
        assert await box.text("Grep", pattern="needle") == "plain"
        assert sorted((await box.text("Glob", pattern="*")).split("\n")) == ["plain", "sparse/odd thing"]
    await box.jobs.close()


def _make(root: Path, kind: str, *, name: str = "odd thing") -> str:
    path = root / name
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(root / "other")
            (root / "other").symlink_to(path)
        case "sparse":
            with path.open("wb") as file:
                file.truncate(5 * 1024**3)
        case "directory":
            path.mkdir()
        case "socket":
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(str(path))
        case "link to fifo":
            os.mkfifo(root / "pipe")
            path.symlink_to(root / "pipe")
        case "below a file":
            path.write_text("x")
            return str(path / name)
        case _:
            path.symlink_to(kind)
    return str(path)


_AS_NOBODY = """
import anyio, json, os, sys
from pathlib import Path
from toolbox import Toolbox

async def main():
    await anyio.to_thread.run_sync(int)  # loads the last modules, which that user may not be able to read
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    box = Toolbox(Path(sys.argv[1]))
    return [await box.error(tool, **raw) for tool, raw in json.loads(sys.argv[2])]

print(json.dumps(anyio.run(main)))
"""


def test_what_may_not_be_read_is_refused_at_once() -> None:
    """As a user without power over other people's files, as root has; so in a process of its own."""
    folder = Path(tempfile.mkdtemp(prefix="assent-"))  # pytest's own folders are closed to others
    try:
        folder.chmod(0o755)
        closed = folder / "closed"
        closed.mkdir()
        paths = [folder / "secret.ipynb", closed / "secret.ipynb"]
        for path in paths:
            path.write_text("x")
        paths[0].chmod(0)
        closed.chmod(0)
        calls = [
            *((tool, INPUTS[tool] | {PATHS.get(tool, "file_path"): str(path)}) for tool in INPUTS for path in paths),
            *((tool, INPUTS[tool] | {"path": str(closed)}) for tool in ("Grep", "Glob")),
        ]
        done = subprocess.run(
            [sys.executable, "-c", _AS_NOBODY, folder, json.dumps(calls)],
            cwd=Path(__file__).parents[1] / "support",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        refused = "{} cannot be opened: permission denied"
        assert json.loads(done.stdout) == [
            *(refused.format(path) for _ in INPUTS for path in paths),
            *(refused.format(closed) for _ in range(2)),
        ]
    finally:
        (folder / "closed").chmod(0o700)
        shutil.rmtree(folder)


async def test_a_file_that_never_ends_is_cut_off(box: Toolbox) -> None:
    """Files of /proc say they are empty, and a pipe that pretends to be one is not waited for."""
    with pytest.raises(ToolError, match="too large"):
        disk.read_bytes("/proc/self/maps", limit=100)


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/thread-self/environ", "/proc/self/auxv"])
async def test_the_environment_of_a_process_is_not_read(box: Toolbox, path: str) -> None:
    (box.root / "link").symlink_to(path)
    assert "may hold keys" in await box.error("Read", file_path=path)
    assert "may hold keys" in await box.error("Read", file_path="link")


async def test_a_missing_file_is_told_with_the_name_that_was_meant(box: Toolbox) -> None:
    (box.root / "settings.json").write_text("{}")
    error = await box.error("Read", file_path="setings.json")
    assert error == f"{box.root}/setings.json does not exist. Did you mean {box.root}/settings.json?"


async def test_a_binary_file_is_said_to_be_one(box: Toolbox) -> None:
    (box.root / "program").write_bytes(bytes(range(256)) * 50)
    assert "binary" in await box.error("Read", file_path="program")


async def test_a_write_keeps_mode_and_goes_through_the_link(box: Toolbox) -> None:
    real = box.root / "real.sh"
    real.write_text("echo 1\n")
    real.chmod(0o751)
    (box.root / "link.sh").symlink_to("real.sh")
    await box.call("Read", file_path="link.sh")
    await box.call("Edit", file_path="link.sh", old_string="1", new_string="2")
    assert (box.root / "link.sh").is_symlink()
    assert real.read_text() == "echo 2\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o751


async def test_a_write_leaves_no_temporary_file_behind(box: Toolbox) -> None:
    await box.call("Write", file_path="deep/er/new.txt", content="x")
    assert sorted(p.name for p in box.root.rglob("*")) == ["deep", "er", "new.txt"]


@pytest.mark.parametrize("before", [None, "old"])
async def test_a_text_is_synced_before_it_gets_its_name(
    box: Toolbox, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    """So a power cut leaves the old text or the new one; the real calls are made, and watched."""
    steps: list[str] = []

    def watched(name: str) -> None:
        real = getattr(os, name)

        def call(*args: Any, **options: Any) -> Any:
            what = "folder" if name == "fsync" and stat.S_ISDIR(os.fstat(args[0]).st_mode) else ""
            steps.append(f"{name} {what}".strip())
            return real(*args, **options)

        monkeypatch.setattr(os, name, call)

    if before is not None:
        (box.root / "a.txt").write_text(before)
        await box.call("Read", file_path="a.txt")
    for name in ("write", "fsync", "rename", "link"):
        watched(name)
    await box.call("Write", file_path="a.txt", content="new")
    naming = "link" if before is None else "rename"
    assert [step for step in steps if step != "write"] == ["fsync", naming, "fsync folder"]
    assert steps[0] == "write"
    assert (box.root / "a.txt").read_text() == "new"


async def test_a_reader_sees_the_old_text_or_the_new_one_and_nothing_between(box: Toolbox) -> None:
    path = box.root / "big.txt"
    texts = {letter * 2_000_000 for letter in "ab"}
    path.write_text("a" * 2_000_000)
    seen: set[str] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            seen.add(path.read_text())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for letter in "bababab":
            await box.call("Read", file_path="big.txt")
            await box.call("Write", file_path="big.txt", content=letter * 2_000_000)
    finally:
        done.set()
        watcher.join()
    assert seen <= texts


@pytest.mark.parametrize("swapped", ["folder", "file"])
async def test_a_link_swapped_in_after_the_plan_is_not_followed(box: Toolbox, tmp_path: Path, swapped: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.txt").write_text("old\n")
    (box.root / "dir").mkdir()
    path = box.root / "dir" / "a.txt"
    path.write_text("old\n")
    workspace = DiskWorkspace()
    before = await workspace.read(str(path))
    plan = EditPlan(
        path=str(path), before=before, new_text="new\n", tool="Edit", tool_use_id="t", target=target_of(str(path))
    )
    if swapped == "folder":
        path.unlink()
        (box.root / "dir").rmdir()
        (box.root / "dir").symlink_to(elsewhere)
    else:
        path.unlink()
        path.symlink_to(elsewhere / "a.txt")
    with pytest.raises(ToolError, match="leads to another place"):
        await workspace.apply(plan)
    assert (elsewhere / "a.txt").read_text() == "old\n"


def test_the_way_to_a_file_is_walked_without_following_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(ToolError, match="became a link"), disk.parent_of(str(tmp_path / "link" / "x")):
        pass


async def test_a_file_that_appeared_meanwhile_is_not_overwritten(box: Toolbox) -> None:
    path = box.root / "new.txt"
    plan = EditPlan(path=str(path), before=None, new_text="mine", tool="Write", tool_use_id="t")
    path.write_text("theirs")
    with pytest.raises(ToolError, match="exists now"):
        await DiskWorkspace().apply(plan)
    assert path.read_text() == "theirs"
    assert [p.name for p in box.root.iterdir()] == ["new.txt"]


def test_where_links_cannot_be_made_a_new_file_is_still_not_put_over_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_args: object, **_options: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    with disk.parent_of(str(tmp_path / "new")) as directory:
        disk.replace(directory, "new", b"mine", old=None)
        with pytest.raises(FileExistsError):
            disk.replace(directory, "new", b"other", old=None)
    assert (tmp_path / "new").read_bytes() == b"mine"
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


async def test_a_file_that_changed_after_the_plan_is_not_overwritten(box: Toolbox) -> None:
    path = box.root / "a.txt"
    path.write_text("one")
    before = await DiskWorkspace().read(str(path))
    path.write_text("two")
    with pytest.raises(ToolError, match="changed since"):
        await DiskWorkspace().apply(EditPlan(path=str(path), before=before, new_text="x", tool="", tool_use_id=""))
    path.unlink()
    with pytest.raises(ToolError, match="is gone"):
        await DiskWorkspace().apply(EditPlan(path=str(path), before=before, new_text="x", tool="", tool_use_id=""))


async def test_a_write_the_disk_refuses_leaves_the_file_as_it_was_and_says_so(box: Toolbox) -> None:
    (box.root / "a.txt").write_text("old")
    await box.call("Read", file_path="a.txt")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        error = await box.error("Write", file_path="a.txt", content="new" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert error == f"{box.root}/a.txt could not be written, and is unchanged: File too large"
    assert (box.root / "a.txt").read_text() == "old"
    assert [path.name for path in box.root.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.txt", "{root}/a.txt"),
        ("./a//b.txt", "{root}/a/b.txt"),
        ("/etc/hosts", "/etc/hosts"),
        ("~/x", "{home}/x"),
        ("sub/../a.txt", "{root}/a.txt"),
    ],
)
def test_paths_mean_the_working_directory(tmp_path: Path, path: str, expected: str) -> None:
    root = str(tmp_path.resolve())
    assert absolute(path, root) == expected.format(root=root, home=Path.home())


def test_dot_dot_after_a_link_leads_where_the_kernel_would_go(tmp_path: Path) -> None:
    (tmp_path / "far" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("far/inner")
    assert absolute("link/../x", str(tmp_path)) == str(tmp_path.resolve() / "far" / "x")


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_paths_that_are_none_are_refused(path: str) -> None:
    with pytest.raises(ToolError):
        absolute(path, "/")


async def test_a_missing_file_is_told_apart_from_an_unreadable_one() -> None:
    with pytest.raises(FileMissing):
        await DiskWorkspace().read("/nonexistent/file")


def test_the_clock_of_a_file_is_kept_in_its_text(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("x")
    os.utime(path, ns=(1, 2_000_000_000))
    from assent.tools.files.disk_workspace import read_text

    assert read_text(str(path)).mtime_ns == 2_000_000_000
    assert time.time_ns() > 2_000_000_000


async def test_a_thousand_writes_leave_no_folder_open(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "down" / "file.txt"
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 -- only their number matters
    for number in range(1000):
        with disk.parent_of(str(target), create=True) as folder:
            old = target.stat() if target.exists() else None
            disk.replace(folder, target.name, b"%d" % number, old=old)
    assert (await DiskWorkspace().read(str(target))).text == "999"
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
