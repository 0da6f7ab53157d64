"""The whole program, no editor: what `app` plugs together reaches the engine (H, C3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.app import App, Options, headless
from assent.cli.ask import Printer
from assent.extensions.hooks import Hook
from assent.sessions.stream.front import Call
from assent.types.blocks import Json
from assent.types.hooks import HookCall, HookOutcome
from fakeapi import FakeApi, text


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    return tmp_path / "project"


async def say(app: App, project: Path, prompt: str) -> Json:
    call = Call(front=Printer(stream=False))
    opened = await app.sessions.request("assent/session/new", {"cwd": str(project)}, call)
    wanted = {"sessionId": opened["sessionId"], "prompt": prompt, "wait": True}
    return (await app.sessions.request("assent/session/send", wanted, Call(front=Printer(stream=False))))["result"]


async def test_hooks_added_to_the_program_hear_of_a_whole_turn_and_may_answer_its_ask(project: Path) -> None:  # L13
    heard: list[str] = []

    async def listen(call: HookCall) -> HookOutcome:
        heard.append(call.event)
        return HookOutcome(decision="allow") if call.event == "PermissionRequest" else HookOutcome()

    async with headless(Options(offline=True)) as app:
        for event in ("UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"):
            app.hooks.add(Hook(event=event, run=listen))
        assert (await say(app, project, "run `touch made`"))["terminal"] == "completed"
    assert heard == ["UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"]
    assert (project / "made").exists()


@pytest.mark.parametrize("wanted", [True, False])
async def test_the_endpoint_clears_old_results_only_where_the_user_says_that_it_can(
    project: Path, monkeypatch: pytest.MonkeyPatch, wanted: bool
) -> None:  # C3
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        api.reply(text("ok"))
        async with headless(Options(interactive=False, settings={"contextEdits": wanted})) as app:
            await say(app, project, "hello")
        edits = api.calls[0].body.get("context_management", {}).get("edits", [])
        assert [(edit["type"], edit["keep"]["value"]) for edit in edits] == (
            [("clear_tool_uses_20250919", 5)] if wanted else []
        )


@pytest.mark.parametrize(("cache", "seconds"), [(None, 300.0), ("5m", 300.0), ("1h", 3600.0), ("off", 0.0)])
async def test_the_engine_knows_how_long_the_endpoint_keeps_a_prompt(
    project: Path, cache: str | None, seconds: float
) -> None:  # C3
    settings = {} if cache is None else {"promptCache": cache}
    async with headless(Options(offline=True, settings=settings)) as app:
        await say(app, project, "hello")
        (session,) = app.sessions.live.values()
        assert session.configuration().cache_seconds == seconds


@pytest.mark.parametrize(("wanted", "calls"), [(None, {"collapse"}), (True, {"collapse"}), (False, set[str]())])
async def test_old_stretches_are_summarised_in_the_background_unless_the_user_says_no(
    project: Path, wanted: bool | None, calls: set[str]
) -> None:  # C4, M10
    settings = {} if wanted is None else {"backgroundCalls": {"collapse": wanted}}
    async with headless(Options(offline=True, settings=settings)) as app:
        await say(app, project, "hello")
        (session,) = app.sessions.live.values()
        assert session.configuration().background_calls == calls
