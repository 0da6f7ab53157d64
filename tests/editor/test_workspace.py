"""`EditorWorkspace`: what the tools see. T3: what the editor has open and unsaved IS the file."""

from pathlib import Path
from typing import Any

import pytest

from assent.editor.client_edits import NoClient
from assent.editor.editor import Editor
from assent.editor.proposal import EditOrigin, Review
from assent.types.errors import ToolError
from assent.types.ports import EditOutcome, Workspace
from editor.scene import PATH, URI, Scene, background, settle
from fakeeditor import MemoryDisk

TEXT = "a\nb\nc\n"


async def test_an_open_document_is_read_from_its_buffer() -> None:  # T3
    scene = Scene(TEXT)
    scene.type(0, "typed\n")
    found = await scene.workspace.read(PATH)
    assert (found.text, found.version, found.from_buffer) == ("typed\n" + TEXT, 2, True)
    assert scene.disk.files[PATH] == TEXT


async def test_a_closed_one_from_the_disk() -> None:
    scene = Scene(TEXT, opened=False)
    found = await scene.workspace.read(PATH)
    assert (found.text, found.version) == (TEXT, None)


async def test_the_same_text_has_the_same_hash_in_the_buffer_and_on_disk() -> None:
    opened, closed = Scene(TEXT), Scene(TEXT, opened=False)
    assert (await opened.workspace.read(PATH)).sha256 == (await closed.workspace.read(PATH)).sha256


async def test_a_link_to_an_open_file_is_that_file(tmp_path: Path) -> None:
    real = tmp_path / "real.py"
    real.write_text("disk\n")
    link = tmp_path / "link.py"
    link.symlink_to(real)
    scene = Scene()
    scene.client.open(f"file://{real}", "buffer\n")
    assert (await scene.workspace.read(str(link))).text == "buffer\n"
    scene.client.close(f"file://{real}")
    scene.disk.files[str(link)] = "disk\n"
    assert (await scene.workspace.read(str(link))).text == "disk\n"


async def test_an_allowed_edit_lands_through_the_editor() -> None:
    scene = Scene(TEXT)
    scene.review = "off"
    outcome = await scene.workspace.apply(await scene.plan("a\nB\nc\n"))
    assert scene.text == "a\nB\nc\n" and scene.disk.files[PATH] == TEXT
    assert outcome.after is not None and outcome.after.text == "a\nB\nc\n"
    assert [hunk.state for hunk in outcome.hunks] == ["accepted"] and outcome.report == ""
    assert scene.events == [], "review off: nothing to show"
    scene.client.undo(URI)
    assert scene.text == TEXT


@pytest.mark.parametrize("review", ["after", "before"])
async def test_an_edit_that_nobody_has_to_decide_lands_and_is_shown(review: Review) -> None:
    scene = Scene(TEXT)
    scene.review = review
    outcome = await scene.workspace.apply(await scene.plan("a\nB\nc\n"))
    assert [hunk.state for hunk in outcome.hunks] == ["landed"]
    assert [event.kind for event in scene.events if event.kind == "proposed"] == ["proposed"]


async def test_a_reviewed_edit_waits_for_its_last_decision_and_reports() -> None:
    scene = Scene("a\nb\nc\nd\ne\n")
    plan = await scene.plan("A\nb\nC\nd\nE\n")
    wire = scene.proposals.propose(plan, EditOrigin(session_id="s1"))
    outcomes: list[EditOutcome] = []

    async def apply() -> None:
        await scene.proposals.wait(wire["proposalId"])
        outcomes.append(await scene.proposals.edit_outcome(wire["proposalId"]))

    async with background(apply):
        await scene.decide(wire, "accept", "leave", "leave")
        await settle()
        assert outcomes == []
        await scene.decide(wire, "leave", "edit:sea\n", "reject")
    (outcome,) = outcomes
    assert outcome.report == "2 of 3 hunks accepted; hunk 2 changed by the user to `sea`; hunk 3 rejected by the user."
    assert [(hunk.state, hunk.new_text) for hunk in outcome.hunks] == [
        ("accepted", ""),
        ("edited", "sea\n"),
        ("rejected", ""),
    ]
    assert outcome.after is not None and outcome.after.text == "A\nb\nsea\nd\ne\n"


