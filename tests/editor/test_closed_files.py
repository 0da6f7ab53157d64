"""Proposals on files the editor does not have open, and on files that open, close, move and vanish meanwhile."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest

from assent.editor.documents import Documents
from assent.editor.proposal import EditOrigin
from assent.editor.review_watch import ReviewWatch
from assent.types.errors import ToolError
from assent.types.ports import EditPlan
from editor.scene import PATH, URI, Scene, background, settle

TEXT = "a\nb\nc\nd\ne\n"
THREE = "A\nb\nC\nd\nE\n"


async def test_a_closed_file_has_no_version_and_accept_writes_it() -> None:
    scene = Scene(TEXT, opened=False)
    wire = await scene.propose(THREE)
    assert wire["version"] is None and wire["uri"] == URI
    await scene.decide(wire, "accept", "reject", "edit:EEE\n")
    assert scene.disk.files[PATH] == "A\nb\nc\nd\nEEE\n" and scene.states(wire) == ["accepted", "rejected", "edited"]
    assert len(scene.disk.writes) == 1, "one atomic write"


async def test_it_is_rebased_on_the_disk_before_it_is_written() -> None:
    scene = Scene(TEXT, opened=False)
    wire = await scene.propose(THREE)
    scene.disk.files[PATH] = "new\na\nb\nsea\nd\ne\n"
    outcome = await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})
    assert scene.disk.files[PATH] == "new\nA\nb\nsea\nd\nE\n"
    assert [refusal["hunkId"] for refusal in outcome["refused"]] == [wire["hunks"][1]["hunkId"]]


async def test_a_change_on_disk_is_told_as_an_update() -> None:
    scene = Scene(TEXT, opened=False)
    wire = await scene.propose(THREE)
    scene.disk.files[PATH] = "new\n" + TEXT
    await scene.editor.refresh(PATH)
    assert scene.told() == ["proposed", "updated"]
    assert scene.proposals.get(wire["proposalId"])["hunks"][0]["range"]["start"]["line"] == 1


async def test_a_later_plan_knows_the_file_better_than_we_did() -> None:
    scene = Scene(TEXT, opened=False)
    first = await scene.propose("A\nb\nc\nd\ne\n")
    scene.disk.files[PATH] = "unnoticed\n" + TEXT
    second = await scene.propose("unnoticed\na\nb\nc\nd\nE\n")
    lines = [
        hunk["range"]["start"]["line"]
        for wire in (first, second)
        for hunk in scene.proposals.get(wire["proposalId"])["hunks"]
    ]
    assert lines == [1, 5]


async def test_opening_re_anchors_and_closing_goes_back_to_the_disk() -> None:
    scene = Scene(TEXT, opened=False)
    wire = await scene.propose(THREE)
    scene.client.open(URI, "x\n" + TEXT)
    fresh = scene.proposals.get(wire["proposalId"])
    assert fresh["version"] == 1 and fresh["hunks"][0]["range"]["start"]["line"] == 1
    scene.client.close(URI)
    await scene.editor.refresh(PATH)  # as the watch does with every file that was just closed
    fresh = scene.proposals.get(wire["proposalId"])
    assert fresh["version"] is None and fresh["hunks"][0]["range"]["start"]["line"] == 0
    assert scene.told() == ["proposed", "updated", "updated", "updated"]
    assert scene.states(wire) == ["pending"] * 3


async def test_landed_text_lost_with_an_unsaved_buffer_is_reverted() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE, review="after")
    scene.client.close(URI)
    assert scene.states(wire) == ["reverted"] * 3 and scene.disk.files[PATH] == TEXT


async def test_a_renamed_file_is_followed() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE)
    new = "file:///home/me/b.py"
    scene.client.close(URI)
    scene.disk.files["/home/me/b.py"] = scene.disk.files.pop(PATH)
    scene.client.open(new, TEXT)
    scene.documents.rename(URI, new)
    fresh = scene.proposals.get(wire["proposalId"])
    assert (fresh["uri"], fresh["version"]) == (new, 1)
    await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})
    assert scene.client.text(new) == THREE


@pytest.mark.parametrize("opened", [True, False])
async def test_a_deleted_file_is_a_conflict(opened: bool) -> None:
    scene = Scene(TEXT, opened=opened)
    wire = await scene.propose(THREE)
    if opened:
        scene.client.close(URI)
    del scene.disk.files[PATH]
    scene.documents.delete(URI)
    assert scene.states(wire) == ["conflict"] * 3
    outcome = await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})
    assert {refusal["reason"] for refusal in outcome["refused"]} == {"the file was deleted"}
    assert PATH not in scene.disk.files
    await scene.proposals.resolve(wire["proposalId"], {"all": "reject"})
    assert scene.states(wire) == ["rejected"] * 3


async def test_a_file_found_missing_only_when_it_is_accepted() -> None:
    scene = Scene(TEXT, opened=False)
    wire = await scene.propose(THREE)
    del scene.disk.files[PATH]
    outcome = await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})
    assert scene.states(wire) == ["conflict"] * 3
    assert all("does not exist" in refusal["reason"] for refusal in outcome["refused"])


async def test_a_new_file_is_created_when_it_is_accepted() -> None:
    scene = Scene()
    wire = await scene.propose("hello\n")
    assert wire["creates"] and wire["hunks"][0]["oldText"] == ""
    assert PATH not in scene.disk.files
    await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})
    assert scene.disk.files[PATH] == "hello\n"


async def test_a_file_that_is_not_there_yet_is_not_taken_for_a_deleted_one() -> None:
    scene = Scene(opened=False)
    wire = await scene.propose("new\n")
    await scene.editor.refresh(PATH)  # as the watch does with every file it hears of first
    assert scene.states(wire) == ["pending"] and scene.told() == ["proposed"]
    await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})
    assert scene.disk.files[PATH] == "new\n"


async def test_a_look_at_the_disk_while_a_new_file_is_being_written_does_not_take_it_for_gone() -> None:
    scene = Scene(opened=False)
    scene.disk.held = anyio.Event()
    landed: list[dict[str, Any]] = []

    async def land() -> None:
        landed.append(await scene.propose("new\n", review="after"))

    async def look() -> None:
        await scene.editor.refresh(PATH)

    async with background(land), background(look):
        scene.disk.held.set()
    assert scene.disk.files[PATH] == "new\n" and scene.states(landed[0]) == ["landed"]


async def test_a_restored_new_file_survives_a_first_look_at_the_disk() -> None:
    scene = Scene(opened=False)
    await scene.propose("new\n")
    again = await reload(scene, None)
    await again.editor.refresh(PATH)
    (wire,) = again.proposals.list("s1")
    assert again.states(wire) == ["pending"]


async def test_a_new_file_planned_after_the_old_one_vanished_unnoticed_is_new() -> None:
    scene = Scene(TEXT, opened=False)
    first = await scene.propose(THREE)
    del scene.disk.files[PATH]
    second = await scene.propose("new\n")
    assert scene.states(first) == ["conflict"] * 3 and scene.states(second) == ["pending"]
    await scene.proposals.resolve(second["proposalId"], {"all": "accept"})
    assert scene.disk.files[PATH] == "new\n"


async def test_a_new_file_that_appeared_meanwhile_is_a_conflict() -> None:
    scene = Scene()
    plan = await scene.plan("hello\n")
    scene.client.open(URI, "somebody was here\n")
    wire = scene.proposals.propose(plan, EditOrigin(session_id="s1"))
    assert scene.states(wire) == ["conflict"]
    assert wire["hunks"][0]["why"] == "the file exists by now"


async def test_a_rejected_new_file_never_exists() -> None:
    scene = Scene()
    plan = await scene.plan("hello\n")
    wire = scene.proposals.propose(plan, EditOrigin(session_id="s1"))
    await scene.proposals.resolve(wire["proposalId"], {"all": "reject"})
    outcome = await scene.proposals.edit_outcome(wire["proposalId"])
    assert outcome.after is None and PATH not in scene.disk.files


async def test_a_file_opened_while_its_write_was_being_prepared_changes_in_the_editor() -> None:
    scene = Scene(TEXT, opened=False)
    wire = await scene.propose(THREE)
    read = scene.disk.read

    async def opening(path: str) -> Any:
        found = await read(path)
        if URI not in scene.client.open_documents:
            scene.client.open(URI, TEXT)
        return found

    scene.disk.read = opening
    await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})
    assert scene.client.text(URI) == THREE and scene.disk.writes == []


async def test_a_write_that_fails_is_told_and_changes_nothing() -> None:
    scene = Scene(TEXT, opened=False)
    wire = await scene.propose(THREE)

    async def full(plan: object) -> Any:
        raise ToolError("No space left on device")

    scene.disk.apply = full
    outcome = await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})
    assert {refusal["reason"] for refusal in outcome["refused"]} == {"No space left on device"}
    assert scene.states(wire) == ["conflict"] * 3


# --- another process -------------------------------------------------------------------------------------------------


async def reload(scene: Scene, text: str | None) -> Scene:
    """The session's proposals in a new process, where the file now holds `text`."""
    saved = json.loads(json.dumps(scene.proposals.dump("s1")))
    fresh = Scene(text, opened=False)
    await fresh.proposals.load("s1", saved)
    return fresh


