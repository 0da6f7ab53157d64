"""Bounds of the program that say nothing on a busy machine: each has a reason for people, and none is what is tested here."""

import pytest

from assent.sessions.files import effects
from assent.sessions.live import own_commands


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects, "BEFORE_SECONDS", 60.0)
    monkeypatch.setattr(effects, "AFTER_SECONDS", 60.0)
    monkeypatch.setattr(own_commands, "MILLISECONDS", 120_000)
