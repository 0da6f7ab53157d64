"""Proposals on an open document: shown, rebased, decided hunk by hunk, landed through the editor, told to the model."""

from typing import Any, cast

import anyio
import pytest

from assent.editor.proposal import EditOrigin
from assent.types.errors import ProtocolError
from editor.scene import URI, Scene, background, settle
from fakeeditor import NEOVIM, PLAIN, VSCODE, Habits

TEXT = "a\nb\nc\nd\ne\n"
THREE = "A\nb\nC\nd\nE\n"


def span(start: int, end: int) -> dict[str, Any]:
    return {"start": {"line": start, "character": 0}, "end": {"line": end, "character": 0}}


async def test_a_proposal_on_the_wire() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose("a\nB\nc\nd\ne\n")
    hunk = wire["hunks"][0]
    assert wire == {
        "proposalId": wire["proposalId"],
        "uri": URI,
        "version": 1,
        "baseHash": wire["baseHash"],
        "hunks": [
            {
                "hunkId": hunk["hunkId"],
                "range": span(1, 2),
                "oldText": "b\n",
                "newText": "B\n",
                "state": "pending",
                "open": True,
            }
        ],
        "tool": "Edit",
        "reason": "tidy",
        "sessionId": "s1",
        "turnId": "t1",
        "toolUseId": "u1",
        "review": "before",
        "creates": False,
    }
    assert len(wire["proposalId"]) <= 12 and len(hunk["hunkId"]) <= 12 and len(wire["baseHash"]) == 64
    assert [event.kind for event in scene.events] == ["proposed"] and scene.events[0].proposal == wire
    assert scene.text == TEXT, "nothing lands until decided"


@pytest.mark.parametrize("habits", [VSCODE, NEOVIM, PLAIN])
async def test_accept_edit_and_reject_in_one_decision(habits: Habits) -> None:
    scene = Scene(TEXT, habits=habits)
    wire = await scene.propose(THREE)
    outcome: dict[str, Any] = {}

    async def decide() -> None:
        outcome.update(await scene.decide(wire, "accept", "edit:sea\n", "reject", message="careful"))

    async with background(decide):
        scene.client.flow()  # a debounced didChange arrives
    assert scene.text == "A\nb\nsea\nd\ne\n"
    assert scene.states(wire) == ["accepted", "edited", "rejected"]
    assert outcome["refused"] == []
    assert outcome["report"] == (
        "2 of 3 hunks accepted; hunk 2 changed by the user to `sea`; hunk 3 rejected by the user.\n"
        "The user says: careful"
    )
    resolved = scene.events[-1]
    assert (resolved.kind, resolved.complete, resolved.message) == ("resolved", True, "careful")
    assert [decision["decision"] for decision in resolved.decisions] == ["accept", "edit", "reject"]
    assert resolved.decisions[1]["newText"] == "sea\n"
    assert len(scene.client.applied) == 1, "one undo step"


async def test_hunks_not_named_stay_pending() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE)
    await scene.decide(wire, "accept", "leave", "leave")
    assert scene.states(wire) == ["accepted", "pending", "pending"]
    assert not scene.events[-1].complete
    await scene.decide(wire, "leave", "reject", "accept")
    assert scene.text == "A\nb\nc\nd\nE\n" and scene.events[-1].complete


async def test_hunks_not_named_in_an_asks_reply_are_rejected() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE)
    await scene.decide(wire, "leave", "accept", "leave", unnamed="reject")
    assert scene.states(wire) == ["rejected", "accepted", "rejected"]


@pytest.mark.parametrize(("verb", "text"), [("accept", THREE), ("reject", TEXT)])
async def test_everything_at_once(verb: str, text: str) -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE)
    outcome = await scene.proposals.resolve(wire["proposalId"], {"all": verb})
    assert scene.text == text
    assert outcome["report"] == ("" if verb == "accept" else outcome["report"])
    assert scene.proposals.list() == []


