"""Tools answered by the user's own language servers, through the editor (T8)."""

from pathlib import Path
from typing import Any, cast

import pytest

from assent.tools.editor_changes import Rename
from assent.tools.files.text_edits import Lines, apply_edits, edits_by_path, path_of, uri_of
from assent.types.blocks import Json
from assent.types.errors import ToolError
from toolbox import Toolbox


class Editor:
    """Answers by kind; remembers what it was asked."""

    encoding = "utf-16"

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[tuple[str, Json]] = []

    async def query(self, kind: str, params: Json) -> Json:
        assert params.pop("timeoutMs") > 0
        self.asked.append((kind, params))
        answer: Any = self.answers.get(kind, {"status": "noServer", "value": None})
        return cast("Json", answer) if "status" in answer else {"status": "success", "value": answer}


def _text(path: Path) -> str:
    return path.read_text()


def span(line: int, start: int, end: int) -> Json:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


@pytest.fixture
def source(box: Toolbox) -> Path:
    path = box.root / "a.py"
    path.write_text("def one():\n    pass  # 😀 one()\n\n\none()\n")
    return path


@pytest.mark.parametrize(("tool", "kind"), [("Definition", "definition"), ("References", "references")])
async def test_places_come_with_their_line(box: Toolbox, source: Path, tool: str, kind: str) -> None:
    uri = uri_of(str(source))
    box.editor = editor = Editor(
        **{kind: [{"uri": uri, "range": span(0, 4, 7)}, {"targetUri": uri, "targetSelectionRange": span(4, 0, 3)}]}
    )
    assert await box.text(tool, file_path="a.py", line=5, symbol="one") == "a.py:1: def one():\na.py:5: one()"
    assert editor.asked == [(kind, {"uri": uri, "position": {"line": 4, "character": 0}})]


async def test_columns_are_counted_in_utf_16_units(box: Toolbox, source: Path) -> None:
    box.editor = editor = Editor(hover={"markdown": "a function"})
    assert await box.text("Hover", file_path="a.py", line=2, symbol="one") == "a function"
    assert editor.asked[0][1]["position"] == {"line": 1, "character": 15}


@pytest.mark.parametrize(
    ("line", "symbol", "words"), [(9, "one", "has 6 lines only"), (1, "two", "is not on line 1, which reads: def one")]
)
async def test_a_symbol_that_is_not_there_is_told(
    box: Toolbox, source: Path, line: int, symbol: str, words: str
) -> None:
    box.editor = Editor()
    assert words in await box.error("Hover", file_path="a.py", line=line, symbol=symbol)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"status": "noServer", "value": None}, "No language server answers"),
        ({"status": "starting", "value": None}, "still starting"),
        ({"status": "error", "message": "boom"}, "could not answer: boom"),
    ],
)
async def test_an_editor_that_cannot_answer_is_told(box: Toolbox, source: Path, answer: Json, words: str) -> None:
    box.editor = Editor(hover=answer)
    assert words in await box.error("Hover", file_path="a.py", line=1, symbol="one")
    box.editor = None
    assert "No editor is connected" in await box.error("Hover", file_path="a.py", line=1, symbol="one")


async def test_diagnostics_are_told_and_unsettled_ones_as_not_confirmed(box: Toolbox, source: Path) -> None:
    problem = {"range": span(1, 4, 8), "severity": 2, "message": "unused", "source": "lint", "code": "W1"}
    box.editor = Editor(diagnostics={"status": "success", "value": [problem], "settled": False})
    assert await box.text("Diagnostics", file_path="a.py") == (
        "a.py:2:5: warning: unused (lint W1)\n[Not confirmed: the language server may still be working on the latest text]"
    )
    open_files = [{"uri": uri_of(str(source))}, {"uri": "untitled:1"}, {"uri": uri_of(str(box.root / "b.py"))}]
    box.editor = editor = Editor(diagnostics=[problem], openEditors=open_files)
    assert await box.text("Diagnostics") == "a.py:2:5: warning: unused (lint W1)\nb.py:2:5: warning: unused (lint W1)"
    assert [kind for kind, _ in editor.asked] == ["openEditors", "diagnostics", "diagnostics"]
    box.editor = Editor(openEditors=[])
    assert await box.text("Diagnostics") == "No problems."


