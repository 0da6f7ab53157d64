"""Only NEW problems are told: baseline before, matched by source, code, message and line text."""

from typing import Any

import pytest

from assent.editor.diagnostics import FileProblem, Seen, in_words, new_problems, problems
from editor.scene import PATH, URI, Scene
from fakeeditor import PLAIN

TEXT = "import os\nx = 1\ny = 2\n"


def diagnostic(line: int, message: str, **more: Any) -> dict[str, Any]:
    at = {"line": line, "character": 0}
    return {"range": {"start": at, "end": at}, "message": message, "source": "lint", "severity": 2} | more


def seen(items: list[Any], text: str = TEXT) -> Seen:
    return Seen(problems=tuple(problems(items, URI, text)), settled=True)


def test_a_problem_pushed_down_is_not_new() -> None:
    before = seen([diagnostic(0, "unused")])
    after = seen([diagnostic(1, "unused")], "# note\n" + TEXT)
    assert new_problems(before, after) == []


@pytest.mark.parametrize(
    ("after", "new"),
    [
        (diagnostic(0, "unused"), 0),
        (diagnostic(1, "unused"), 1),  # on another line's text
        (diagnostic(0, "unknown"), 1),
        (diagnostic(0, "unused", code="F401"), 1),
        (diagnostic(0, "unused", source="types"), 1),
        (diagnostic(0, "unused", severity=1), 0),  # severity is not what it is
        (diagnostic(0, "-b\n+B", source="assent", code="h123"), 0),  # our own mark
    ],
)
def test_what_makes_a_problem_new(after: dict[str, Any], new: int) -> None:
    assert len(new_problems(seen([diagnostic(0, "unused")]), seen([after]))) == new


def test_a_second_equal_problem_is_one_new() -> None:
    one, two = diagnostic(0, "unused"), diagnostic(0, "unused")
    assert len(new_problems(seen([one]), seen([one, two]))) == 1


@pytest.mark.parametrize(
    "value",
    [
        [diagnostic(0, "m")],
        {"diagnostics": [diagnostic(0, "m")]},
        [{"uri": URI, "diagnostics": [diagnostic(0, "m")]}, {"uri": "file:///z", "diagnostics": [diagnostic(0, "n")]}],
        [diagnostic(0, "m"), "odd", 3, {"range": None}],
        [diagnostic(0, "m"), diagnostic(0, "")],
    ],
)
def test_shapes_clients_may_answer_with(value: Any) -> None:
    assert [problem.message for problem in problems(value, URI, TEXT)] == ["m"]


@pytest.mark.parametrize("value", [None, 3, "x", {}, {"diagnostics": 1}])
def test_answers_that_say_nothing(value: Any) -> None:
    assert problems(value, URI, TEXT) == []


def test_codes_of_all_kinds() -> None:
    codes = [
        problem.code
        for problem in problems([diagnostic(0, "m", code=code) for code in (7, "E1", {"value": "E2"})], URI, TEXT)
    ]
    assert codes == ["7", "E1", "E2"]


def test_problems_in_words_worst_first() -> None:
    fresh = [
        FileProblem(source="types", code="E1", message="no such name", line_text="", line=4, severity=1),
        FileProblem(source="", code="", message="long line", line_text="", line=0, severity=3),
    ]
    assert in_words("/x/a.py", fresh, settled=True) == (
        "New diagnostics after this edit:\na.py:5: error: no such name [types E1]\na.py:1: info: long line"
    )
    assert "not confirmed" in in_words("/x/a.py", fresh, settled=False)
    assert in_words("/x/a.py", [], settled=True) == ""
    assert "not confirmed" in in_words("/x/a.py", [], settled=False)


async def test_an_edit_tells_the_problems_it_brought() -> None:
    scene = Scene(TEXT)
    scene.client.diagnostics = lambda _uri: {
        "status": "success",
        "value": [diagnostic(0, "unused")] + ([diagnostic(1, "bad")] if "oops" in scene.text else []),
        "settled": True,
    }
    outcome = await scene.workspace.apply(await scene.plan("import os\noops\ny = 2\n"))
    assert outcome.diagnostics == "New diagnostics after this edit:\na.py:2: warning: bad [lint]"
    assert [(kind, params["settleMs"]) for kind, params in scene.client.queries] == [
        ("diagnostics", 0),
        ("diagnostics", 300),
    ]


async def test_hunks_accepted_one_by_one_share_one_baseline() -> None:
    scene = Scene("a\nb\nc\n")
    scene.client.diagnostics = lambda _uri: {
        "status": "success",
        "value": [diagnostic(0, "bad A")] if scene.text.startswith("A") else [],
        "settled": True,
    }
    wire = await scene.propose("A\nb\nC\n")
    await scene.decide(wire, "accept", "leave")
    await scene.decide(wire, "leave", "accept")
    outcome = await scene.proposals.edit_outcome(wire["proposalId"])
    assert "bad A" in outcome.diagnostics


async def test_unsettled_servers_are_told_as_not_confirmed() -> None:
    scene = Scene(TEXT)
    scene.client.diagnostics = lambda _uri: {"status": "success", "value": [], "settled": False}
    outcome = await scene.workspace.apply(await scene.plan("x\n"))
    assert "not confirmed" in outcome.diagnostics


@pytest.mark.parametrize("status", ["starting", "noServer", "error"])
async def test_no_answer_no_words(status: str) -> None:
    scene = Scene(TEXT)
    scene.client.diagnostics = lambda _uri: {"status": status, "value": None}
    assert (await scene.workspace.apply(await scene.plan("x\n"))).diagnostics == ""


async def test_a_client_that_cannot_be_asked_is_not() -> None:
    scene = Scene(TEXT, habits=PLAIN)
    assert (await scene.workspace.apply(await scene.plan("x\n"))).diagnostics == ""
    assert scene.client.queries == [] and scene.disk.files[PATH] == TEXT