async def test_an_old_version_is_stale_and_gets_the_fresh_proposal() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE)
    scene.type(0, "x\n")
    with pytest.raises(ProtocolError) as raised:
        await scene.decide(wire, "accept", "accept", "accept", version=wire["version"])
    assert (raised.value.kind, raised.value.code) == ("staleProposal", -32803)
    fresh = raised.value.data["proposal"]
    assert fresh == scene.proposals.get(wire["proposalId"])
    assert (fresh["version"], fresh["hunks"][0]["range"]) == (2, span(1, 2))
    await scene.decide(fresh, "accept", "accept", "accept", version=fresh["version"])
    assert scene.text == "x\n" + THREE


@pytest.mark.parametrize(
    ("decisions", "kind"),
    [
        ([{"hunkId": "nope", "decision": "accept"}], "unknownHunk"),
        ([{"decision": "accept"}], "unknownHunk"),
        ([{"hunkId": 0, "decision": "maybe"}], "invalidParams"),
        ([{"hunkId": 0, "decision": "edit"}], "invalidParams"),
        ([3], "invalidParams"),
        ({"all": "edit"}, "invalidParams"),
        ({}, "invalidParams"),
    ],
)
async def test_bad_decisions_change_nothing(decisions: Any, kind: str) -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE)
    if isinstance(decisions, list):
        rows = cast("list[Any]", decisions)
        decisions = [
            row
            if isinstance(row, int)
            else row | ({"hunkId": wire["hunks"][0]["hunkId"]} if row.get("hunkId") == 0 else {})
            for row in rows
        ]
    with pytest.raises(ProtocolError) as raised:
        await scene.proposals.resolve(wire["proposalId"], decisions)
    assert raised.value.kind == kind
    assert scene.states(wire) == ["pending"] * 3 and scene.text == TEXT


async def test_an_unknown_proposal() -> None:
    scene = Scene(TEXT)
    for ask in (scene.proposals.get, scene.proposals.report):
        with pytest.raises(ProtocolError, match="no proposal nope"):
            ask("nope")


async def test_every_rebase_is_told_and_ids_survive_it() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE)
    for number, char in enumerate("xyz\n", 2):
        scene.type(0, char)
        event = scene.events[-1]
        assert (event.kind, event.proposal["version"]) == ("updated", number)
        assert [hunk["hunkId"] for hunk in event.proposal["hunks"]] == [hunk["hunkId"] for hunk in wire["hunks"]]
    assert scene.told() == ["proposed"] + ["updated"] * 4


async def test_typing_inside_a_hunk_is_a_conflict_for_it_alone() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE)
    scene.type("c\n", "sea", over="c")
    assert scene.states(wire) == ["pending", "conflict", "pending"]
    outcome = await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})
    assert scene.text == "A\nb\nsea\nd\nE\n", "the person's text stays"
    assert [refusal["hunkId"] for refusal in outcome["refused"]] == [wire["hunks"][1]["hunkId"]]
    assert "hunk 2 not made: the user changed the same lines meanwhile" in outcome["report"]


async def test_typing_what_was_proposed_is_an_accept_and_is_told_as_one() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose("a\nB\nc\nd\ne\n")
    scene.type("b", "B", over="b")
    assert scene.states(wire) == ["accepted"]
    assert scene.events[-1].kind == "resolved" and scene.events[-1].complete
    assert scene.client.applied == []


async def test_a_plan_made_on_an_older_text_is_rebased_when_it_is_proposed() -> None:
    scene = Scene(TEXT)
    plan = await scene.plan(THREE)
    scene.type(0, "x\n")
    wire = scene.proposals.propose(plan, EditOrigin(session_id="s1"))
    assert [hunk["range"] for hunk in wire["hunks"]] == [span(1, 2), span(3, 4), span(5, 6)]