@pytest.mark.parametrize(
    ("now", "states"),
    [
        (TEXT, ["pending"] * 3),
        ("x\ny\n" + TEXT, ["pending"] * 3),
        (TEXT.replace("c", "sea"), ["pending", "conflict", "pending"]),
        ("quite\ndifferent\n", ["conflict"] * 3),
        (None, ["conflict"] * 3),
    ],
)
async def test_proposals_persist_and_are_found_again(now: str | None, states: list[str]) -> None:
    scene = Scene(TEXT)
    wire = await scene.propose(THREE)
    fresh = await reload(scene, now)
    again = fresh.proposals.list("s1")
    assert [proposal["proposalId"] for proposal in again] == [wire["proposalId"]]
    assert fresh.states(wire) == states
    assert [hunk["hunkId"] for hunk in again[0]["hunks"]] == [hunk["hunkId"] for hunk in wire["hunks"]]
    await fresh.proposals.resolve(wire["proposalId"], {"all": "accept"})
    if now is not None and states == ["pending"] * 3:
        assert fresh.disk.files[PATH] == now.replace(TEXT, THREE)


async def test_landed_hunks_can_still_be_rejected_in_another_process() -> None:
    scene = Scene(TEXT, opened=False)
    wire = await scene.propose(THREE, review="after")
    fresh = await reload(scene, "x\n" + THREE)
    await fresh.decide(wire, "reject", "leave", "leave")
    assert fresh.disk.files[PATH] == "x\na\nb\nC\nd\nE\n"


