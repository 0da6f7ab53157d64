"""One edit in flight per document, and what counts as done."""

import asyncio
from dataclasses import replace

import anyio
import pytest

from assent.editor.buffer_edits import Landing
from assent.editor.documents import Document
from assent.text.splices import Splice
from editor.scene import URI, Scene, background, settle
from fakeeditor import NEOVIM, PLAIN, VSCODE, FakeEditor, Habits


class Attempt:
    """`edits.apply` of one change, running; `outcome` once it has ended."""

    def __init__(self, scene: Scene, new: str = "B") -> None:
        self.scene = scene
        self.outcome: Landing | None = None
        self.new = new

    async def run(self) -> None:
        def build(document: Document) -> list[Splice]:
            at = document.text.index("b")
            return [Splice(at, at + 1, self.new)]

        self.outcome = await self.scene.editor.edits.apply(URI, build, "test")


@pytest.mark.parametrize("habits", [VSCODE, NEOVIM, PLAIN])
async def test_landed_when_the_change_comes_back(habits: Habits) -> None:
    scene = Scene("a\nb\n", habits=habits)
    attempt = Attempt(scene)
    async with background(attempt.run):
        scene.client.flow()
    assert attempt.outcome == "landed" and scene.text == "a\nB\n"


async def test_an_answer_proves_nothing_until_the_change_is_reported() -> None:
    scene = Scene("b\n", habits=replace(PLAIN, debounces=True))
    attempt = Attempt(scene)
    async with background(attempt.run):
        assert attempt.outcome is None, "the client said applied: true"
        scene.client.flow()
        await settle()
        assert attempt.outcome == "landed"


async def test_a_client_with_our_plugin_is_asked_instead_of_waited_for() -> None:
    scene = Scene("b\n", habits=NEOVIM)
    attempt = Attempt(scene)
    async with background(attempt.run):
        assert attempt.outcome == "landed", "being asked, it reported its change first"


async def test_a_client_that_cannot_say_what_its_buffer_holds_has_its_two_seconds_all_the_same() -> None:
    class Mute(FakeEditor):
        async def document(self, uri: str) -> None:
            return None  # as a client does that claims the queries and answers noServer to this one

    scene = Scene("b\n", habits=replace(NEOVIM, lies=False), client=Mute)
    attempt = Attempt(scene)
    async with background(attempt.run):
        assert attempt.outcome is None, "it said applied: true, and the change is on its way"
        scene.client.flow()
    assert attempt.outcome == "landed"
    scene.client.drops = True
    lost = Attempt(scene, "C")
    scene.type(0, "b")
    scene.client.flow()
    async with background(lost.run):
        scene.clock.advance(1.9)
        await settle()
        assert lost.outcome is None
        scene.clock.advance(0.2)
    assert lost.outcome == "unknown"


async def test_applied_false_is_a_failure() -> None:
    scene = Scene("b\n")
    scene.client.refusing = True
    attempt = Attempt(scene)
    async with background(attempt.run):
        pass
    assert attempt.outcome == "failed" and not scene.editor.edits.in_doubt(URI)


async def test_nothing_within_two_seconds_is_unknown_and_stops_further_edits() -> None:
    scene = Scene("b\n", habits=PLAIN)
    scene.client.drops = True
    attempt = Attempt(scene)
    async with background(attempt.run):
        scene.clock.advance(1.9)
        await settle()
        assert attempt.outcome is None
        scene.clock.advance(0.2)
    assert attempt.outcome == "unknown" and scene.editor.edits.in_doubt(URI)
    scene.client.drops = False
    again = Attempt(scene)
    async with background(again.run):
        pass
    assert again.outcome == "unknown" and scene.text == "b\n"
    scene.type(0, "x")  # a report of the buffer: the mirror agrees again
    third = Attempt(scene)
    async with background(third.run):
        pass
    assert third.outcome == "landed" and scene.text == "xB\n"


async def test_in_doubt_a_client_that_can_is_asked_whether_the_mirror_agrees() -> None:
    scene = Scene("b\n")
    scene.client.deaf = True
    attempt = Attempt(scene)
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(attempt.run)
            await settle()
            scene.clock.advance(2.1)
            await settle()
            tasks.cancel_scope.cancel()  # the deaf client does not answer the question either
    assert scene.editor.edits.in_doubt(URI)
    scene.client.deaf = False
    again = Attempt(scene)
    async with background(again.run):
        pass
    assert again.outcome == "landed"


async def test_a_lie_about_a_stale_edit_is_found_out() -> None:
    scene = Scene("b\n", habits=NEOVIM)
    scene.client.automatic = False
    attempt = Attempt(scene)
    async with background(attempt.run):
        scene.client.type(URI, 0, 0, "x\n")  # not yet reported
        for _ in range(4):
            scene.client.flow()
            await settle()
    assert attempt.outcome == "failed" and scene.text == "x\nb\n"


async def test_edits_of_one_document_go_one_at_a_time_each_on_the_text_the_last_one_left() -> None:
    scene = Scene("b\nb\n", habits=PLAIN)
    scene.client.automatic = False
    first, second = Attempt(scene, "long\nfirst"), Attempt(scene, "second")
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first.run)
            tasks.start_soon(second.run)
            await settle()
            assert len(scene.client.to_client) == 1
            for _ in range(3):
                scene.client.flow()
                await settle()
    assert (first.outcome, second.outcome, scene.text) == ("landed", "landed", "long\nfirst\nsecond\n")


