"""Tool output too long for a message (C1)."""

from pathlib import Path

import pytest

from assent.storage.spill import SpillFolder


def test_the_same_id_always_gives_the_same_path(tmp_path: Path) -> None:
    spill = SpillFolder(tmp_path / "results")
    first = spill.write("toolu_1", "one\r\ntwo \ud800")
    assert spill.write("toolu_1", "one\r\ntwo \ud800") == first
    assert first is not None
    assert Path(first).read_bytes() == "one\r\ntwo \ufffd".encode()


@pytest.mark.parametrize("name", ["../../evil", "/etc/passwd", "a/b", "", "x" * 300, "nul\x00"])
def test_an_id_never_chooses_where_we_write(tmp_path: Path, name: str) -> None:
    spill = SpillFolder(tmp_path / "results")
    assert Path(spill.write(name, "text") or "").parent == tmp_path / "results"


def test_what_the_disk_does_not_take_is_no_file_and_no_half_of_one(tmp_path: Path) -> None:
    (tmp_path / "full").write_text("no folder can be made below this")
    assert SpillFolder(tmp_path / "full" / "spill").write("toolu_1", "text") is None
    folder = SpillFolder(tmp_path / "spill")
    (tmp_path / "spill" / "toolu_2.txt").mkdir(parents=True)  # nothing can be written there
    assert folder.write("toolu_2", "text") is None
