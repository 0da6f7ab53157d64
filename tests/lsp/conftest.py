"""Shared by the end-to-end tests: a spawned server, a client that behaves as an editor, a strict fake API."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from fakeapi import FakeApi
from lspclient import Client, Connect, Json, Server
from lspclient.client import PLUGIN


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "greeter.py").write_text('def greet():\n    return "Helo"\n\n\ndef part():\n    return "Bye"\n')
    return folder


@pytest_asyncio.fixture
async def api() -> AsyncIterator[FakeApi]:
    async with FakeApi() as fake:
        yield fake


@pytest_asyncio.fixture
async def connect(tmp_path: Path, workspace: Path) -> AsyncIterator[Connect]:
    """`await connect(assent=…, env=…)`: an initialized client of a server of its own, offline unless told otherwise."""
    clients: list[Client] = []

    async def make(
        *,
        assent: Json | None = None,
        api: FakeApi | None = None,
        env: dict[str, str] | None = None,
        home: Path | None = None,
        capabilities: Json | None = None,
        initialize: bool = True,
        root: Path | None = workspace,
        **more: Any,
    ) -> Client:
        environment = api.env if api is not None else {"ASSENT_OFFLINE": "1"}
        client = Client(Server(home or tmp_path / "home", env={**environment, **(env or {})}))
        clients.append(client)
        await client.start()
        if initialize:
            await client.initialize(root, assent=assent, capabilities=capabilities, **more)
        return client

    yield make
    for client in clients:
        await client.close()


@pytest.fixture
def plugin() -> Json:
    """What our own plugins claim."""
    return {"client": dict(PLUGIN), "maxEventRate": 0}