async def test_symbols_of_a_file_and_of_the_project(box: Toolbox, source: Path) -> None:
    child = {"name": "run", "kind": 6, "range": span(2, 0, 1)}
    box.editor = Editor(symbols=[{"name": "Car", "kind": 5, "range": span(0, 0, 1), "children": [child]}])
    assert await box.text("Symbols", file_path="a.py") == "1: class Car\n  3: method run"
    found = {"name": "one", "kind": 12, "location": {"uri": uri_of(str(source)), "range": span(0, 4, 7)}}
    box.editor = Editor(symbols=[found])
    assert await box.text("Symbols", query="one") == "a.py:1: function one"
    assert "either" in await box.error("Symbols")


async def test_a_rename_becomes_one_plan_for_each_file(box: Toolbox, source: Path) -> None:
    other = box.root / "b.py"
    other.write_text("from a import one\n")
    edit = {
        "documentChanges": [
            {
                "textDocument": {"uri": uri_of(str(source)), "version": 1},
                "edits": [
                    {"range": span(4, 0, 3), "newText": "two"},
                    {"range": span(0, 4, 7), "newText": "two"},
                ],
            },
            {"textDocument": {"uri": uri_of(str(other))}, "edits": [{"range": span(0, 14, 17), "newText": "two"}]},
        ]
    }
    box.editor = editor = Editor(rename=edit)
    tool = box.tools["Rename"]
    assert isinstance(tool, Rename)
    input = tool.parse({"file_path": "a.py", "line": 1, "symbol": "one", "new_name": "two"})
    ctx = box.context()
    ctx.plan = await tool.prepare(input, ctx)
    assert ctx.plan is not None and ctx.plan.path == str(source)
    assert [plan.path for plan in ctx.plan.others] == [str(other)], "every file is judged and reviewed"
    assert _text(source).startswith("def one"), "nothing happens before it is allowed"
    await tool.call(input, ctx)
    assert _text(source) == "def two():\n    pass  # 😀 one()\n\n\ntwo()\n"
    assert _text(other) == "from a import two\n"
    assert editor.asked[0][1]["newName"] == "two"


async def test_a_rename_that_moves_files_or_does_nothing_is_refused(box: Toolbox, source: Path) -> None:
    raw = {"file_path": "a.py", "line": 1, "symbol": "one", "new_name": "two"}
    box.editor = Editor(rename={"documentChanges": [{"kind": "rename", "oldUri": "a", "newUri": "b"}]})
    assert "wants to rename a file" in await box.error("Rename", **raw)
    box.editor = Editor(rename={})
    assert "nothing to change" in await box.error("Rename", **raw)


async def test_formatting_is_an_edit_like_any_other(box: Toolbox, source: Path) -> None:
    box.editor = Editor(format=[{"range": span(1, 0, 4), "newText": "  "}])
    await box.call("Format", file_path="a.py")
    assert _text(source).splitlines()[1].startswith("  pass")


async def test_code_actions_are_listed_and_carried_out(box: Toolbox, source: Path) -> None:
    edit = {"changes": {uri_of(str(source)): [{"range": span(0, 0, 0), "newText": "import os\n"}]}}
    box.editor = editor = Editor(codeActions=[{"title": "Import os", "edit": edit}, {"title": "Run", "command": "x"}])
    assert await box.text("CodeActions", file_path="a.py", line=1) == "Import os\nRun"
    assert editor.asked[0][1]["range"] == span(0, 0, 10)
    await box.call("CodeActions", file_path="a.py", line=1, end_line=2, apply="Import os")
    assert _text(source).startswith("import os\ndef one")
    assert "is a command" in await box.error("CodeActions", file_path="a.py", line=1, apply="Run")
    assert "There are: Import os, Run" in await box.error("CodeActions", file_path="a.py", line=1, apply="?")


