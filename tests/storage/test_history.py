"""What files were before the agent changed them (S3)."""

from pathlib import Path

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
    assert reopened.since(0) == [Past(path="/f", text="one", left=left)]
    assert reopened.since(15) == [Past(path="/f", text="two", left=left)]
    assert reopened.since(21) == []


def test_bytes_come_back_as_they_were_whatever_the_encoding(tmp_path: Path) -> None:
    history = FileHistory(tmp_path)
    history.before("/latin", file("caf\xe9\r\n", encoding="latin-1"), at=1)
    history.before("/bom", file("x", bom=b"\xef\xbb\xbf"), at=1)
    history.before("/new", None, at=1)
    pasts = {past.path: past for past in history.since(0)}
    assert pasts["/latin"].data == b"caf\xe9\r\n"
    assert pasts["/bom"].data == b"\xef\xbb\xbfx"
    assert pasts["/new"].data is None
    assert not pasts["/new"].known  # no `after`: we do not know whether the edit happened
