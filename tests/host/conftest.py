"""A desk of its own for every test."""

from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest_asyncio

from hostkit import Desk


@pytest_asyncio.fixture(loop_scope="module")
async def desk() -> AsyncIterator[Desk]:
    """In a folder with a short name: most sockets shall lie where they usually do."""
    with TemporaryDirectory(prefix="desk-", ignore_cleanup_errors=True) as folder:
        made = Desk(Path(folder))
        yield made
        for client in made.clients:
            await client.close()
        await made.host_gone()
