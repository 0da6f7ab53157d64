"""What files were before the agent changed them (S3)."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assent.storage.history import FileHistory, Past, digest_of
from assent.types.ports import FileText


def file(text: str, **more: object) -> FileText:
    return FileText(path="/f", text=text, **more)  # pyright: ignore[reportArgumentType] -- encoding and bom, by name


def test_the_past_is_what_was_there_before_the_first_change_since(tmp_path: Path) -> None:
    history = FileHistory(tmp_path)
    history.before("/f", file("one"), at=10)
    history.after("/f", file("two"))
    history.before("/f", file("two"), at=20)
    history.after("/f", file("three"))
    history.close()
    reopened = FileHistory(tmp_path)
    left = digest_of(file("three"))
    assert reopened.since(0) == [Past(path="/f", text="one", left=left, content=b"one", left_content=b"three")]
    assert reopened.since(15) == [Past(path="/f", text="two", left=left, content=b"two", left_content=b"three")]
    assert reopened.since(21) == []


def test_bytes_come_back_as_they_were_whatever_the_encoding(tmp_path: Path) -> None:
    history = FileHistory(tmp_path)
    history.before("/latin", file("caf\xe9\r\n", encoding="latin-1"), at=1)
    history.before("/bom", file("x", bom=b"\xef\xbb\xbf"), at=1)
    history.before("/new", None, at=1)
    pasts = {past.path: past for past in history.since(0)}
    assert pasts["/latin"].content == b"caf\xe9\r\n"
    assert pasts["/bom"].content == b"\xef\xbb\xbfx"
    assert pasts["/new"].content is None
    assert not pasts["/new"].known  # no `after`: we do not know whether the edit happened


@pytest.mark.parametrize("size", [0, 2_000_000])
def test_several_threads_may_write_at_once(tmp_path: Path, size: int) -> None:
    """A big file is copied in a thread while the editor lands another edit."""
    often, usual = 1e-6, sys.getswitchinterval()
    sys.setswitchinterval(often)
    try:
        for run in range(10):
            write_from_threads(tmp_path / str(run), "y" * size)
    finally:
        sys.setswitchinterval(usual)


def write_from_threads(folder: Path, text: str) -> None:
    history = FileHistory(folder)
    start = threading.Barrier(8)

    def work(number: int) -> None:
        start.wait()
        history.before(f"/f{number}", file(f"{text}{number % 2}"), at=1)
        history.after(f"/f{number}", file("after"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    found = FileHistory(folder).since(0)
    assert sorted((past.path, past.text) for past in found) == [(f"/f{n}", f"{text}{n % 2}") for n in range(8)]
    assert all(past.known for past in found)
    assert not list(folder.glob("*.part*"))
