"""What the ring keeps, and where: bounded memory, nothing changed on the way through the file."""

import errno
import tempfile
from typing import Never

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.sessions.stream import event_store as ring_store
from assent.sessions.stream.event_store import BIG, RingStore

lines = st.lists(st.one_of(st.binary(max_size=20), st.integers(1, 5).map(lambda n: b"x" * (BIG + n))), max_size=40)


@settings(max_examples=50, deadline=None)
@given(lines=lines, most=st.integers(1, 20), skip=st.integers(0, 25))
def test_the_last_lines_come_back_as_they_went_in(lines: list[bytes], most: int, skip: int) -> None:
    store = RingStore(most=most, most_bytes=10**9)
    for line in lines:
        store.append(line)
    kept = lines[-most:] if lines else []
    assert len(store) == len(kept)
    assert list(store.since(skip)) == kept[skip:]


def test_long_lines_cost_no_memory_and_short_ones_are_bounded() -> None:
    store = RingStore(most=1_000, most_bytes=1_000)
    for _ in range(20):
        store.append(b"x" * (BIG + 1))
    assert (len(store), store._bytes) == (20, 0)
    for _ in range(30):
        store.append(b"y" * 100)
    assert store._bytes == 1_000
    assert list(store.since(0)) == [b"y" * 100] * 10


def test_the_file_starts_anew_when_nothing_in_it_is_wanted_and_never_grows_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ring_store, "FILE_BYTES", 4 * BIG)
    store = RingStore(most=1_000, most_bytes=10**9)
    for number in range(50):
        store.append(bytes([number]) * (BIG + 1))
        assert store._end <= 4 * BIG
    store.append(b"last")
    assert list(store.since(len(store) - 1)) == [b"last"]


def test_a_disk_that_is_full_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_options: object) -> Never:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    store = RingStore(most=10, most_bytes=10**9)
    store.append(b"z" * (BIG + 1))
    assert list(store.since(0)) == [b"z" * (BIG + 1)]
