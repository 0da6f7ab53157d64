"""Edits under review: one edit, one decision, and what the model is told of it."""

from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from assent.sessions.deps import PermissionFacts
from assent.sessions.live.closing import stop
from assent.tools.edit import Edit
from assent.tools.read import Read
from assent.tools.write import Write
from assent.types.blocks import Json
from assent.types.permissions import Action, Allow, Ask, Decision
from assent.types.ports import EditPlan, ToolCall
from sessions.harness import Harness, TestFront, running, say, use

BEFORE = "".join(f"line {number}\n" for number in range(40))


def ask_for_writes(action: Action, _facts: PermissionFacts) -> Decision:
    if action.writes:
        return Ask(step="mode", reason="edits are asked about", title=f"Edit {action.writes[0]}")
    return Allow(step="readOnly", reason="reads")


def allow(_action: Action, _facts: PermissionFacts) -> Decision:
    return Allow(step="rules", reason="a rule")


def edit_twice(path: Path) -> list[list[Json]]:
    """Reads the file, then rewrites it with two changes far apart."""
    after = BEFORE.replace("line 3\n", "line three\n").replace("line 30\n", "line thirty\n")
    return [
        [use("Read", "tu1", file_path=str(path))],
        [use("Write", "tu2", file_path=str(path), content=after)],
        say("done"),
    ]


def opened(tmp_path: Path, decide: Any, **changes: Any) -> Any:
    path = tmp_path / "project" / "a.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(BEFORE)
    tools = [Read(), Write(), Edit()]
    return running(tmp_path, *edit_twice(path), tools=tools, decide=decide, editor=True, **changes)


def told(app: Harness) -> str:
    return str(app.model.requests[-1].messages)


async def test_an_ask_for_an_edit_carries_its_proposal_and_allow_lands_it(tmp_path: Path) -> None:
    front = TestFront()
    front.answer({"decision": "allow"})
    async with opened(tmp_path, ask_for_writes) as app:
        session = await app.new(front)
        await app.send(session, "edit", front, wait=True)
        (ask,) = front.asked
        assert len(ask["proposal"]["hunks"]) == 2
        kinds = [
            "editProposed",
            "permissionPending",
            "permissionResolved",
            "editResolved",
            "toolStarted",
            "toolFinished",
        ]
        ordered = [kind for kind in front.types if kind in kinds and kind]
        assert ordered.index("editProposed") < ordered.index("permissionPending")
        assert ordered.index("permissionResolved") < max(i for i, kind in enumerate(ordered) if kind == "toolStarted")
        text = (app.cwd / "a.txt").read_text()
        assert "line three\n" in text and "line thirty\n" in text


async def test_hunks_not_named_in_the_reply_are_rejected_and_the_model_is_told(tmp_path: Path) -> None:
    front = TestFront()
    async with opened(tmp_path, ask_for_writes) as app:
        session = await app.new(front)
        await app.send(session, "edit", front)
        await front.until(lambda: front.asked)
        first = front.asked[0]["proposal"]["hunks"][0]["hunkId"]
        front.answer({"decision": "allow", "hunks": [{"hunkId": first, "decision": "accept"}], "message": "only this"})
        await front.seen("turnFinished")
        text = (app.cwd / "a.txt").read_text()
        assert "line three\n" in text and "line 30\n" in text
        assert "1 of 2 hunks" in told(app) and "only this" in told(app)
        # What is counted is what was accepted, and a window that opens the conversation later counts the same.
        counted = [{"path": str(app.cwd / "a.txt"), "added": 1, "removed": 1}]
        assert front.of("toolFinished")[-1]["changed"] == counted
        shown = (await app.request("session/attach", TestFront(), sessionId=session))["shown"]
        assert [each["event"]["changed"] for each in shown if "changed" in each["event"]] == [counted]


async def test_a_denied_edit_leaves_the_file_and_withdraws_the_proposal(tmp_path: Path) -> None:
    front = TestFront()
    front.answer({"decision": "deny", "message": "leave it"})
    async with opened(tmp_path, ask_for_writes) as app:
        session = await app.new(front)
        await app.send(session, "edit", front, wait=True)
        assert (app.cwd / "a.txt").read_text() == BEFORE
        assert "leave it" in told(app)
        assert (await app.request("session/attach", TestFront(), sessionId=session))["proposals"] == []