async def test_an_edit_of_a_text_that_moved_on_is_rebased_or_refused() -> None:
    scene = Scene(TEXT)
    plan = await scene.plan("a\nB\nc\n")
    scene.type(0, "x\n")
    await scene.workspace.apply(plan)
    assert scene.text == "x\na\nB\nc\n"
    plan = await scene.plan("x\na\nBB\nc\n")
    scene.type("B\n", "hand", over="B")
    with pytest.raises(ToolError, match="was not changed"):
        await scene.workspace.apply(plan)
    assert scene.text == "x\na\nhand\nc\n"


async def test_part_of_an_edit_in_conflict_is_told() -> None:
    scene = Scene("a\nb\nc\nd\ne\n")
    plan = await scene.plan("A\nb\nC\nd\ne\n")
    scene.type("c\n", "sea", over="c")
    outcome = await scene.workspace.apply(plan)
    assert outcome.report == "1 of 2 hunks accepted; hunk 2 not made: the user changed the same lines meanwhile."


async def test_an_empty_new_file_has_nothing_to_review() -> None:
    scene = Scene()
    outcome = await scene.workspace.apply(await scene.plan(""))
    assert scene.disk.files[PATH] == "" and outcome.after is not None


async def test_a_change_to_the_same_text_changes_nothing() -> None:
    scene = Scene(TEXT)
    outcome = await scene.workspace.apply(await scene.plan(TEXT))
    assert outcome.hunks == () and scene.client.applied == []


async def test_an_open_notebook_is_left_alone() -> None:
    scene = Scene('{"cells": []}', opened=False)
    scene.documents.open_notebook(URI)
    with pytest.raises(ToolError, match="open as a notebook"):
        await scene.workspace.apply(await scene.plan("{}"))
    scene.documents.close_notebook(URI)
    await scene.workspace.apply(await scene.plan("{}"))
    assert scene.disk.files[PATH] == "{}"


async def test_cells_of_a_notebook_are_nobodys_file_but_guard_it_while_unsaved() -> None:
    scene = Scene("disk\n", opened=False)
    cell = "vscode-notebook-cell:/home/me/a.py#c1"
    scene.client.open(cell, "cell\n")
    assert (await scene.workspace.read(PATH)).text == "disk\n"
    await scene.workspace.apply(await scene.plan("changed\n"))
    scene.client.type(cell, 0, 0, "x")
    with pytest.raises(ToolError, match="open as a notebook"):
        await scene.workspace.apply(await scene.plan("again\n"))


async def test_without_an_editor_everything_is_on_disk() -> None:
    disk = MemoryDisk({PATH: TEXT})
    editor = Editor(NoClient(), disk)
    workspace: Workspace = editor.workspace(origin=lambda: EditOrigin(session_id="s"), review=lambda: "after")
    before = await workspace.read(PATH)
    scene = Scene(TEXT, opened=False)
    plan: Any = await scene.plan("a\nB\nc\n")
    assert before.text == TEXT
    outcome = await workspace.apply(plan)
    assert disk.files[PATH] == "a\nB\nc\n" and [hunk.state for hunk in outcome.hunks] == ["landed"]
    assert await workspace.save_barrier() == ""


async def test_a_snapshot_of_what_was_there_precedes_every_edit() -> None:  # S3
    scene = Scene()
    await scene.workspace.apply(await scene.plan("one\n"))
    await scene.workspace.apply(await scene.plan("two\n"))
    assert [(path, None if before is None else before.text) for _, path, before in scene.snapshots] == [
        (PATH, None),
        (PATH, "one\n"),
    ]


async def test_searches_go_by_the_unsaved_texts_of_open_files_and_by_no_others() -> None:  # T3, T4
    scene = Scene(TEXT)
    scene.client.open("file:///home/me/b.py", "b\n")
    scene.client.open("untitled:Untitled-1", "x\n")
    scene.client.type("untitled:Untitled-1", 0, 0, "typed ")
    assert scene.workspace.unsaved() == {}
    scene.type(0, "typed\n")
    assert scene.workspace.unsaved() == {PATH: "typed\n" + TEXT}
    scene.documents.save(URI)
    assert scene.workspace.unsaved() == {}
