"""Which turn and prompt wrote a line; the mark follows the text."""

import json

import pytest

from assent.editor import proposals
from assent.editor.proposal import Review
from editor.scene import PATH, URI, Scene

TEXT = "a\nb\nc\nd\ne\n"


def writers(scene: Scene) -> list[bool]:
    document = scene.documents.get(URI)
    assert document is not None
    return [scene.editor.provenance.at(URI, line) is not None for line in range(len(document.lines) - 1)]


async def test_lines_the_agent_wrote_are_known() -> None:
    scene = Scene(TEXT)
    await scene.propose("a\nB1\nB2\nc\nd\nE\n", review="after")
    assert writers(scene) == [False, True, True, False, False, True]


async def test_the_mark_moves_with_the_text_and_the_persons_lines_are_theirs() -> None:
    scene = Scene(TEXT)
    await scene.propose("a\nB1\nB2\nc\nd\ne\n", review="after")
    scene.type(0, "typed\n")
    scene.type("B2", "mine\n")
    assert [line for line, by in zip(scene.text.split("\n"), writers(scene), strict=False) if by] == ["B1", "B2"]
    scene.type("B1", "x")
    assert writers(scene)[2], "a line with some of the agent's text is still the agent's"


async def test_undo_takes_the_mark_along() -> None:
    scene = Scene(TEXT)
    await scene.propose("a\nB\nc\nd\ne\n", review="after")
    scene.client.undo(URI)
    assert writers(scene) == [False] * 5


async def test_the_latest_writer_counts() -> None:
    scene = Scene(TEXT)
    await scene.propose("a\nB\nc\nd\ne\n", review="after")
    wire = await scene.propose("a\nBB\nc\nd\ne\n", review="after")
    span = scene.editor.provenance.at(URI, 1)
    assert span is not None and span.mark.proposal_id == wire["proposalId"]
    assert len(scene.editor.provenance.spans(URI)) == 1


async def test_what_the_hover_needs() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose("a\nB\nc\nd\ne\n", review="after")
    hover = scene.editor.provenance.hover(URI, 1)
    assert hover == {
        "markdown": "**Assent** wrote this with Edit (turn t1).\n\n> Make it better",
        "range": {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}},
        "hunkId": wire["hunks"][0]["hunkId"],
        "proposalId": wire["proposalId"],
        "sessionId": "s1",
        "turnId": "t1",
        "prompt": "Make it better",
        "command": {
            "title": "Revert hunk",
            "command": "assent.revertHunk",
            "arguments": [wire["hunks"][0]["hunkId"]],
        },
    }
    assert scene.editor.provenance.hover(URI, 0) is None
    assert scene.editor.provenance.hover("file:///nope", 0) is None
    assert scene.editor.provenance.hover(URI, 99) is None


async def test_a_prompt_cannot_become_markup() -> None:
    from assent.editor.proposal import EditOrigin

    scene = Scene(TEXT)
    origin = EditOrigin(session_id="s", turn_id="t", prompt="[x](command:evil) <b>\n# y " + "z" * 400)
    wire = scene.proposals.propose(await scene.plan("a\nB\nc\nd\ne\n"), origin, review="off")
    await scene.proposals.land(wire["proposalId"])
    hover = scene.editor.provenance.hover(URI, 1)
    assert hover is not None
    assert "\\[x\\]\\(command\\:evil\\) \\<b\\> \\# y" in hover["markdown"] and hover["markdown"].endswith("…")


async def test_reverting_from_the_hover() -> None:
    scene = Scene(TEXT)
    await scene.propose("a\nB\nc\nd\ne\n", review="off")
    hover = scene.editor.provenance.hover(URI, 1)
    assert hover is not None
    await scene.proposals.revert(hover["hunkId"])
    assert scene.text == TEXT and writers(scene) == [False] * 5


async def test_a_renamed_file_keeps_its_marks() -> None:
    scene = Scene(TEXT)
    await scene.propose("a\nB\nc\nd\ne\n", review="after")
    scene.documents.rename(URI, "file:///home/me/b.py")
    assert scene.editor.provenance.at("file:///home/me/b.py", 1) is not None
    scene.documents.delete("file:///home/me/b.py")
    assert scene.editor.provenance.at("file:///home/me/b.py", 1) is None


async def test_marks_survive_close_and_reopen() -> None:
    scene = Scene(TEXT)
    await scene.propose("a\nB\nc\nd\ne\n", review="after")
    scene.client.save_by_hand(URI)
    scene.client.close(URI)
    scene.client.open(URI, "top\na\nB\nc\nd\ne\n")
    assert writers(scene) == [False, False, True, False, False, False]


async def restarted(scene: Scene, text: str, *, opened: bool = True) -> Scene:
    """Another process, with the file as it is by then."""
    saved = json.loads(json.dumps(scene.proposals.dump("s1")))
    fresh = Scene(text, opened=opened)
    await fresh.proposals.load("s1", saved)
    return fresh


@pytest.mark.parametrize("review", ["before", "after", "off"])
@pytest.mark.parametrize("opened", [True, False])
async def test_the_marks_survive_a_restart_and_so_does_revert(review: Review, opened: bool) -> None:
    scene = Scene(TEXT)
    wire = await scene.propose("a\nB1\nB2\nc\nd\nE\n", review=review)
    if review == "before":
        await scene.decide(wire, "accept", "accept")
    scene.type(0, "typed\n")
    scene.type("B2", "mine\n")
    assert writers(scene) == [False, False, True, False, True, False, False, True]
    fresh = await restarted(scene, "more\n" + scene.text, opened=opened)
    if not opened:
        fresh.client.open(URI, fresh.disk.files[PATH])
    assert writers(fresh) == [False, False, False, True, False, True, False, False, True]
    hover = fresh.editor.provenance.hover(URI, 8)
    assert hover is not None and hover["prompt"] == "Make it better"
    reverted = await fresh.proposals.revert(hover["hunkId"])
    assert reverted["refused"] == [] and fresh.text.endswith("d\ne\n")


async def test_marks_whose_lines_are_gone_after_a_restart_are_forgotten() -> None:
    scene = Scene(TEXT)
    await scene.propose("a\nB\nc\nd\ne\n", review="off")
    fresh = await restarted(scene, "something else\n")
    assert writers(fresh) == [False]
    assert fresh.proposals.list() == []


async def test_a_restart_remembers_the_newest_of_what_was_made_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposals, "_KEPT_CHARS", 10)
    scene = Scene(TEXT)
    for letter in "PQRS":
        await scene.propose(f"a\n{letter}\nc\nd\ne\n", review="off")
    saved = scene.proposals.dump("s1")
    assert [item["hunks"][0]["newText"] for item in saved] == ["R\n", "S\n"]
