"""Which turn and prompt wrote a line; the mark follows the text."""

from editor.scene import URI, Scene

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
    from assent.editor.proposals import Origin

    scene = Scene(TEXT)
    origin = Origin(session_id="s", turn_id="t", prompt="[x](command:evil) <b>\n# y " + "z" * 400)
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