async def test_version_zero_guards_nothing_so_the_text_is_asked_for_first() -> None:
    scene = Scene("b\n", habits=replace(NEOVIM, first_version=0))
    asked: list[str] = []
    describe = scene.client.document

    async def document(uri: str) -> dict[str, object] | None:
        asked.append(uri)
        return await describe(uri)

    scene.client.document = document
    attempt = Attempt(scene)
    async with background(attempt.run):
        pass
    assert attempt.outcome == "landed" and asked[0] == URI


async def test_a_mirror_that_lost_a_change_gets_no_edit() -> None:
    scene = Scene("b\n", habits=replace(VSCODE, first_version=0))
    document = scene.documents.get(URI)
    assert document is not None
    document.text = "not what the editor has: b"
    attempt = Attempt(scene)
    async with background(attempt.run):
        pass
    assert attempt.outcome == "unknown" and scene.client.applied == []


async def test_an_interrupted_edit_leaves_the_document_in_doubt() -> None:  # L14
    scene = Scene("b\n", habits=PLAIN)
    scene.client.automatic = False
    attempt = Attempt(scene)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(attempt.run)
        await settle()
        tasks.cancel_scope.cancel()
    assert scene.editor.edits.in_doubt(URI)
    scene.client.flow()
    assert scene.text == "B\n" and not scene.editor.edits.in_doubt(URI)


async def test_a_document_closed_meanwhile() -> None:
    scene = Scene("b\n", habits=PLAIN)
    scene.client.automatic = False
    attempt = Attempt(scene)
    async with background(attempt.run):
        scene.client.close(URI)
        scene.client.to_client.clear()
        scene.client.flow()
    assert attempt.outcome == "failed"


async def test_typing_around_our_edit_in_one_notification_is_still_a_landing() -> None:
    scene = Scene("a\nb\n", habits=replace(PLAIN, debounces=True, sync="full"))
    wire = await scene.propose("a\nB\n")

    async def accept() -> None:
        await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})

    async with background(accept):
        scene.type(0, "typed\n")  # after the edit, before its report: both come as one whole text
        scene.client.flow()
    assert scene.text == "typed\na\nB\n" and scene.states(wire) == ["accepted"]


async def test_an_edit_the_editor_will_not_make_is_a_conflict_with_words() -> None:
    scene = Scene("b\n")
    scene.client.refusing = True
    wire = await scene.propose("B\n")
    outcome = await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})
    assert scene.states(wire) == ["conflict"]
    assert outcome["refused"][0]["reason"] == "the editor did not apply it"
    assert scene.proposals.report(wire["proposalId"]).endswith("hunk 1 not made: the editor did not apply it.")


async def test_an_unconfirmed_edit_that_arrives_late_is_accepted_after_all() -> None:
    scene = Scene("b\n", habits=replace(PLAIN, debounces=True))
    wire = await scene.propose("B\n")

    async def accept() -> None:
        await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})

    async with background(accept):
        scene.clock.advance(2.1)
    assert scene.states(wire) == ["conflict"] and scene.proposals.get(wire["proposalId"])["hunks"][0]["why"]
    scene.client.flow()
    assert scene.states(wire) == ["accepted"]


@pytest.mark.parametrize("habits", [VSCODE, NEOVIM])
async def test_what_is_typed_before_the_edit_is_sent_is_not_typed_over(habits: Habits) -> None:
    scene = Scene("a\nb\n", habits=habits)

    def build(document: Document) -> list[Splice]:
        # Reported in the loop's next turn, when the edit is made for this text and has not left yet.
        asyncio.get_running_loop().call_soon(lambda: (scene.type(0, "mine\n"), scene.client.flow()))
        at = document.text.index("b")
        return [Splice(at, at + 1, "B")]

    async def run() -> None:
        await scene.editor.edits.apply(URI, build, "test")

    async with background(run):
        scene.client.flow()
    assert scene.text in ("mine\na\nb\n", "mine\na\nB\n")


async def test_typing_while_the_edit_is_on_its_way_makes_it_try_again() -> None:
    scene = Scene("a\nb\n")
    scene.client.automatic = False
    wire = await scene.propose("a\nB\n")

    async def accept() -> None:
        await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})

    async with background(accept):
        scene.client.type(URI, 0, 0, "x\n")
        for _ in range(4):
            scene.client.flow()
            await settle()
    assert scene.text == "x\na\nB\n" and scene.states(wire) == ["accepted"]


async def test_one_edit_reported_in_several_notifications() -> None:
    scene = Scene("a\nb\nc\n", habits=PLAIN)
    scene.client.automatic = False
    wire = await scene.propose("A\nb\nC\n")

    async def accept() -> None:
        await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})

    def change(line: int, text: str) -> dict[str, object]:
        span = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}}
        return {"range": span, "text": text}

    async with background(accept):
        scene.client.to_client.popleft()()  # applied; now its reports, one by one instead of the one it queued
        scene.client.to_server.clear()
        scene.documents.change(URI, 2, [change(2, "C")])
        assert scene.states(wire) == ["pending", "accepted"]
        scene.documents.change(URI, 3, [change(0, "A")])
    assert scene.states(wire) == ["accepted", "accepted"]
    assert not scene.editor.edits.in_doubt(URI)


async def test_a_decision_on_a_hunk_that_is_on_its_way_in_is_refused_and_the_first_one_holds() -> None:
    scene = Scene("a\nb\n")
    scene.client.automatic = False
    wire = await scene.propose("a\nB\n")

    async def accept() -> None:
        await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})

    async with background(accept):
        late = await scene.proposals.resolve(wire["proposalId"], {"all": "reject"})
        assert [each["reason"] for each in late["refused"]] == ["a decision on it is being carried out"]
        for _ in range(4):
            scene.client.flow()
            await settle()
    assert scene.text == "a\nB\n" and scene.states(wire) == ["accepted"]
