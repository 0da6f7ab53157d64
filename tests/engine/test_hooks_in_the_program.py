"""The whole program, no editor: hooks that whoever embeds it has added reach the engine and the permission gate (H)."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.app import Options, headless
from assent.cli.ask import Printer
from assent.extensions.hooks import Hook
from assent.sessions.front import Call
from assent.types.hooks import HookCall, HookOutcome


async def test_hooks_added_to_the_program_hear_of_a_whole_turn_and_may_answer_its_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # L13
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    heard: list[str] = []

    async def listen(call: HookCall) -> HookOutcome:
        heard.append(call.event)
        return HookOutcome(decision="allow") if call.event == "PermissionRequest" else HookOutcome()

    async with headless(Options(offline=True)) as app:
        for event in ("UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"):
            app.hooks.add(Hook(event=event, run=listen))
        opened = await app.sessions.request(
            "assent/session/new", {"cwd": str(tmp_path / "project")}, Call(front=Printer(stream=False))
        )
        wanted = {"sessionId": opened["sessionId"], "prompt": "run `touch made`", "wait": True}
        answer = await app.sessions.request("assent/session/send", wanted, Call(front=Printer(stream=False)))
    assert answer["result"]["terminal"] == "completed"
    assert heard == ["UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"]
    assert (tmp_path / "project" / "made").exists()