async def test_the_review_that_covers_the_last_hunk_answers_the_ask(tmp_path: Path) -> None:
    front = TestFront()
    async with opened(tmp_path, ask_for_writes) as app:
        session = await app.new(front)
        await app.send(session, "edit", front)
        await front.until(lambda: front.asked)
        proposal = front.asked[0]["proposal"]
        first, second = (hunk["hunkId"] for hunk in proposal["hunks"])
        assert app.deps.proposals is not None
        resolve = app.deps.proposals.resolve
        await resolve(proposal["proposalId"], [{"hunkId": first, "decision": "accept"}])
        assert front.withdrawn == []
        await resolve(proposal["proposalId"], [{"hunkId": second, "decision": "edit", "newText": "line 30!\n"}])
        await front.seen("turnFinished")
        assert front.withdrawn == [front.asked[0]["requestId"]]
        assert front.of("permissionResolved")[0]["by"] == "review"
        text = (app.cwd / "a.txt").read_text()
        assert "line three\n" in text and "line 30!\n" in text
        assert "line 30!" in told(app)


async def test_a_refusal_after_part_was_accepted_tells_the_model_of_both(tmp_path: Path) -> None:
    front = TestFront()
    async with opened(tmp_path, ask_for_writes) as app:
        session = await app.new(front)
        await app.send(session, "edit", front)
        await front.until(lambda: front.asked)
        proposal = front.asked[0]["proposal"]
        assert app.deps.proposals is not None
        first = {"hunkId": proposal["hunks"][0]["hunkId"], "decision": "accept"}
        await app.deps.proposals.resolve(proposal["proposalId"], [first])
        front.answer({"decision": "deny", "message": "no more"})
        await front.seen("turnFinished")
        text = (app.cwd / "a.txt").read_text()
        assert "line three\n" in text and "line 30\n" in text
        assert "1 of 2 hunks" in told(app) and "no more" in told(app)


async def test_an_edit_allowed_by_a_rule_lands_at_once_and_stays_marked(tmp_path: Path) -> None:
    front = TestFront()
    async with opened(tmp_path, allow) as app:
        session = await app.new(front)
        await app.send(session, "edit", front, wait=True)
        assert front.asked == [] and "line three\n" in (app.cwd / "a.txt").read_text()
        (proposal,) = (await app.request("session/attach", TestFront(), sessionId=session))["proposals"]
        assert {hunk["state"] for hunk in proposal["hunks"]} == {"landed"}
        assert [event["state"] for event in front.of("status")] == ["running", "idle"]
        assert front.of("reviewPending") == []


@pytest.mark.parametrize("where", ["session", "settings"])
async def test_an_allowed_edit_waits_where_review_before_was_set_and_says_so(tmp_path: Path, where: str) -> None:
    front = TestFront()
    async with opened(tmp_path, allow) as app:
        if where == "settings":
            app.deps.settings.cli = {"review": "before"}
        session = await app.new(front, mode="acceptEdits")
        if where == "session":
            await app.request("session/configure", sessionId=session, review="before")
        await app.send(session, "edit", front)
        pending = await front.seen("reviewPending")
        proposal = front.of("editProposed")[0]["proposal"]
        assert front.asked == [] and (app.cwd / "a.txt").read_text() == BEFORE
        assert pending == {
            "type": "reviewPending",
            "proposalId": proposal["proposalId"],
            "toolUseId": "tu2",
            "hunks": [hunk["hunkId"] for hunk in proposal["hunks"]],
        }
        snapshot = await app.request("session/attach", TestFront(), sessionId=session)
        assert snapshot["state"] == "waiting"
        assert [each["proposalId"] for each in snapshot["pendingReviews"]] == [proposal["proposalId"]]
        assert [p["proposalId"] for p in snapshot["proposals"]] == [proposal["proposalId"]]
        assert app.deps.proposals is not None
        await app.deps.proposals.resolve(proposal["proposalId"], {"all": "reject"}, message="no thanks")
        result = (await front.seen("turnFinished"))["result"]
        assert (app.cwd / "a.txt").read_text() == BEFORE
        assert result["permissionDenials"][0]["toolName"] == "Write"
        assert "no thanks" in told(app) or "rejected" in told(app)
        states = [event["state"] for event in front.of("status")]
        assert states[-4:] == ["running", "waiting", "running", "idle"], "a person is waited for, not work"
        after = await app.request("session/attach", TestFront(), sessionId=session)
        assert (after["state"], after["pendingReviews"]) == ("idle", [])


@pytest.mark.parametrize("changes", [{"mode": "acceptEdits"}, {"mode": "bypassPermissions"}])
async def test_where_edits_need_no_asking_they_land_at_once_and_stay_marked(tmp_path: Path, changes: Json) -> None:
    front = TestFront()
    async with opened(tmp_path, allow) as app:
        session = await app.new(front, **changes)
        await app.send(session, "edit", front, wait=True)
        assert "line three\n" in (app.cwd / "a.txt").read_text()
        (proposal,) = (await app.request("session/attach", TestFront(), sessionId=session))["proposals"]
        assert {hunk["state"] for hunk in proposal["hunks"]} == {"landed"}


