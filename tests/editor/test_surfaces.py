"""Pending hunks for clients without a review of their own."""

from assent.editor.surfaces import hunk_actions, hunk_diagnostics, hunk_lenses
from editor.scene import URI, Scene

TEXT = "a\nb\nc\nd\ne\n"


def at(line: int) -> dict[str, dict[str, int]]:
    return {"start": {"line": line, "character": 1}, "end": {"line": line, "character": 1}}


async def test_pending_hunks_as_information_diagnostics() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose("a\nB\nc\nd\nE\n")
    first, second = hunk_diagnostics(scene.proposals.list())
    assert first == {
        "range": {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}},
        "severity": 3,
        "source": "assent",
        "code": wire["hunks"][0]["hunkId"],
        "message": "Assent proposes (tidy):\n-b\n+B",
        "data": {"proposalId": wire["proposalId"], "hunkId": wire["hunks"][0]["hunkId"]},
    }
    assert second["code"] == wire["hunks"][1]["hunkId"]
    await scene.proposals.resolve(wire["proposalId"], {"all": "accept"})
    assert hunk_diagnostics([scene.proposals.get(wire["proposalId"])]) == []


async def test_conflicts_and_landed_hunks_say_so() -> None:
    scene = Scene(TEXT)
    await scene.propose("a\nB\nc\nd\nE\n")
    scene.type("b", "x")
    assert hunk_diagnostics(scene.proposals.list())[0]["message"].startswith("Assent's proposal conflicts: these lines")
    landed = Scene(TEXT)
    await landed.propose("a\nB\nc\nd\ne\n", review="after")
    assert hunk_diagnostics(landed.proposals.list())[0]["message"].startswith("Assent changed this")


async def test_lenses_on_each_hunk() -> None:
    scene = Scene(TEXT)
    wire = await scene.propose("a\nB\nc\nd\nE\n")
    lenses = hunk_lenses(scene.proposals.list())
    assert [(lens["range"]["start"]["line"], lens["command"]["command"]) for lens in lenses] == [
        (1, "assent.acceptHunk"),
        (1, "assent.rejectHunk"),
        (4, "assent.acceptHunk"),
        (4, "assent.rejectHunk"),
    ]
    assert lenses[0]["command"]["arguments"] == [wire["proposalId"], wire["hunks"][0]["hunkId"]]
    scene.type("b", "x")
    assert hunk_lenses(scene.proposals.list())[0]["command"]["command"] == "assent.rejectHunk"


async def test_actions_for_the_hunk_the_file_and_everything() -> None:
    scene = Scene(TEXT)
    await scene.propose("a\nB\nc\nd\nE\n")
    titles = [action["title"] for action in hunk_actions(scene.proposals.list(), URI, at(1))]
    assert titles == [
        "Assent: Accept hunk at line 2",
        "Assent: Reject hunk at line 2",
        "Assent: Accept all hunks in this file",
        "Assent: Reject all hunks in this file",
        "Assent: Accept all hunks",
        "Assent: Reject all hunks",
    ]
    assert [action["title"] for action in hunk_actions(scene.proposals.list(), URI, at(2))] == titles[2:]
    assert [action["title"] for action in hunk_actions(scene.proposals.list(), "file:///x", at(2))] == titles[4:]
    assert len(hunk_actions(scene.proposals.list(), URI)) == 8
    assert hunk_actions([], URI) == []


async def test_an_insertion_is_found_on_the_line_below_it() -> None:
    scene = Scene(TEXT)
    await scene.propose("a\nnew\nb\nc\nd\ne\n")
    titles = [action["title"] for action in hunk_actions(scene.proposals.list(), URI, at(1))]
    assert "Assent: Accept hunk at line 2" in titles
