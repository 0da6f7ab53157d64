from pathlib import Path

import pytest

from permissions.scratch import Scratch, make_scratch


@pytest.fixture
def ws(tmp_path: Path) -> Scratch:
    return make_scratch(tmp_path)


@pytest.fixture(scope="module")
def shared_ws(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    """For tests that only decide and never change anything."""
    return make_scratch(tmp_path_factory.mktemp("scratch"))


@pytest.fixture(scope="module")
def plain_ws(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    """Without the link to a key, so that wildcards meet nothing but the workspace's own files."""
    return make_scratch(tmp_path_factory.mktemp("plain"), key=False)
