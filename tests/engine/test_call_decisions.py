"""Decisions about calls: denials are noted, and the status is `waiting` as long as somebody is waited for (Q2, P10)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest

from assent.engine.call_decisions import CallDecisions
from assent.types.permissions import Action, Allow, Deny, Verdict
from assent.types.ports import EditOutcome, ToolCall

ALLOW = Allow(step="rules", reason="ok")


def call(tool: str = "Change") -> ToolCall:
    return ToolCall(tool_use_id="toolu_1", action=Action(tool=tool, input={"text": "x"}), title=tool)


class Scene:
    def __init__(self, *, verdict: Verdict = ALLOW, outcome: EditOutcome | None = None, waits: bool = False) -> None:
        self.status: list[str] = []
        self.denied: list[Any] = []
        self.asked: list[str] = []
        self.go = anyio.Event()
        self.verdict, self.outcome, self.waits = verdict, outcome, waits
        services = SimpleNamespace(can_use_tool=self._judge, review_edit=self._review, set_status=self.status.append)
        conversation = SimpleNamespace(note_denial=self._denied)
        self.decisions = CallDecisions(cast("Any", services), cast("Any", conversation))

    def _denied(self, *told: Any) -> None:
        self.denied.append(told)

    async def _judge(self, asked: ToolCall) -> Verdict:
        self.asked.append(asked.action.tool)
        if self.waits:
            await self.go.wait()
        return self.verdict

    async def _review(self, asked: ToolCall) -> EditOutcome | None:
        self.asked.append(asked.action.tool)
        if self.waits:
            await self.go.wait()
        return self.outcome


async def test_a_denial_is_noted_with_its_call_and_a_permission_is_not() -> None:
    scene = Scene(verdict=Deny(step="rules", reason="never"))
    assert await scene.decisions.permit(call()) == Deny(step="rules", reason="never")
    assert scene.denied == [("Change", "toolu_1", {"text": "x"})]
    scene = Scene()
    assert await scene.decisions.permit(call()) == ALLOW and scene.denied == []


async def test_tools_of_the_conversation_itself_are_not_asked_about() -> None:
    scene = Scene(verdict=Deny(step="rules", reason="never"))
    verdict = await scene.decisions.permit(call("StructuredOutput"))
    assert isinstance(verdict, Allow) and "inside the conversation" in verdict.reason
    assert scene.asked == [] and scene.denied == []


@pytest.mark.parametrize("refused", ["", "not this one"])
async def test_an_edit_that_was_rejected_as_a_whole_is_a_denial(refused: str) -> None:
    outcome = EditOutcome(path="a.py", after=None, refused=refused)
    scene = Scene(outcome=outcome)
    assert await scene.decisions.review(call()) is outcome
    assert len(scene.denied) == (1 if refused else 0)
    assert await Scene().decisions.review(call()) is None


async def test_the_status_waits_from_the_first_open_decision_to_the_last() -> None:
    scene = Scene(waits=True)

    async def decide() -> None:
        await scene.decisions.permit(call())

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(decide)
            group.start_soon(scene.decisions.review, call())
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            assert scene.status == ["waiting", "waiting"]
            scene.go.set()
    assert scene.status == ["waiting", "waiting", "running"]  # once both are decided


async def test_a_decision_that_comes_at_once_is_not_waited_for_and_does_not_count_later() -> None:
    scene = Scene()
    await scene.decisions.permit(call())
    await anyio.lowlevel.checkpoint()
    assert scene.status == []
    scene.waits = True

    async def decide() -> None:
        await scene.decisions.permit(call())

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(decide)
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            scene.go.set()
    assert scene.status == ["waiting", "running"]
