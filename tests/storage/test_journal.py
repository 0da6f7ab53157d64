"""Durable appends, and what happens when the disk refuses."""

import errno
import os
import threading
from pathlib import Path

import anyio
import anyio.to_thread

from assent.storage.journal import SYNC_AFTER, Disk, Journal


class FlakyDisk:
    """A disk that can be full, take only part of a write, or lose its nerve at fsync."""

    def __init__(self) -> None:
        self.room: int | None = None
        self.fsync_error: OSError | None = None

    def pwrite(self, fd: int, data: bytes, offset: int) -> int:
        if self.room is not None:
            data = data[: self.room]
            if not data:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.room -= len(data)
        return os.pwrite(fd, data, offset)

    def fsync(self, fd: int) -> None:
        if self.fsync_error is not None:
            raise self.fsync_error
        os.fsync(fd)

    @property
    def port(self) -> Disk:
        return Disk(pwrite=self.pwrite, fsync=self.fsync)


async def test_a_flush_says_the_truth(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal.append({"n": 1})
    assert await journal.flush()
    assert (tmp_path / "j.jsonl").read_bytes() == b'{"n":1}\n'
    journal.close()


async def test_an_appended_line_is_with_the_system_before_any_flush(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal.append({"n": 1})
    assert (tmp_path / "j.jsonl").read_bytes() == b'{"n":1}\n'  # it survives kill -9 of this process
    journal.close()


async def test_a_full_disk_keeps_the_rest_in_order_and_tells_once(tmp_path: Path) -> None:
    disk = FlakyDisk()
    told: list[OSError | None] = []
    settled = anyio.Event()

    def trouble(error: OSError | None) -> None:
        told.append(error)
        if error is None:
            settled.set()

    journal = Journal(tmp_path / "j.jsonl", disk=disk.port, on_trouble=trouble, retry_delays=(0.01,))
    journal.append({"n": 1})
    disk.room = 4
    offsets = [journal.append({"n": 2}), journal.append({"n": 3})]
    assert not await journal.flush()
    assert [error.errno if error else None for error in told] == [errno.ENOSPC]
    disk.room = None
    with anyio.fail_after(120):
        await settled.wait()
    assert told[1:] == [None]
    assert await journal.flush()
    data = (tmp_path / "j.jsonl").read_bytes()
    assert data == b'{"n":1}\n{"n":2}\n{"n":3}\n'
    assert [data[offset:].split(b"\n")[0] for offset in offsets] == [b'{"n":2}', b'{"n":3}']
    journal.close()


async def test_after_a_failed_fsync_everything_since_the_last_good_one_is_written_again(tmp_path: Path) -> None:
    disk = FlakyDisk()
    journal = Journal(tmp_path / "j.jsonl", disk=disk.port)
    journal.append({"n": 1})
    assert await journal.flush()
    journal.append({"n": 2})
    disk.fsync_error = OSError(errno.EIO, os.strerror(errno.EIO))
    assert not await journal.flush()
    # What the kernel held may be gone: as if the page had been dropped.
    with (tmp_path / "j.jsonl").open("r+b") as file:
        file.truncate(8)
    disk.fsync_error = None
    assert await journal.flush()
    assert (tmp_path / "j.jsonl").read_bytes() == b'{"n":1}\n{"n":2}\n'
    journal.close()


async def test_closing_with_a_full_disk_does_not_claim_to_have_saved(tmp_path: Path) -> None:
    disk = FlakyDisk()
    journal = Journal(tmp_path / "j.jsonl", disk=disk.port)
    disk.room = 0
    journal.append({"n": 1})
    assert journal.close() is False


async def test_many_flushes_at_once_each_cover_their_own_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    done: list[int] = []

    async def one(number: int) -> None:
        journal.append({"n": number})
        assert await journal.flush()
        done.append(number)

    with anyio.fail_after(120):
        async with anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(one, number)
    assert len(done) == 50
    assert (tmp_path / "j.jsonl").read_bytes().count(b"\n") == 50
    journal.close()


class SlowDisk(FlakyDisk):
    """A disk whose first fsync takes until it is let go, and which writes down what was synced."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.synced: list[int] = []
        self._first = True

    def fsync(self, fd: int) -> None:
        if self._first:
            self._first = False
            self.begun.set()
            assert self.go_on.wait(60)
        super().fsync(fd)
        self.synced.append(os.fstat(fd).st_ino)


async def test_a_flush_under_way_does_not_undo_a_later_one(tmp_path: Path) -> None:
    """A record so long that it is synced at once comes while an earlier flush still waits for the disk."""
    disk = SlowDisk()
    journal = Journal(tmp_path / "j.jsonl", disk=disk.port)
    journal.append({"n": 1})
    flushed: list[bool] = []

    async def flush() -> None:
        flushed.append(await journal.flush())

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(flush)
            await anyio.to_thread.run_sync(disk.begun.wait, 60)
            journal.append({"long": "x" * SYNC_AFTER})
            journal.append({"n": 2})
            disk.go_on.set()
    journal.append({"n": 3})
    assert flushed == [True] and await journal.flush()
    lines = (tmp_path / "j.jsonl").read_bytes().split(b"\n")
    assert [line[:9] for line in lines] == [b'{"n":1}', b'{"long":"', b'{"n":2}', b'{"n":3}', b""]
    assert journal.end == (tmp_path / "j.jsonl").stat().st_size
    journal.close()


async def test_a_sync_that_failed_meanwhile_is_made_good_by_the_one_that_succeeds(tmp_path: Path) -> None:
    disk = SlowDisk()
    journal = Journal(tmp_path / "j.jsonl", disk=disk.port, retry_delays=(60.0,))
    journal.append({"n": 1})
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(journal.flush)
            await anyio.to_thread.run_sync(disk.begun.wait, 60)
            disk.fsync_error = OSError(errno.EIO, os.strerror(errno.EIO))
            journal.append({"long": "x" * SYNC_AFTER})
            disk.fsync_error = None
            disk.go_on.set()
    journal.append({"n": 2})
    assert await journal.flush()
    lines = (tmp_path / "j.jsonl").read_bytes().split(b"\n")
    assert [line[:9] for line in lines] == [b'{"n":1}', b'{"long":"', b'{"n":2}', b""]
    journal.close()


async def test_the_name_of_a_new_file_is_synced_with_it(tmp_path: Path) -> None:  # S1
    disk = SlowDisk()
    disk.go_on.set()
    journal = Journal(tmp_path / "j.jsonl", disk=disk.port)
    journal.append({"n": 1})
    assert await journal.flush()
    file, folder = await anyio.Path(journal.path).stat(), await anyio.Path(tmp_path).stat()
    assert disk.synced == [file.st_ino, folder.st_ino]
    journal.append({"n": 2})
    assert await journal.flush()
    assert disk.synced[2:] == [file.st_ino]
    journal.close()


async def test_closing_while_a_flush_waits_for_the_disk_saves_everything_and_tells_of_no_trouble(
    tmp_path: Path,
) -> None:
    disk = SlowDisk()
    told: list[OSError | None] = []
    journal = Journal(tmp_path / "j.jsonl", disk=disk.port, on_trouble=told.append)
    journal.append({"n": 1})
    flushed: list[bool] = []

    async def flush() -> None:
        flushed.append(await journal.flush())

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(flush)
            await anyio.to_thread.run_sync(disk.begun.wait, 60)
            journal.append({"n": 2})
            assert journal.close()
            disk.go_on.set()
    assert (flushed, told) == ([True], [])
    assert (tmp_path / "j.jsonl").read_bytes() == b'{"n":1}\n{"n":2}\n'