async def test_equal_places_are_told_apart_by_the_lines_around_or_not_at_all() -> None:
    text = "f\n  x\ng\n  x\nh\n"
    scene = Scene(text, opened=False)
    wire = await scene.propose("f\n  x\ng\n  y\nh\n")
    fresh = await reload(scene, "0\n" + text)
    assert fresh.proposals.get(wire["proposalId"])["hunks"][0]["range"]["start"]["line"] == 4
    lost = await reload(scene, "q\n  x\nq\n  x\nq\n")
    assert lost.states(wire) == ["conflict"]


async def test_what_cannot_be_read_is_left_out() -> None:
    scene = Scene(TEXT)
    await scene.proposals.load("s1", [{}, {"hunks": 3}, {"proposalId": "p", "hunks": [{"state": "odd"}]}])
    assert scene.proposals.list() == []


async def test_a_hunk_of_an_insertion_persists_too() -> None:
    scene = Scene("a\nb\n", opened=False)
    wire = await scene.propose("a\nnew\nb\n")
    fresh = await reload(scene, "0\na\nb\n")
    assert fresh.states(wire) == ["pending"]
    await fresh.proposals.resolve(wire["proposalId"], {"all": "accept"})
    assert fresh.disk.files[PATH] == "0\na\nnew\nb\n"


# --- watching --------------------------------------------------------------------------------------------------------


