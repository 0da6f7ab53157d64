from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from toolbox import Toolbox


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[Toolbox]:
    root = tmp_path / "project"
    root.mkdir()
    box = Toolbox(root)
    yield box
    await box.jobs.close()
