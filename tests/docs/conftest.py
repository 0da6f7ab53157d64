"""A home of its own for every test, and a strict model behind real HTTP."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from fakeapi import FakeApi


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    folder = tmp_path / "project"
    for each in (home, folder):
        each.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    (folder / "greeter.py").write_text('def greet():\n    return "Helo"\n')
    return folder


@pytest.fixture
async def model(project: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[FakeApi]:
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        yield api
