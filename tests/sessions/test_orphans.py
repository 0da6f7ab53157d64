"""What a dead process left undecided: asks put once more, each once (Q11), and decisions on edits that came late."""

import shutil
from pathlib import Path
from typing import Any

import anyio.lowlevel
import pytest

from assent.sessions.deps import PermissionFacts
from assent.tools.edit import Edit
from assent.tools.read import Read
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.permissions import Action, Allow, Ask, Decision
from sessions.harness import Harness, Note, NoteInput, TestFront, running, say, use


class Peek(Note):
    """Like Note, but several may run at once, so several can be asked about at once."""

    name = "Peek"

    def concurrency_safe(self, input: NoteInput) -> bool:
        return True


def ask_for_peeks(action: Action, _facts: PermissionFacts) -> Decision:
    if action.tool in ("Peek", "Edit"):
        return Ask(step="consolidation", reason="asked about", title=f"{action.tool}?")
    return Allow(step="rules", reason="allowed")


def peeks(home: Path, *answers: Any, peek: Peek | None = None) -> Any:
    return running(home, *answers, tools=[peek or Peek()], decide=ask_for_peeks)


CALLS = [use("Peek", f"tu{name}", text=name) for name in "abc"]


async def left(home: Path, *, killed: bool) -> tuple[Path, str]:
    """A session with three asks open, ended by a shutdown or, as its files were at that moment, by a kill."""
    front = TestFront()
    async with peeks(home, CALLS) as app:
        session = await app.new(front)
        await app.send(session, "go", front)
        await front.until(lambda: len(front.asked) == 3)
        if killed:
            shutil.copytree(home / "data", home / "killed" / "data")
    return (home / "killed" if killed else home), session


def results(app: Harness) -> dict[str, str]:
    blocks = [block for message in app.model.requests[0].messages for block in getattr(message, "content", ())]
    return {b["tool_use_id"]: str(b["content"]) for b in blocks if b["type"] == "tool_result"}


# Q11
@pytest.mark.parametrize("killed", [False, True])
async def test_each_of_several_open_asks_is_put_once_more_at_the_attach(tmp_path: Path, killed: bool) -> None:
    home, session = await left(tmp_path, killed=killed)
    front, peek = TestFront(), Peek()
    for decision in ("allow", "deny", "allow"):
        front.answer({"decision": decision})
    async with peeks(home, say("went on"), peek=peek) as app:
        answer = await app.request("session/attach", front, sessionId=session)
        assert [ask["input"]["text"] for ask in answer["pendingAsks"]] == ["a", "b", "c"]
        assert all(ask["orphan"] for ask in answer["pendingAsks"])
        await front.seen("permissionResolved", 3)
        await app.request("session/attach", TestFront(), sessionId=session)
        await app.send(session, "go on", front, wait=True)
        assert len(front.asked) == 3
        assert sorted(peek.notes) == ["a", "c"]
        told = results(app)
        assert (told["tua"], told["tuc"]) == ("noted a", "noted c")
        assert told["tub"] == "The user denied this call."


# Q11
async def test_without_an_attach_they_are_all_put_at_the_first_send_and_nobody_answering_is_a_no(
    tmp_path: Path,
) -> None:
    home, session = await left(tmp_path, killed=True)
    front, peek = TestFront(), Peek()
    async with peeks(home, say("went on"), peek=peek) as app:
        await app.send(session, "go on", front)
        await front.until(lambda: len(front.asked) == 3)
        assert front.types.index("turnStarted") < front.types.index("permissionPending")
        await app.request("session/interrupt", sessionId=session)
        await app.send(session, "and on", front, wait=True)
        assert peek.notes == [] and len(front.asked) == 3
        assert set(results(app)) == {"tua", "tub", "tuc"}


# Q11
@pytest.mark.parametrize("attached", [True, False])
async def test_none_of_them_is_put_a_third_time(tmp_path: Path, attached: bool) -> None:
    home, session = await left(tmp_path, killed=True)
    front = TestFront()
    async with peeks(home) as app:
        if attached:
            await app.request("session/attach", front, sessionId=session)
        else:
            await app.send(session, "go on", front)
        await front.until(lambda: len(front.asked) == 3)
        shutil.copytree(home / "data", tmp_path / "again" / "data")
    front, peek = TestFront(), Peek()
    async with peeks(tmp_path / "again", say("then not"), peek=peek) as app:
        answer = await app.request("session/attach", front, sessionId=session)
        assert answer["pendingAsks"] == []
        await app.send(session, "go on", front, wait=True)
        assert front.asked == [] and peek.notes == []
        assert set(results(app)) == {"tua", "tub", "tuc"}


