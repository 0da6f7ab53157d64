"""Which Neovims the scenes run in: all that we support, or the newest where versions differ little."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakeapi import FakeApi, Reply, text
from nvimscreen.scenes import Start, editors

LONG = pytest.mark.torture


@pytest.fixture(params=["0.10", "0.11", "0.12"])
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Start]:
    with editors(request.param, tmp_path) as started:
        yield started


@pytest.fixture(params=[pytest.param("0.10", marks=LONG), pytest.param("0.11", marks=LONG), "0.12"])
def newest(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Start]:
    """For scenes that lean less on what differs between versions."""
    with editors(request.param, tmp_path) as started:
        yield started


@pytest.fixture
def model() -> Iterator[FakeApi]:
    """A model whose words the test writes; side calls such as titles get a word, too."""
    with FakeApi.threaded() as api:
        api.otherwise(Reply(parts=(text("A title"),)))
        yield api
