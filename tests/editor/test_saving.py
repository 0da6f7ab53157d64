"""The save barrier before a command: only what the agent changed, and never silently on other files than it thinks."""

from dataclasses import replace

import pytest

from assent.text.splices import Splice
from assent.types.errors import ToolError
from editor.scene import PATH, URI, Scene, background, settle
from fakeeditor import PLAIN, VSCODE

TEXT = "a\nb\nc\n"
OTHER = "file:///home/me/other.py"


async def edited(scene: Scene) -> None:
    await scene.workspace.apply(await scene.plan("a\nB\nc\n"))
    scene.client.open(OTHER, "theirs\n")
    scene.client.type(OTHER, 0, 0, "dirty ")


async def test_only_documents_with_our_edits_are_saved() -> None:
    scene = Scene(TEXT)
    await edited(scene)
    assert await scene.workspace.save_barrier() == ""
    assert scene.client.open_documents[URI].on_disk == "a\nB\nc\n"
    assert scene.client.open_documents[OTHER].on_disk == "theirs\n", "never the user's other buffers"
    assert await scene.workspace.save_barrier() == ""


async def test_nothing_of_ours_nothing_saved() -> None:
    scene = Scene(TEXT)
    scene.type(0, "x")
    assert await scene.workspace.save_barrier() == ""
    assert scene.client.open_documents[URI].on_disk == TEXT


async def test_formatting_on_save_moves_what_is_anchored() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose("A\nb\nC\n", review="after")
    scene.client.formats = lambda text: "# formatted\n" + text
    assert await scene.workspace.save_barrier() == ""
    hunks = scene.proposals.get(wire["proposalId"])["hunks"]
    assert [hunk["range"]["start"]["line"] for hunk in hunks] == [1, 3] and scene.states(wire) == ["landed"] * 2


@pytest.mark.parametrize("answer", ["disk", "cancel"])
async def test_a_failed_save_asks(answer: str) -> None:
    scene = Scene(TEXT)
    await edited(scene)
    scene.client.save_fails[URI] = "read-only"
    scene.client.unsaved_answer = "disk" if answer == "disk" else "cancel"

    async def hold() -> None:
        if answer == "cancel":
            with pytest.raises(ToolError, match=r"cancelled because of unsaved changes in a\.py"):
                await scene.workspace.save_barrier()
        else:
            assert "Unsaved in the editor while this ran: a.py" in await scene.workspace.save_barrier()

    async with background(hold):
        scene.clock.advance(2.1)  # no didSave comes
        await settle()
    ((uris, reason),) = scene.client.asked_unsaved
    assert uris == [URI] and "read-only" in reason


async def test_a_client_that_cannot_save_is_asked_and_a_save_by_hand_is_an_answer() -> None:
    scene = Scene(TEXT, habits=PLAIN)
    await edited(scene)
    words: list[str] = []

    async def hold() -> None:
        words.append(await scene.workspace.save_barrier())

    async with background(hold):
        assert scene.client.asked_unsaved == [([URI], "Assent is about to run a command on these files")]
        assert words == []
        scene.client.save_by_hand(URI)
    assert words == [""]


@pytest.mark.parametrize(("answer", "told"), [("saved", True), ("disk", True)])
async def test_what_was_not_saved_is_told_whatever_was_answered(answer: str, told: bool) -> None:
    scene = Scene(TEXT, habits=PLAIN)
    await edited(scene)
    scene.client.unsaved_answer = "saved" if answer == "saved" else "disk"
    words = await scene.workspace.save_barrier()
    assert ("a.py" in words) is told, "said to be saved, but no didSave came"


async def test_when_nobody_can_be_asked_the_command_does_not_run() -> None:
    from assent.editor.client_edits import ClientGone, Unsaved

    scene = Scene(TEXT, habits=PLAIN)
    await edited(scene)

    async def gone(uris: list[str], reason: str) -> Unsaved:
        raise ClientGone("the editor went away")

    scene.client.ask_unsaved = gone
    with pytest.raises(ToolError, match="nobody could be asked"):
        await scene.workspace.save_barrier()


async def test_an_edit_undone_is_nothing_to_save() -> None:
    scene = Scene(TEXT)
    await edited(scene)
    scene.client.undo(URI)
    assert await scene.workspace.save_barrier() == ""
    assert scene.client.open_documents[URI].on_disk == TEXT and scene.disk.files[PATH] == TEXT


async def test_a_client_that_says_saved_but_sends_no_didsave_is_believed() -> None:
    scene = Scene(TEXT)
    await edited(scene)

    async def save(uris: list[str]) -> dict[str, object]:
        return {"saved": uris, "failed": []}

    scene.client.save = save
    words: list[str] = []

    async def hold() -> None:
        words.append(await scene.workspace.save_barrier())

    async with background(hold):
        assert words == [], "format-on-save may still be on its way"
        scene.clock.advance(2.1)
    assert words == [""] and scene.client.asked_unsaved == []


async def test_text_of_a_conversation_is_not_saved_for_a_command() -> None:
    scene = Scene(TEXT)
    chat = "file:///home/me/talk.assent.md"
    scene.client.open(chat, "## You\n")
    await scene.editor.edits.apply(
        chat, lambda document: [Splice(len(document.text), len(document.text), "hi")], "chat"
    )
    assert scene.client.text(chat) == "## You\nhi"
    assert await scene.workspace.save_barrier() == ""
    assert scene.client.open_documents[chat].on_disk == "## You\n"


async def test_an_edit_reported_together_with_typing_is_saved_too() -> None:
    scene = Scene("a\nb\n", habits=replace(VSCODE, debounces=True, sync="full"))
    wire = await scene.propose("a\nB\n")
    apply = scene.client._apply

    def apply_and_type(uri: str, version: int | None, edits: list[dict[str, object]]) -> bool:
        applied = apply(uri, version, edits)
        scene.type(0, "typed\n")
        return applied

    scene.client._apply = apply_and_type
    await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})
    assert scene.text == "typed\na\nB\n" and scene.states(wire) == ["accepted"]
    assert await scene.workspace.save_barrier() == ""
    assert scene.client.open_documents[URI].on_disk == scene.text
