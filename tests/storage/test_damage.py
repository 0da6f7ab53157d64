"""Every way a transcript can be hurt, one after the other: the rest loads, and says what is missing (S1)."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from assent.sessions.live.record import Record
from assent.storage import transcript
from assent.storage.files import write_atomically
from assent.storage.history import FileHistory
from assent.storage.journal import Disk, Journal
from assent.storage.lines import decode
from assent.storage.paths import SessionPaths
from assent.types.blocks import text_block
from assent.types.messages import AssistantMessage, UserMessage

ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS)


def conversation(path: Path, turns: int = 4) -> list[bytes]:
    """The lines of a small conversation."""
    record = Record(SessionPaths(transcript=path))
    record.begin(sessionId=path.stem, cwd="/project")
    for number in range(turns):
        record.append(UserMessage(uuid=f"u{number}", content=(text_block(f"question {number} é"),)))
        words = (text_block(f"answer {number}"),)
        record.append(AssistantMessage(uuid=f"a{number}", message_id=f"m{number}", content=words, model="m"))
        record.state({"turns": number + 1, "title": "A talk"})
    record.close()
    return path.read_bytes().splitlines(keepends=True)


def ids(path: Path) -> list[str]:
    return [message.uuid for message in transcript.load(path).messages]


HARMS: dict[str, Callable[[bytes], bytes]] = {
    "zeros": lambda line: b"\0" * (len(line) - 1) + b"\n",
    "cut": lambda line: line[: len(line) // 2] + b"\n",
    "no UTF-8": lambda line: line.replace(b'"', b"\xff", 1),
    "another type": lambda _line: b'{"type":["user"],"uuid":7}\n',
    "a list": lambda _line: b"[1, 2]\n",
    "its newline is gone": lambda line: line[:-1],
}


@pytest.mark.parametrize("harm", HARMS)
def test_every_line_damaged_in_turn_leaves_all_the_others(tmp_path: Path, harm: str) -> None:  # S1
    path = tmp_path / "s1.jsonl"
    lines = conversation(path)
    whole = ids(path)
    for number, line in enumerate(lines):
        path.write_bytes(b"".join([*lines[:number], HARMS[harm](line), *lines[number + 1 :]]))
        lost = {number, number + 1} if harm == "its newline is gone" and number + 1 < len(lines) else {number}
        if harm == "its newline is gone" and number + 1 == len(lines):
            lost = set[int]()
        expected = [uuid for uuid in whole if not any(f'"uuid":"{uuid}"'.encode() in lines[at] for at in lost)]
        assert ids(path) == expected, number
        page = transcript.newest_page(path)
        assert [str(entry.record["uuid"]) for entry in page.entries] == expected
        if harm != "another type":
            assert page.damaged == transcript.load(path).damaged == (1 if lost else 0), number
        before = path.read_bytes()
        again = Record(SessionPaths(transcript=path))  # goes on behind the damage, and changes nothing before it
        again.append(UserMessage(uuid="next", content=(text_block("still here"),)))
        again.close()
        assert ids(path) == [*expected, "next"] and path.read_bytes().startswith(before)


def test_the_last_entry_torn_at_every_byte_is_all_that_is_lost(tmp_path: Path) -> None:  # S1
    path = tmp_path / "s1.jsonl"
    lines = conversation(path, turns=2)
    last = next(at for at in reversed(range(len(lines))) if lines[at].startswith(b'{"type":"assistant"'))
    kept, torn = lines[:last], lines[last]
    for size in range(len(torn)):
        path.write_bytes(b"".join(kept) + torn[:size])
        expected = ["u0", "a0", "u1", "a1"] if size == len(torn) - 1 else ["u0", "a0", "u1"]
        assert ids(path) == expected, size
        damaged = 0 if size in (0, len(torn) - 1) else 1
        assert transcript.newest_page(path).damaged == transcript.load(path).damaged == damaged
        record = Record(SessionPaths(transcript=path))
        assert record.torn is (size > 0)
        record.append(UserMessage(uuid="next", content=(text_block("on"),)))
        assert record.close()
        assert ids(path) == [*expected, "next"]
        assert transcript.format_of(path) == transcript.FORMAT


class FailingDisk:
    """Fails its Nth operation, or that and all after it, and remembers what it took before."""

    def __init__(self, nth: int, error: int, *, lasting: bool) -> None:
        self.left, self.error, self.lasting = nth, error, lasting
        self.count = 0

    def _step(self) -> None:
        self.count += 1
        self.left -= 1
        if self.left == 0 or (self.lasting and self.left < 0):
            raise OSError(self.error, os.strerror(self.error))

    def pwrite(self, fd: int, data: bytes, offset: int) -> int:
        self._step()
        return os.pwrite(fd, data[: max(1, len(data) // 2)], offset)  # and never all at once

    def fsync(self, fd: int) -> None:
        self._step()
        os.fsync(fd)

    @property
    def port(self) -> Disk:
        return Disk(pwrite=self.pwrite, fsync=self.fsync)


@pytest.mark.parametrize("error", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("lasting", [False, True])
async def test_with_every_nth_write_or_sync_failing_nothing_is_claimed_that_is_not_there(
    tmp_path: Path, error: int, lasting: bool
) -> None:  # S1
    nth = total = 0
    while nth <= total:
        nth += 1
        disk = FailingDisk(nth, error, lasting=lasting)
        told: list[OSError | None] = []
        path = tmp_path / f"{nth}.jsonl"
        journal = Journal(path, disk=disk.port, on_trouble=told.append, retry_delays=(3600,))
        claimed: list[int] = []
        for number in range(4):
            journal.append({"n": number})
            if await journal.flush():
                claimed.append(number)
                there = [decode(line) for line in path.read_bytes().splitlines()]
                assert {"n": number} in there, (nth, number)
        closed = journal.close()
        there = [decode(line) for line in path.read_bytes().splitlines()]
        assert all({"n": number} in there for number in claimed)
        assert not closed or [record for record in there if record] == [{"n": number} for number in range(4)]
        failed = nth <= disk.count
        assert bool(told) is failed and (not failed or isinstance(told[0], OSError))
        if lasting and failed:
            assert not closed
        total = disk.count
    assert nth > 8


@pytest.mark.parametrize("error", ERRORS, ids=errno.errorcode.get)
def test_a_file_that_is_replaced_is_the_old_one_or_the_new_one_whatever_fails(
    tmp_path: Path, error: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "folder" / "settings.json"
    write_atomically(path, b"old")

    def failing(*_args: object, **_more: object) -> None:
        raise OSError(error, os.strerror(error))

    for name in ("os.open", "os.fsync", "pathlib.Path.replace"):
        with monkeypatch.context() as patched:
            patched.setattr(name, failing)
            with pytest.raises(OSError):
                write_atomically(path, b"new")
        assert path.read_bytes() == b"old"
        assert [file.name for file in path.parent.iterdir()] == ["settings.json"]


def test_file_history_refuses_before_a_change_when_it_cannot_keep_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_args: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    history = FileHistory(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr("pathlib.Path.replace", failing)
        with pytest.raises(OSError):
            history.changed("/f", b"before", b"after", at=1)
    assert history.since(0) == []
    history.changed("/f", b"before", b"after", at=1)
    (past,) = history.since(0)
    assert past.content == b"before" and past.left_content == b"after"
