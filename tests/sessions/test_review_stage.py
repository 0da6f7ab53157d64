"""Review is a stage of its own: permission first, then the hunks, the same for turns and for tools without a model."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from assent.tools.read import Read
from assent.tools.write import Write
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.permissions import Action, Allow
from assent.types.ports import EditOutcome, EditPlan, ToolCall
from sessions.harness import Harness, TestFront, running, say, use
from sessions.test_review import BEFORE, allow, ask_for_writes, opened

AFTER = BEFORE.replace("line 3\n", "line three\n").replace("line 30\n", "line thirty\n")


async def planned(app: Harness, session_id: str) -> ToolCall:
    path = str(app.cwd / "a.txt")
    before = await app.hub.live[session_id].files.workspace.read(path)
    plan = EditPlan(path=path, before=before, new_text=AFTER, tool="Write", tool_use_id="tu9", target=path)
    action = Action(tool="Write", input={"file_path": path, "content": AFTER}, writes=(path,))
    return ToolCall(tool_use_id="tu9", action=action, title="Write", plan=plan)


async def test_the_gate_permits_at_once_and_the_review_waits(tmp_path: Path) -> None:  # P11
    front = TestFront()
    async with opened(tmp_path, allow) as app:
        session = await app.new(front)
        await app.request("session/configure", sessionId=session, review="before")
        live, call = app.hub.live[session], await planned(app, session)
        with anyio.fail_after(120):
            assert isinstance(await live.gate.can_use_tool(call), Allow)
        assert front.of("editProposed") == [], "permission proposes nothing"
        outcomes: list[EditOutcome | None] = []

        async def review() -> None:
            outcomes.append(await live.edit_review.run(call))

        async with anyio.create_task_group() as group:
            group.start_soon(review)
            proposal = (await front.seen("editProposed"))["proposal"]
            await front.seen("reviewPending")
            assert live.waiting.status == "waiting" and app.deps.proposals is not None
            await app.deps.proposals.resolve(proposal["proposalId"], {"all": "accept"})
        (outcome,) = outcomes
        assert outcome is not None and outcome.after is not None and outcome.after.text == AFTER
        assert [hunk.state for hunk in outcome.hunks] == ["accepted", "accepted"] and not outcome.refused


@pytest.mark.parametrize("review", [None, "after", "off"])
async def test_an_allowed_edit_is_no_matter_for_review_unless_someone_set_before(
    tmp_path: Path, review: str | None
) -> None:
    async with opened(tmp_path, allow) as app:
        session = await app.new()
        if review is not None:
            await app.request("session/configure", sessionId=session, review=review)
        live, call = app.hub.live[session], await planned(app, session)
        assert isinstance(await live.gate.can_use_tool(call), Allow)
        assert await live.edit_review.run(call) is None
        assert app.deps.proposals is not None and app.deps.proposals.list() == []


@pytest.mark.parametrize("decision", ["accept", "reject"])
async def test_a_tool_without_a_model_is_reviewed_like_a_turn(tmp_path: Path, decision: str) -> None:  # T10
    front = TestFront()
    async with opened(tmp_path, allow) as app:
        session = await app.new(front)
        await app.request("session/configure", sessionId=session, review="before")
        path = app.cwd / "a.txt"
        await app.request("tool/run", front, sessionId=session, name="Read", input={"file_path": str(path)})
        answers: list[Any] = []

        async def run() -> None:
            given: Json = {"file_path": str(path), "content": AFTER}
            try:
                answers.append(await app.request("tool/run", front, sessionId=session, name="Write", input=given))
            except ProtocolError as error:
                answers.append(error)

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            pending = await front.seen("reviewPending")
            assert app.deps.proposals is not None and app.hub.live[session].waiting.status == "waiting"
            await app.deps.proposals.resolve(pending["proposalId"], {"all": decision})
        (answer,) = answers
        if decision == "accept":
            assert path.read_text() == AFTER and answer["isError"] is False
        else:
            assert path.read_text() == BEFORE
            assert isinstance(answer, ProtocolError) and answer.kind == "permissionDenied"


async def test_an_empty_new_file_that_was_allowed_is_made(tmp_path: Path) -> None:
    """It has no hunk to accept: the answer alone decides."""
    front = TestFront()
    front.answer({"decision": "allow"})
    path = tmp_path / "project" / "empty.txt"
    path.parent.mkdir(parents=True)
    turn = [[use("Write", "tu1", file_path=str(path), content="")], say("done")]
    async with running(tmp_path, *turn, tools=[Read(), Write()], decide=ask_for_writes, editor=True) as app:
        await app.send(await app.new(front), "make it", front, wait=True)
        assert len(front.asked) == 1 and path.read_text() == ""