async def test_what_the_user_looks_at(box: Toolbox, source: Path) -> None:
    uri = uri_of(str(source))
    box.editor = Editor(
        selection={"uri": uri, "range": span(1, 0, 8), "text": "    pass"},
        openEditors=[{"uri": uri, "active": True, "dirty": True}, {"uri": "untitled:1"}],
    )
    assert await box.text("CurrentSelection") == (
        "a.py, lines 2 to 2:\n    pass\nOpen files:\na.py (active, dirty)\nuntitled:1"
    )
    box.editor = Editor(selection={"status": "success", "value": None}, openEditors=[])
    assert await box.text("CurrentSelection") == "Nothing is selected."


async def test_a_file_is_shown_without_stealing_the_focus(box: Toolbox, source: Path) -> None:
    box.editor = editor = Editor(openFile={})
    await box.call("OpenFile", file_path="a.py", line=3)
    assert editor.asked == [("openFile", {"uri": uri_of(str(source)), "range": span(2, 0, 0)})]
    assert "does not exist" in await box.error("OpenFile", file_path="b.py")


@pytest.mark.parametrize(
    ("text", "edits", "expected"),
    [
        ("a\r\nb\u2028c\rd", [(span(1, 2, 3), "X"), (span(2, 0, 1), "Y")], "a\r\nb\u2028X\rY"),
        ("😀x", [(span(0, 2, 3), "y")], "😀y"),
        ("ab", [(span(0, 1, 1), "1"), (span(0, 1, 1), "2")], "a12b"),
        ("a\n", [(span(1, 0, 0), "end")], "a\nend"),
        ("a", [(span(7, 0, 0), "!")], "a!"),
    ],
)
def test_edits_are_applied_by_position(text: str, edits: list[tuple[Json, str]], expected: str) -> None:
    assert apply_edits(text, [{"range": where, "newText": new} for where, new in edits], "utf-16") == expected


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(ToolError, match="overlap"):
        apply_edits("abc", [{"range": span(0, 0, 2), "newText": ""}, {"range": span(0, 1, 3), "newText": ""}], "utf-16")


def test_lines_and_addresses() -> None:
    lines = Lines("a\nb")
    assert (len(lines), lines[1]) == (2, "b")
    assert path_of(uri_of("/x y/é.py")) == "/x y/é.py"
    with pytest.raises(ToolError):
        path_of("untitled:1")
    assert edits_by_path({"changes": {"file:///a": []}}) == {"/a": []}


@pytest.mark.parametrize(("encoding", "columns"), [("utf-8", (14, 17)), ("utf-16", (11, 14)), ("utf-32", (10, 13))])
async def test_positions_are_asked_and_answered_in_the_encoding_that_was_agreed_on(
    box: Toolbox, encoding: str, columns: tuple[int, int]
) -> None:
    text = 'x = "😀é"; foo()\n'
    (box.root / "u.py").write_text(text)
    start, end = columns
    renamed = {"changes": {uri_of(str(box.root / "u.py")): [{"range": span(0, start, end), "newText": "bar"}]}}
    box.editor = editor = Editor(rename=renamed)
    editor.encoding = encoding
    ctx = box.context()
    raw = {"file_path": "u.py", "line": 1, "symbol": "foo", "new_name": "bar"}
    plan = await box.tools["Rename"].prepare(box.tools["Rename"].parse(raw), ctx)
    assert editor.asked[0][1]["position"] == {"line": 0, "character": start}
    assert plan is not None and plan.new_text == text.replace("foo", "bar")


@pytest.mark.parametrize(
    "value", ["x", [{"uri": "file:///x", "range": 5}], [5], [{"uri": "file:///x", "range": {"start": {}}}]]
)
async def test_an_answer_of_the_wrong_shape_is_told_and_not_stumbled_over(
    box: Toolbox, source: Path, value: Any
) -> None:
    box.editor = Editor(definition={"status": "success", "value": value})
    assert "cannot be understood" in await box.error("Definition", file_path="a.py", line=1, symbol="one")