async def test_only_folders_of_followed_files_are_watched() -> None:
    documents = Documents()
    here = str(Path(__file__).parent)
    watched: list[frozenset[str]] = []
    told: list[str] = []

    async def changes(folders: frozenset[str], stop: anyio.Event) -> AsyncGenerator[set[str], None]:
        watched.append(folders)
        yield {f"{here}/one.py", f"{here}/two.py"}
        await stop.wait()

    async def refresh(path: str) -> None:
        told.append(path)

    watch = ReviewWatch(documents, refresh, changes=changes)
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch.run)
            await settle()
            assert watched == []
            documents.follow(f"file://{here}/one.py", "")
            await settle()
            assert watched == [frozenset({here})]
            assert told == [f"{here}/one.py"] * 2, (
                "once when it is first followed; and only followed files are looked at"
            )
            documents.unfollow(f"file://{here}/one.py")
            documents.follow(f"file://{here}/nowhere/three.py", "")
            await settle()
            assert len(watched) == 1, "a folder that is not there is not watched"
            tasks.cancel_scope.cancel()


async def test_a_real_change_on_disk_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("a\n")
    documents = Documents()
    documents.follow(f"file://{file}", "a\n")
    noticed = anyio.Event()

    async def refresh(path: str) -> None:
        assert path == str(file)
        noticed.set()

    async def write_until_noticed() -> None:
        number = 0
        while not noticed.is_set():  # the watch needs a moment to be in place, and says nothing of when it is
            number += 1
            file.write_text(f"{number}\n")
            with anyio.move_on_after(0.3):
                await noticed.wait()

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ReviewWatch(documents, refresh).run)
            await write_until_noticed()
            tasks.cancel_scope.cancel()


async def test_waiting_for_a_closed_file() -> None:
    scene = Scene(TEXT, opened=False)
    wire = await scene.propose(THREE)

    async def wait() -> None:
        await scene.proposals.wait(wire["proposalId"])

    async with background(wait):
        await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})
    assert scene.disk.files[PATH] == THREE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\xef\xbb\xbfa\r\nb\r\nc", b"\xef\xbb\xbfa\r\nB\r\nc"),
        ("caf\u00e9\nb\nc\n".encode("latin-1"), "caf\u00e9\nB\nc\n".encode("latin-1")),
        (b"a\rb\r\nc\n", b"a\rB\r\nc\n"),
    ],
)
async def test_bytes_outside_the_hunk_are_unchanged_on_a_real_disk(tmp_path: Path, old: bytes, new: bytes) -> None:
    from assent.editor.client_edits import NoClient
    from assent.editor.editor import Editor
    from assent.tools.files.disk_workspace import DiskWorkspace

    file = tmp_path / "a.txt"
    file.write_bytes(old)
    editor = Editor(NoClient(), DiskWorkspace())
    workspace = editor.workspace(origin=lambda: EditOrigin(session_id="s"), review=lambda: "before")
    before = await workspace.read(str(file))
    plan = EditPlan(path=str(file), before=before, new_text=before.text.replace("b", "B"), tool="Edit", tool_use_id="u")
    wire = editor.proposals.propose(plan, EditOrigin(session_id="s"))
    await editor.proposals.resolve(wire["proposalId"], {"all": "accept"})
    assert file.read_bytes() == new


@pytest.mark.parametrize("line_end", ["", "\n", "\r\n"])
async def test_a_new_file_in_an_empty_buffer_gets_no_line_of_its_own_at_the_end(line_end: str) -> None:
    scene = Scene(None)
    wire = await scene.propose("one\ntwo\n")
    scene.client.open(URI, line_end)  # Neovim reports the buffer of a file that is not there as one line end
    assert scene.states(wire) == ["pending"]
    await scene.decide(wire, "accept")
    assert scene.text.replace("\r\n", "\n") == "one\ntwo\n"


async def test_a_new_file_whose_empty_buffer_was_closed_again_is_still_created() -> None:
    scene = Scene(None)
    wire = await scene.propose("one\n")
    scene.client.open(URI, "\n")
    scene.client.close(URI)
    assert scene.states(wire) == ["pending"]
    await scene.decide(wire, "accept")
    assert scene.text == "one\n"