async def test_line_ends_are_those_of_the_buffer() -> None:
    scene = Scene("a\r\nb\r\n")
    wire = await scene.propose("a\nB\nnew\n")
    assert [hunk["newText"] for hunk in wire["hunks"]] == ["B\r\nnew\r\n"]


# --- review after ----------------------------------------------------------------------------------------------------


async def test_review_after_lands_at_once_and_stays_marked() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE, review="after")
    assert scene.text == THREE and scene.states(wire) == ["landed"] * 3
    assert scene.told() == ["proposed"], "and nothing is told of it before it is shown"
    assert {hunk["state"] for hunk in scene.events[0].proposal["hunks"]} == {"landed"}
    assert [proposal["proposalId"] for proposal in scene.proposals.list("s1")] == [wire["proposalId"]]
    await scene.decide(wire, "accept", "reject", "leave")
    assert scene.text == "A\nb\nc\nd\nE\n" and scene.states(wire) == ["accepted", "rejected", "landed"]


async def test_review_off_lands_at_once_and_says_nothing() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE, review="off")
    assert scene.text == THREE and scene.states(wire) == ["accepted"] * 3
    assert scene.events == [] and scene.proposals.list() == []


async def test_typing_into_a_landed_hunk_keeps_the_persons_text() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE, review="after")
    scene.type("C", "!")
    assert scene.states(wire) == ["landed", "edited", "landed"]
    outcome = await scene.decide(wire, "leave", "reject", "leave")
    assert scene.text == "A\nb\n!C\nd\nE\n" and len(outcome["refused"]) == 1
    await scene.decide(wire, "leave", "accept", "leave")
    assert scene.proposals.get(wire["proposalId"])["hunks"][1]["placed"] == "!C\n"
    assert scene.states(wire) == ["landed", "edited", "landed"]


async def test_rejecting_an_edited_hunk_merges_when_it_can() -> None:
    scene = Scene("1\n2\n3\n4\n5\n6\n")
    wire = await scene.propose("ONE\ntwo\nthree\nfour\n5\n6\n", review="after")
    scene.type("four", "FOUR", over="four")
    outcome = await scene.decide(wire, "reject")
    assert scene.states(wire) == ["edited"] and outcome["refused"], "the same lines: refused"
    assert scene.text == "ONE\ntwo\nthree\nFOUR\n5\n6\n"


async def test_undo_back_to_the_old_text_is_reverted_and_redo_lands_it_again() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE, review="after")
    scene.client.undo(URI)
    assert scene.text == TEXT and scene.states(wire) == ["reverted"] * 3
    scene.client.redo(URI)
    assert scene.states(wire) == ["landed"] * 3


async def test_undo_of_accepted_hunks_is_reverted_too() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE)
    await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})
    scene.client.undo(URI)
    assert scene.states(wire) == ["reverted"] * 3 and scene.events[-1].kind == "updated"


async def test_a_later_agent_edit_over_it_supersedes() -> None:
    scene = Scene(TEXT)
    first = await scene.propose(THREE, review="after")
    await scene.propose("A\nb\nCC\nd\nE\n", review="after")
    assert scene.states(first) == ["landed", "superseded", "landed"]


# --- waiting ---------------------------------------------------------------------------------------------------------


async def test_waiting_ends_with_the_last_decision() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE)
    ended: list[dict[str, Any]] = []

    async def wait() -> None:
        ended.append(await scene.proposals.wait(wire["proposalId"]))

    async with background(wait):
        await scene.decide(wire, "accept", "leave", "reject")
        await settle()
        assert ended == []
        await scene.decide(wire, "leave", "accept", "leave")
        await settle()
        assert [hunk["state"] for hunk in ended[0]["hunks"]] == ["accepted", "accepted", "rejected"]


