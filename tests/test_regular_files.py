"""The one reader for files that somebody else may have put there."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assent.types.regular_files import RefusedFile, read_regular, read_regular_text
from oddfiles import ODD, put

pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_regular_file_of_the_size_is_refused_at_once_with_path_and_reason(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    word = put(kind, path)
    with pytest.raises(OSError) as refused:
        read_regular(path, limit=1000)
    assert word in str(refused.value)
    assert "settings.json" in str(refused.value)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300), limit=st.integers(0, 300))
def test_a_file_is_read_whole_or_not_at_all(data: bytes, limit: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    if len(data) <= limit:
        assert read_regular(path, limit=limit).data == data
    else:
        with pytest.raises(RefusedFile) as refused:
            read_regular(path, limit=limit)
        assert refused.value.size == len(data)


def test_a_file_that_hides_its_size_is_cut_off_at_the_limit() -> None:
    assert read_regular("/proc/self/status", limit=100_000).data
    with pytest.raises(RefusedFile, match="too large"):
        read_regular("/proc/self/status", limit=100)


def test_links_are_followed_only_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("text")
    (tmp_path / "link").symlink_to("there")
    assert read_regular_text(tmp_path / "link", limit=10) == "text"
    with pytest.raises(RefusedFile, match="symbolic link"):
        read_regular(tmp_path / "link", limit=10, follow=False)


def test_a_name_is_looked_up_in_the_open_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        assert read_regular("file", limit=10, directory=folder).data == b"text"
    finally:
        os.close(folder)


def test_the_environment_of_a_process_is_refused_wherever_the_link_lies(tmp_path: Path) -> None:
    (tmp_path / "ASSENT.md").symlink_to(f"/proc/{os.getpid()}/environ")
    with pytest.raises(RefusedFile, match="may hold keys"):
        read_regular(tmp_path / "ASSENT.md", limit=1_000_000)


def test_what_is_not_there_is_missing_and_not_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "nothing", limit=10)