async def test_asks_of_a_turn_that_is_retried_are_withdrawn(tmp_path: Path) -> None:
    home, session = await left(tmp_path, killed=True)
    front = TestFront()
    async with peeks(home, say("all over again")) as app:
        await app.request("session/attach", front, sessionId=session)
        await front.until(lambda: len(front.asked) == 3)
        await app.request("session/retry", front, sessionId=session)
        assert {event["by"] for event in front.of("permissionResolved")} == {"rewind"}
        await front.seen("turnFinished")
        assert "Peek" not in str(app.model.requests[0].messages)


async def test_a_tool_run_by_a_client_that_died_is_not_asked_about_again(tmp_path: Path) -> None:
    front = TestFront()
    async with peeks(tmp_path) as app:
        session = await app.new(front)
        async with anyio.create_task_group() as group:
            group.start_soon(run_peek, app, session)
            await front.until(lambda: front.asked)
            shutil.copytree(tmp_path / "data", tmp_path / "killed" / "data")
            group.cancel_scope.cancel()
    async with peeks(tmp_path / "killed") as app:
        answer = await app.request("session/attach", TestFront(), sessionId=session)
        assert answer["pendingAsks"] == []


async def run_peek(app: Harness, session: str) -> None:
    await app.hub.request("assent/tool/run", {"sessionId": session, "name": "Peek", "input": {"text": "x"}})


# --- edits -----------------------------------------------------------------------------------------------------------

BEFORE = "".join(f"line {number}\n" for number in range(40))


def editing(home: Path, *answers: Any, decide: Any = ask_for_peeks) -> Any:
    return running(home, *answers, tools=[Read(), Edit()], decide=decide, editor=True)


