"""Shared by the ACP tests: one program per module where tests can share it, on a strict fake API."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from acpclient import Editor, Running, always, running
from fakeapi import FakeApi

GREETER = 'def greet():\n    return "Helo"\n'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("acp")


@pytest.fixture
def workspace(place: Path) -> Path:
    folder = place / "workspace"
    folder.mkdir(exist_ok=True)
    (folder / "greeter.py").write_text(GREETER)
    return folder


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared_api() -> AsyncIterator[FakeApi]:
    async with FakeApi() as fake:
        yield fake


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared(place: Path, shared_api: FakeApi) -> AsyncIterator[Running]:
    async with running(place / "home", env=shared_api.env) as run:
        yield run


@pytest.fixture
def api(shared_api: FakeApi) -> FakeApi:
    """The shared fake API, with nothing of an earlier test's script left in it."""
    shared_api._script.clear()
    shared_api._otherwise = None
    return shared_api


@pytest.fixture
def run(shared: Running) -> Running:
    """The shared program, its editor as it was at first."""
    editor = shared.editor
    fresh = Editor()
    for name in Editor.__slots__:
        if name != "changed":
            setattr(editor, name, getattr(fresh, name))
    editor.answer = always("reject")
    return shared
