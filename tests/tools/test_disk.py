"""What is not a plain file is refused at once and clearly; what is written is written whole (T3, safety.md)."""

import errno
import os
import resource
import signal
import socket
import stat
import threading
import time
from pathlib import Path

import anyio
import pytest

from assent.tools import disk
from assent.tools.files import DiskWorkspace, absolute, target_of
from assent.types.errors import FileMissing, ToolError
from assent.types.ports import EditPlan
from toolbox import Toolbox

AT_ONCE = 5.0  # seconds: five times what safety.md asks for


@pytest.mark.parametrize("tool", ["Read", "Edit", "Write"])
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("fifo", "named pipe"),
        ("/dev/zero", "device"),
        ("/dev/tty", "device"),
        ("loop", "loop of symbolic links"),
        ("sparse", "too large"),
        ("directory", "directory"),
        ("socket", "socket"),
        ("link to fifo", "named pipe"),
    ],
)
async def test_what_is_no_plain_file_is_refused_at_once(box: Toolbox, tool: str, kind: str, words: str) -> None:
    path = _make(box.root, kind)
    raw: dict[str, str] = {"file_path": path}
    if tool == "Edit":
        raw |= {"old_string": "a", "new_string": "b"}
    if tool == "Write":
        raw |= {"content": "x"}
    with anyio.fail_after(AT_ONCE):
        error = await box.error(tool, **raw)
    assert words in error
    assert path in error


def _make(root: Path, kind: str) -> str:
    path = root / "odd thing"
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
            socket.socket(socket.AF_UNIX).bind(str(path))
        case "link to fifo":
            os.mkfifo(root / "pipe")
            path.symlink_to(root / "pipe")
        case _:
            return kind
    return str(path)


def test_an_unreadable_file_is_told_by_its_reason() -> None:
    error = disk.unusable("/x", PermissionError(13, "Permission denied"))
    assert str(error) == "/x cannot be opened: permission denied"


async def test_a_file_without_read_permission_is_refused(box: Toolbox) -> None:
    path = box.root / "secret"
    path.write_text("x")
    path.chmod(0)
    if os.access(path, os.R_OK):  # root reads everything; the words are tested above
        assert "x" in await box.text("Read", file_path="secret")
    else:
        assert "permission denied" in await box.error("Read", file_path="secret")


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
    from assent.tools.files import read_text

    assert read_text(str(path)).mtime_ns == 2_000_000_000
    assert time.time_ns() > 2_000_000_000
