"""A warning before the conversation is summarised, with what would go: from the program to each front (C5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.acp.updates import Translator
from assent.app import Options, headless
from assent.cli.ask import Printer
from assent.lsp.chat.chat_text import Rendering
from assent.sessions.stream.front import Call
from assent.types.blocks import Json
from fakeapi import FakeApi, text

MODEL = "claude-opus-4-8"
SMALL = {"contextWindow": 60_000, "maxOutputTokens": 8_000}
WOULD_GO = "messages become a summary; your last prompt stays word for word"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    return tmp_path / "project"


def warnings(events: list[Json]) -> list[Json]:
    return [each for each in events if each["event"]["type"] == "compactSoon"]


async def test_people_are_warned_once_before_a_summary_and_told_what_would_go(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[Json] = []
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        settings = {"model": MODEL, "models": {MODEL: SMALL}, "backgroundCalls": {"collapse": False}}
        async with headless(Options(source_seconds=60, interactive=False, settings=settings)) as app:
            call = Call(front=Printer(stream=False))
            session = (await app.sessions.request("assent/session/new", {"cwd": str(project)}, call))["sessionId"]
            for _ in range(30):
                words = 10 if warnings(events) else 1_200
                api.reply(text("ok"))
                sent = {"sessionId": session, "prompt": "word " * words, "wait": True}
                await app.sessions.request("assent/session/send", sent, Call(front=Printer(stream=False)))
                events = [event.json() for event in app.sessions.live[session].events.replay(0) or []]
                if words == 10:
                    break  # one prompt more, and no second warning
    found = warnings(events)
    assert len(found) == 1 and "compacted" not in [each["event"]["type"] for each in events]
    event = found[0]["event"]
    assert event["tokens"] < event["threshold"] <= SMALL["contextWindow"] and event["wouldGo"].endswith(WOULD_GO)

    said = f"{event['tokens']:,} tokens. At {event['threshold']:,}, {event['wouldGo']}."
    (update,) = Translator(str(project)).updates(found[0])
    assert said in update.model_dump_json()
    assert said in Rendering().of(event)