async def test_review_off_neither_waits_nor_marks(tmp_path: Path) -> None:
    front = TestFront()
    async with opened(tmp_path, allow) as app:
        session = await app.new(front)
        await app.request("session/configure", sessionId=session, review="off")
        await app.send(session, "edit", front, wait=True)
        assert "line three\n" in (app.cwd / "a.txt").read_text()
        assert (await app.request("session/attach", TestFront(), sessionId=session))["proposals"] == []


async def test_an_interrupt_while_hunks_wait_withdraws_them(tmp_path: Path) -> None:
    front = TestFront()
    async with opened(tmp_path, allow) as app:
        session = await app.new(front)
        await app.request("session/configure", sessionId=session, review="before")
        await app.send(session, "edit", front)
        await front.seen("reviewPending")
        await app.request("session/interrupt", sessionId=session)
        assert (app.cwd / "a.txt").read_text() == BEFORE
        assert (await app.request("session/attach", TestFront(), sessionId=session))["proposals"] == []


async def test_proposals_are_there_after_a_restart(tmp_path: Path) -> None:
    async with opened(tmp_path, allow) as app:
        session = await app.new(mode="acceptEdits")
        await app.send(session, "edit", wait=True)
        await anyio.lowlevel.checkpoint()
    async with running(tmp_path, decide=allow, editor=True) as app:
        (proposal,) = (await app.request("session/attach", TestFront(), sessionId=session))["proposals"]
        assert len(proposal["hunks"]) == 2
        await app.request("session/delete", sessionId=session)
        assert app.deps.proposals is not None and app.deps.proposals.list(session) == []


async def test_a_review_that_ends_with_its_session_is_no_failure(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    front = TestFront()
    async with opened(tmp_path, ask_for_writes) as app:
        session = await app.new(front)
        await app.send(session, "edit", front)
        proposal = (await front.seen("editProposed"))["proposal"]["proposalId"]
        stop(app.hub.live[session])
        # As at the end of a process, when what still waits is collected: there is no loop any more.
        await anyio.to_thread.run_sync(app.deps.proposals.withdraw, proposal)
    assert "a listener failed" not in caplog.text


async def test_an_edit_accepted_after_its_file_was_renamed_is_told_under_the_new_name(tmp_path: Path) -> None:
    front = TestFront()
    path = tmp_path / "project" / "a.txt"
    async with opened(tmp_path, ask_for_writes) as app:
        session = await app.new(front)
        await app.send(session, "edit", front)
        await front.until(lambda: front.asked)
        new = await anyio.to_thread.run_sync(path.rename, path.with_name("b.txt"))
        assert app.editor is not None
        app.editor.documents.rename(path.as_uri(), new.as_uri())
        front.answer({"decision": "allow"})
        await front.seen("turnFinished")
        assert "line thirty" in new.read_text() and not path.exists()
        assert f"Changed {new}." in told(app) and f"renamed {path} to {new}" in told(app)
        assert "was not changed" not in told(app)
        marks = app.hub.live[session].state.read_files
        assert str(new) in marks and str(path) not in marks
        rewound = await app.request(
            "session/rewind", sessionId=session, messageId=front.of("turnStarted")[0]["messageId"], restore="code"
        )
        assert [file["path"] for file in rewound["files"]] == [str(new)], rewound
        assert new.read_text() == BEFORE


async def test_a_hunk_accepted_while_others_wait_is_told_to_the_call_it_belongs_to(tmp_path: Path) -> None:  # L10
    """The executor must know that the call has begun to act, or a cut stream would make it again."""
    acted: list[str] = []
    front = TestFront()
    async with opened(tmp_path, ask_for_writes) as app:
        session = app.hub.live[await app.new(front)]
        path = str(app.cwd / "a.txt")
        before = await session.files.workspace.read(path)
        after = BEFORE.replace("line 3\n", "line three\n").replace("line 30\n", "line thirty\n")
        plan = EditPlan(path=path, before=before, new_text=after, tool="Write", tool_use_id="tu9", target=path)
        action = Action(tool="Write", input={"file_path": path}, writes=(path,))
        call = ToolCall(tool_use_id="tu9", action=action, title="", plan=plan, acted=lambda: acted.append("tu9"))
        async with anyio.create_task_group() as group:
            group.start_soon(session.gate.can_use_tool, call)
            await front.until(lambda: front.asked)
            proposal = front.asked[0]["proposal"]
            assert app.deps.proposals is not None and acted == []
            first = proposal["hunks"][0]["hunkId"]
            await app.deps.proposals.resolve(proposal["proposalId"], [{"hunkId": first, "decision": "accept"}])
            assert acted
            await app.deps.proposals.resolve(proposal["proposalId"], {"all": "reject"})
