"""Shared by the end-to-end tests: spawned servers, clients that behave as editors, a strict fake API.

Servers are spawned once per module where tests can share one: each costs a second of importing.
"""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from fakeapi import FakeApi
from lspclient import Client, Connect, Json, Server
from lspclient.client import PLUGIN

_BUG = re.compile(r"^\S+ \S+ \d+ (ERROR|CRITICAL) ")
GREETER = 'def greet():\n    return "Helo"\n\n\ndef part():\n    return "Bye"\n'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for this module: `home` and `workspace` are in it."""
    return tmp_path_factory.mktemp("lsp")


@pytest.fixture
def workspace(place: Path) -> Path:
    """The shared workspace, its files as they were."""
    return make_workspace(place)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared_api() -> AsyncIterator[FakeApi]:
    async with FakeApi() as fake:
        yield fake


@pytest.fixture
def api(shared_api: FakeApi) -> FakeApi:
    """The shared fake API, with nothing of an earlier test's script left in it."""
    shared_api._script.clear()
    shared_api._otherwise = None
    return shared_api


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def connect(place: Path, request: pytest.FixtureRequest) -> AsyncIterator[Connect]:
    """`await connect(assent=…, api=…)`: an initialized client of a server of its own, offline unless told otherwise.

    Whatever else a test looks at, nothing may have gone wrong in silence: the servers' logs are read at the end. A
    module that breaks something on purpose names it in `BROKEN_ON_PURPOSE`.
    """
    clients: list[Client] = []

    async def make(
        *,
        assent: Json | None = None,
        api: FakeApi | None = None,
        env: dict[str, str] | None = None,
        home: Path | None = None,
        capabilities: Json | None = None,
        initialize: bool = True,
        root: Path | None = None,
        **more: Any,
    ) -> Client:
        environment = api.env if api is not None else {"ASSENT_OFFLINE": "1"}
        client = Client(Server(home or place / "home", env={**environment, **(env or {})}))
        clients.append(client)
        await client.start()
        if initialize:
            await client.initialize(root or make_workspace(place), assent=assent, capabilities=capabilities, **more)
        return client

    yield make
    for client in clients:
        await client.close()
    meant: tuple[str, ...] = getattr(request.module, "BROKEN_ON_PURPOSE", ())  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] -- pytest has no type for it
    assert [line for line in logged_bugs(place) if not line.endswith(meant)] == []


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared(connect: Connect, shared_api: FakeApi) -> Client:
    """One server with everything our own plugins claim, on the fake API."""
    return await connect(assent={"client": dict(PLUGIN), "maxEventRate": 0}, api=shared_api)


@pytest.fixture
def client(shared: Client) -> Client:
    """The shared client, with no answers of an earlier test left in it."""
    shared.answers.clear()
    return shared


def make_workspace(place: Path) -> Path:
    folder = place / "workspace"
    folder.mkdir(exist_ok=True)
    (folder / "greeter.py").write_text(GREETER)
    (folder / "notes.txt").write_text("one\ntwo\n")
    return folder


def logged_bugs(place: Path) -> list[str]:
    logs = place.glob("**/logs/*.log")
    return [line for log in logs for line in log.read_text(errors="replace").splitlines() if _BUG.search(line)]