async def test_a_conflict_ends_the_waiting_once_the_typing_rests() -> None:
    scene = Scene("b\n")
    wire = await scene.propose("B\n")
    ended: list[object] = []

    async def wait() -> None:
        ended.append(await scene.proposals.wait(wire["proposalId"]))

    async with background(wait):
        scene.type("b", "x")
        await settle()
        scene.client.undo(URI)
        await settle()
        scene.clock.advance(5.0)
        await settle()
        assert ended == [] and scene.states(wire) == ["pending"], "the typing was undone in time"
        scene.type("b", "x")
        await settle()
        scene.clock.advance(5.0)
        await settle()
        assert len(ended) == 1
    scene.client.undo(URI)
    assert scene.states(wire) == ["conflict"], "the model has been told; it does not come back"
    assert scene.proposals.list() == []


async def test_withdrawing_rejects_what_is_pending() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE)
    await scene.decide(wire, "accept", "leave", "leave")

    async def wait() -> None:
        await scene.proposals.wait(wire["proposalId"])

    async with background(wait):
        scene.proposals.withdraw(wire["proposalId"])
    assert scene.states(wire) == ["accepted", "rejected", "rejected"] and scene.text == "A\nb\nc\nd\ne\n"
    scene.proposals.withdraw("nope")


async def test_a_deleted_session_rejects_its_proposals() -> None:
    scene = Scene(TEXT)
    mine = await scene.propose(THREE)
    other = await scene.propose("a\nb\nc\nD\ne\n", session_id="s2")
    scene.proposals.drop_session("s1")
    assert scene.events[-1].kind == "resolved"
    assert {hunk["state"] for hunk in scene.events[-1].proposal["hunks"]} == {"rejected"}
    assert [proposal["proposalId"] for proposal in scene.proposals.list()] == [other["proposalId"]]
    with pytest.raises(ProtocolError):
        scene.proposals.get(mine["proposalId"])


async def test_two_sessions_on_one_document() -> None:
    scene = Scene(TEXT)
    one = await scene.propose("A\nb\nc\nd\ne\n")
    two = await scene.propose("a\nb\nc\nd\nE\n", session_id="s2")
    await scene.proposals.resolve(one["proposalId"], {"all": "accept"})
    await scene.proposals.resolve(two["proposalId"], {"all": "accept"})
    assert scene.text == "A\nb\nc\nd\nE\n"
    assert scene.proposals.list(uri=URI) == []


async def test_two_decisions_on_one_hunk_at_the_same_time() -> None:
    scene = Scene("b\n")
    wire = await scene.propose("B\n")
    scene.client.automatic = False
    outcomes: list[dict[str, Any]] = []

    async def decide() -> None:
        outcomes.append(await scene.proposals.resolve(wire["proposalId"], {"all": "accept"}))

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(decide)
            tasks.start_soon(decide)
            await settle()
            for _ in range(3):
                scene.client.flow()
                await settle()
    assert scene.text == "B\n" and len(scene.client.applied) == 1
    assert sorted(len(outcome["refused"]) for outcome in outcomes) == [0, 1]


async def test_revert_hunk_takes_back_an_accepted_hunk() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE)
    await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})
    await scene.proposals.revert(wire["hunks"][1]["hunkId"])
    assert scene.text == "A\nb\nc\nd\nE\n" and scene.states(wire) == ["accepted", "rejected", "accepted"]
    with pytest.raises(ProtocolError):
        await scene.proposals.revert("nope")


@pytest.mark.parametrize("verb", ["accept", "reject", "edit:mine\n"])
async def test_a_decision_is_taken_back_and_made_again_otherwise(verb: str) -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE)
    await scene.decide(wire, verb, "leave", "leave")
    scene.type(0, "typed above\n")
    wire = await scene.reopen(wire, 0)
    assert scene.text == "typed above\n" + TEXT and scene.states(wire) == ["pending"] * 3
    assert wire["hunks"][0]["open"] and "placed" not in wire["hunks"][0]
    assert wire["hunks"][0]["range"] == span(1, 2)
    assert scene.events[-1].decisions == ({"hunkId": wire["hunks"][0]["hunkId"], "decision": "reopen"},)
    await scene.decide(wire, "accept", "reject", "reject")
    assert scene.text == "typed above\nA\nb\nc\nd\ne\n"