def written(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(BEFORE)
    return path


async def left_edit(home: Path, path: Path, *, killed: bool, decide: Any = ask_for_peeks) -> tuple[Path, str]:
    written(path)
    front = TestFront()
    script = [[use("Read", "tu1", file_path=str(path))], [edit(path)]]
    async with editing(home, *script, decide=decide) as app:
        session = await app.new(front)
        await app.send(session, "edit", front)
        await front.seen("editProposed")
        if decide is ask_for_peeks:
            await front.until(lambda: front.asked)
        if killed:
            shutil.copytree(home / "data", home / "killed" / "data")
    return (home / "killed" if killed else home), session


def edit(path: Path) -> Json:
    return use("Edit", "tu2", file_path=str(path), old_string="line 3\n", new_string="line three\n")


# Q11
@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("how", ["ask", "review"])
async def test_an_edit_left_undecided_lands_when_it_is_decided_and_the_model_is_told(
    tmp_path: Path, killed: bool, how: str
) -> None:
    path = tmp_path / "project" / "a.txt"
    home, session = await left_edit(tmp_path, path, killed=killed)
    assert path.read_text() == BEFORE
    front = TestFront()
    async with editing(home, say("thanks")) as app:
        answer = await app.request("session/attach", front, sessionId=session)
        (ask,), (proposal,) = answer["pendingAsks"], answer["proposals"]
        assert ask["proposal"]["proposalId"] == proposal["proposalId"]
        if how == "ask":
            front.answer({"decision": "allow", "message": "as you wish"})
        else:
            assert app.deps.proposals is not None
            await app.deps.proposals.resolve(proposal["proposalId"], {"all": "accept"})
        resolved = await front.seen("permissionResolved")
        assert resolved["by"] == ("client" if how == "ask" else "review")
        await front.seen("editResolved")
        assert "line three" in path.read_text()
        await app.send(session, "go on", front, wait=True)
        told = results(app)["tu2"]
        assert f"Changed {path}." in told and ("as you wish" in told) is (how == "ask")
        assert "decided by the user meanwhile" not in str(app.model.requests[0].messages)  # once is enough
        assert len(front.asked) == 1


async def test_an_edit_left_undecided_can_be_denied_with_words(tmp_path: Path) -> None:
    path = tmp_path / "project" / "a.txt"
    home, session = await left_edit(tmp_path, path, killed=True)
    front = TestFront()
    front.answer({"decision": "deny", "message": "leave it"})
    async with editing(home, say("fine")) as app:
        await app.request("session/attach", front, sessionId=session)
        await front.seen("permissionResolved")
        result = (await app.send(session, "go on", front, wait=True))["result"]
        assert path.read_text() == BEFORE
        assert "was not changed" in results(app)["tu2"] and "leave it" in results(app)["tu2"]
        assert [denial["toolName"] for denial in result["permissionDenials"]] == ["Edit"]


async def test_an_edit_left_undecided_whose_input_the_user_changes_is_handed_back_to_the_model(tmp_path: Path) -> None:
    path = tmp_path / "project" / "a.txt"
    home, session = await left_edit(tmp_path, path, killed=True)
    front = TestFront()
    front.answer({"decision": "allow", "updatedInput": {"file_path": "b.txt"}})
    async with editing(home, say("fine")) as app:
        await app.request("session/attach", front, sessionId=session)
        await front.seen("permissionResolved")
        await app.send(session, "go on", front, wait=True)
        assert path.read_text() == BEFORE
        assert '{"file_path":"b.txt"}' in results(app)["tu2"]


def allow(_action: Action, _facts: PermissionFacts) -> Decision:
    return Allow(step="rules", reason="a rule")


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("again", [False, True])
async def test_a_decision_on_a_restored_proposal_reaches_the_model(tmp_path: Path, killed: bool, again: bool) -> None:
    path = tmp_path / "project" / "a.txt"
    home, session = await left_edit(tmp_path, path, killed=killed, decide=allow)
    request = ""
    async with editing(home, say("I see"), decide=allow) as app:
        answer = await app.request("session/attach", TestFront(), sessionId=session)
        assert answer["pendingAsks"] == []  # a rule allowed it; only its review was open
        (proposal,) = answer["proposals"]
        assert app.deps.proposals is not None
        await app.deps.proposals.resolve(proposal["proposalId"], {"all": "accept"}, message="good one")
        assert "line three" in path.read_text()
        if not again:
            await app.send(session, "go on", wait=True)
            request = str(app.model.requests[0].messages)
    if again:  # the process ends once more before anyone says a word
        async with editing(home, say("I see"), decide=allow) as app:
            await app.send(session, "go on", wait=True)
            request = str(app.model.requests[0].messages)
    assert "decided by the user meanwhile" in request and "good one" in request
    async with editing(home, say("on"), decide=allow) as app:
        await app.send(session, "and on", wait=True)
        assert str(app.model.requests[0].messages).count("decided by the user meanwhile") == 1


async def test_a_hunk_rejected_after_it_landed_is_told_with_the_next_turn(tmp_path: Path) -> None:
    path = written(tmp_path / "project" / "a.txt")
    front = TestFront()
    script = [[use("Read", "tu1", file_path=str(path))], [edit(path)], say("done"), say("I see")]
    async with editing(tmp_path, *script, decide=allow) as app:
        session = await app.new(front)
        await app.request("session/configure", sessionId=session, review="after")
        await app.send(session, "edit", front, wait=True)
        (proposal,) = (await app.request("session/attach", front, sessionId=session))["proposals"]
        assert app.deps.proposals is not None
        await app.deps.proposals.resolve(proposal["proposalId"], {"all": "reject"}, message="not this")
        assert path.read_text() == BEFORE
        await app.send(session, "go on", front, wait=True)
        told = str(app.model.requests[-1].messages)
        assert "decided by the user meanwhile" in told and "not this" in told


async def test_the_chosen_review_is_kept_over_a_restart(tmp_path: Path) -> None:
    async with editing(tmp_path) as app:
        session = await app.new()
        await app.request("session/configure", sessionId=session, review="after")
    async with editing(tmp_path) as app:
        assert (await app.request("session/configure", sessionId=session))["review"] == "after"


async def test_an_answer_nobody_knows_to_an_ask_that_was_left_is_a_no(tmp_path: Path) -> None:
    home, session = await left(tmp_path, killed=True)
    front, peek = TestFront(), Peek()
    for answer in ({"decision": "allow", "scope": "forever"}, {"decision": "sure"}, {}):
        front.answer(answer)
    async with peeks(home, say("fine"), peek=peek) as app:
        await app.request("session/attach", front, sessionId=session)
        await front.seen("permissionResolved", 3)
        await anyio.lowlevel.checkpoint()
        await app.send(session, "go on", front, wait=True)
        assert peek.notes == []
        with pytest.raises(ProtocolError):
            app.hub.live[session].asks.require("gone")
