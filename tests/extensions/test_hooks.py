"""In-process hooks: who is called, together, and what their failures come to (H)."""

from __future__ import annotations

import anyio
import pytest

from assent.extensions.hooks import AllHooks, Hook, InProcessHooks
from assent.types.hooks import HookCall, HookOutcome


def call(subject: str = "Bash") -> HookCall:
    return HookCall(event="PreToolUse", session_id="s", cwd="/", subject=subject)


async def ok(_call: HookCall) -> HookOutcome:
    return HookOutcome(text="ok")


@pytest.mark.parametrize(
    ("matcher", "subject", "runs"),
    [
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash", "Bash", True),
        ("Bash", "BashOutput", False),
        ("Edit|Write", "Write", True),
        ("mcp__.*", "mcp__a__b", True),
        ("[", "[", True),
        ("[", "Bash", False),
    ],
)
async def test_matchers_match_the_whole_subject(matcher: str, subject: str, runs: bool) -> None:
    hooks = InProcessHooks((Hook(event="PreToolUse", run=ok, matcher=matcher),))
    assert bool(await hooks.run(call(subject))) is runs


async def test_hooks_run_together_and_answer_in_their_order() -> None:
    both = anyio.Event()

    async def first(_call: HookCall) -> HookOutcome:
        await both.wait()
        return HookOutcome(text="first")

    async def second(_call: HookCall) -> HookOutcome:
        both.set()
        return HookOutcome(text="second")

    hooks = InProcessHooks((Hook(event="PreToolUse", run=first), Hook(event="PreToolUse", run=second)))
    with anyio.fail_after(60):
        outcomes = await hooks.run(call())
    assert [outcome.text for outcome in outcomes] == ["first", "second"]


async def test_the_same_hook_registered_twice_runs_once_and_can_be_taken_away() -> None:
    hooks = InProcessHooks((Hook(event="PreToolUse", run=ok), Hook(event="PreToolUse", run=ok, matcher="Bash")))
    assert len(await hooks.run(call())) == 1
    added = InProcessHooks()
    remove = added.add(Hook(event="Stop", run=ok))
    assert added.wants("Stop")
    remove()
    assert not added.wants("Stop")


async def test_providers_are_asked_together() -> None:
    hooks = AllHooks(InProcessHooks((Hook(event="PreToolUse", run=ok),)), InProcessHooks())
    assert hooks.wants("PreToolUse") and not hooks.wants("Stop")
    assert [outcome.name for outcome in await hooks.run(call())] == ["ok"]