async def test_a_decision_is_not_taken_back_over_what_was_typed_since() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose("a\nB\nc\nd\ne\n")
    await scene.decide(wire, "accept")
    scene.type("\nc", "!")
    assert (await scene.reopen(wire, 0))["hunks"][0]["state"] in ("accepted", "edited")
    assert scene.text == "a\nB!\nc\nd\ne\n"


async def test_the_model_hears_of_a_decision_that_was_taken_back_after_its_call_had_ended() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose("a\nB\nc\nd\ne\n")
    async with background(lambda: scene.proposals.wait(wire["proposalId"])):
        await scene.decide(wire, "reject")
    wire = await scene.reopen(wire, 0)
    assert "hunk 1 not decided yet" in scene.events[-1].late
    await scene.decide(wire, "accept")
    assert "The user accepted all of it" in scene.events[-1].late and scene.text == "a\nB\nc\nd\ne\n"


async def test_old_decided_proposals_are_forgotten() -> None:
    scene = Scene(TEXT)
    for _ in range(210):
        wire = await scene.propose("A\nb\nc\nd\ne\n")
        await scene.proposals.resolve(wire["proposalId"], {"all": "reject"})
    assert len(scene.proposals._proposals) <= 201


async def test_what_landed_is_not_called_rejected_when_the_turn_is_interrupted() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE, review="after")
    scene.proposals.withdraw(wire["proposalId"], message="stopped")
    assert scene.text == THREE and scene.states(wire) == ["landed"] * 3
    await scene.decide(wire, "reject", "accept", "leave")
    assert scene.states(wire) == ["rejected", "accepted", "landed"]


async def test_a_snapshot_is_taken_before_each_landing() -> None:  # S3
    scene = Scene(TEXT)
    wire = await scene.propose(THREE)
    assert scene.snapshots == []
    await scene.decide(wire, "accept", "leave", "reject")
    ((session, path, before),) = scene.snapshots
    assert (session, path) == ("s1", "/home/me/a.py") and before is not None and before.text == TEXT


async def test_without_a_snapshot_nothing_is_changed() -> None:  # S3
    scene = Scene(TEXT)
    wire = await scene.propose(THREE)

    async def full(origin: EditOrigin, path: str, before: object) -> None:
        raise OSError(28, "No space left on device")

    scene.editor._snapshot = full
    outcome = await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})
    assert scene.text == TEXT and scene.states(wire) == ["conflict"] * 3
    assert "No space left on device" in outcome["refused"][0]["reason"]


async def test_a_cancelled_landing_leaves_nobody_waiting() -> None:  # L14
    scene = Scene("b\n", habits=PLAIN)
    scene.client.automatic = False
    wire = await scene.propose("B\n")

    async def wait() -> None:
        await scene.proposals.wait(wire["proposalId"])

    async with background(wait):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(scene.proposals.resolve, wire["proposalId"], {"all": "accept"})
            await settle()
            tasks.cancel_scope.cancel()
        await settle()
        assert scene.states(wire) == ["conflict"]
        scene.clock.advance(1.1)
    scene.client.flow()
    assert scene.text == "B\n" and scene.states(wire) == ["accepted"], "it had been sent, and landed after all"


async def test_of_two_decisions_on_one_hunk_the_later_counts() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose("a\nB\nc\nd\ne\n")
    hunk_id = wire["hunks"][0]["hunkId"]
    twice = [{"hunkId": hunk_id, "decision": "accept"}, {"hunkId": hunk_id, "decision": "edit", "newText": "x\n"}]
    await scene.proposals.resolve(wire["proposalId"], twice)
    assert scene.text == "a\nx\nc\nd\ne\n" and scene.states(wire) == ["edited"]
