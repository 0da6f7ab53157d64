"""Edit, MultiEdit, Write and NotebookEdit: unique matches, forgiving matches, must-read-first, staleness (T3)."""

import json
from typing import Any

import pytest

from assent.tools.files.text_match import replace_text
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.ports import EditOutcome, EditPlan, FileText
from toolbox import Toolbox

from .test_read import notebook


async def _read(box: Toolbox, text: str, name: str = "a.txt") -> None:
    (box.root / name).write_text(text)
    await box.call("Read", file_path=name)


@pytest.mark.parametrize(
    ("tool", "raw"),
    [
        ("Edit", {"old_string": "a", "new_string": "b"}),
        ("MultiEdit", {"edits": [{"old_string": "a", "new_string": "b"}]}),
        ("Write", {"content": "b"}),
    ],
)
async def test_a_file_must_be_read_first_and_not_have_changed_since(box: Toolbox, tool: str, raw: Any) -> None:
    path = box.root / "a.txt"
    path.write_text("a")
    assert "has not been read yet" in await box.error(tool, file_path="a.txt", **raw)
    await box.call("Read", file_path="a.txt")
    path.write_text("a!")
    assert "changed since it was read" in await box.error(tool, file_path="a.txt", **raw)
    assert path.read_text() == "a!"
    await box.call("Read", file_path="a.txt")
    await box.call(tool, file_path="a.txt", **raw)
    assert "b" in path.read_text()


async def test_a_notebook_must_be_read_first_too_and_not_have_changed_since(box: Toolbox) -> None:
    path = box.root / "a.ipynb"
    path.write_text(json.dumps(notebook()))
    change = {"notebook_path": "a.ipynb", "cell_id": "intro", "new_source": "new"}
    assert "has not been read yet" in await box.error("NotebookEdit", **change)
    await box.call("Read", file_path="a.ipynb")
    path.write_text(json.dumps(notebook(), indent=1))
    assert "changed since it was read" in await box.error("NotebookEdit", **change)
    await box.call("Read", file_path="a.ipynb")
    await box.call("NotebookEdit", **change)
    assert json.loads(path.read_text())["cells"][0]["source"] == ["new"]


async def test_an_edit_tells_the_model_the_changed_lines(box: Toolbox) -> None:
    await _read(box, "".join(f"line {n}\n" for n in range(1, 11)))
    assert await box.text("Edit", file_path="a.txt", old_string="line 5\n", new_string="five\nand more\n") == (
        f"Changed {box.root}/a.txt.\nIt now reads, from line 2:\n"
        "     2→line 2\n     3→line 3\n     4→line 4\n     5→five\n     6→and more\n"
        "     7→line 6\n     8→line 7\n     9→line 8"
    )


async def test_a_long_change_is_shown_by_its_ends(box: Toolbox) -> None:
    await _read(box, "start\n")
    text = await box.text("Edit", file_path="a.txt", old_string="start", new_string="\n".join(map(str, range(500))))
    assert text.count("→") == 60
    assert "… 440 lines …" in text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("line", [1, 2, 5, 9, 10])
async def test_the_lines_shown_after_a_change_are_those_of_the_file(box: Toolbox, end: str, line: int) -> None:
    lines = [f"line {n}" for n in range(1, 11)]
    (box.root / "a.txt").write_bytes(end.join(lines).encode())
    await box.call("Read", file_path="a.txt")
    text = await box.text(
        "Edit",
        file_path="a.txt",
        old_string=f"ine {line}" + ("\n" if line == 1 else ""),
        new_string="X" + ("\n" if line == 1 else ""),
        replace_all=False,
    )
    lines[line - 1] = "lX"
    shown = [f"{n:>6}→{lines[n - 1]}" for n in range(max(line - 3, 1), min(line + 3, 10) + 1)]
    assert text.split("\n")[2:] == shown


async def test_two_matches_are_refused_with_their_lines(box: Toolbox) -> None:
    await _read(box, "x = 1\ny = 2\nx = 1\n")
    error = await box.error("Edit", file_path="a.txt", old_string="x = 1", new_string="x = 3")
    assert error.startswith("old_string was found 2 times (lines 1, 3).")
    await box.call("Edit", file_path="a.txt", old_string="x = 1", new_string="x = 3", replace_all=True)
    assert (box.root / "a.txt").read_text() == "x = 3\ny = 2\nx = 3\n"


async def test_no_match_names_the_nearest_line(box: Toolbox) -> None:
    await _read(box, "def one():\n    return 1\n\n\ndef two():\n\treturn  2\n")
    error = await box.error("Edit", file_path="a.txt", old_string="  return 2", new_string="x")
    assert error == "old_string was not found. The nearest line is 6 (its white space differs): \treturn  2"
    error = await box.error("Edit", file_path="a.txt", old_string="zzzzz", new_string="x")
    assert "Nothing in the file resembles" in error


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("say “hi” now", 'say "hi"', 'say "bye"', "say “bye” now"),
        ("it’s", "it's", "it's not", "it’s not"),
        ("it's", "it’s", "is", "is"),
        ("a\r\nb\r\nc\r\n", "a\nb", "a\nx\nb", "a\r\nx\r\nb\r\nc\r\n"),
        ("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"),
        ("a\nb\r\n", "a\r\nb", "a\r\nx", "a\nx\r\n"),
        ("tail", "tail", "tail\nmore", "tail\nmore"),
        ("x.y", "x.y", r"\1$&", r"\1$&"),
        ("aXbXc", "X", "XX", None),
    ],
)
def test_matches_forgive_line_ends_and_quotes(text: str, old: str, new: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(ToolError, match="2 times"):
            replace_text(text, old, new)
    else:
        assert replace_text(text, old, new).text == expected


@pytest.mark.parametrize(("old", "new", "words"), [("a", "a", "the same"), ("", "b", "empty")])
async def test_edits_that_cannot_mean_anything_are_refused(box: Toolbox, old: str, new: str, words: str) -> None:
    await _read(box, "a")
    assert words in await box.error("Edit", file_path="a.txt", old_string=old, new_string=new)


async def test_several_edits_are_made_in_order_and_all_or_none(box: Toolbox) -> None:
    await _read(box, "one two three\n")
    edits = [{"old_string": "one", "new_string": "1"}, {"old_string": "1 two", "new_string": "1 2"}]
    await box.call("MultiEdit", file_path="a.txt", edits=edits)
    assert (box.root / "a.txt").read_text() == "1 2 three\n"
    edits = [{"old_string": "three", "new_string": "3"}, {"old_string": "four", "new_string": "4"}]
    error = await box.error("MultiEdit", file_path="a.txt", edits=edits)
    assert error.startswith("Edit 2 of 2: old_string was not found")
    assert error.endswith("None of the edits was made")
    assert (box.root / "a.txt").read_text() == "1 2 three\n"


async def test_several_edits_can_make_a_file(box: Toolbox) -> None:
    edits = [{"old_string": "", "new_string": "hello you\n"}, {"old_string": "you", "new_string": "there"}]
    assert await box.text("MultiEdit", file_path="new.txt", edits=edits) == f"Created {box.root}/new.txt."
    assert (box.root / "new.txt").read_text() == "hello there\n"
    assert "needs an old_string" in await box.error("MultiEdit", file_path="new.txt", edits=edits)


async def test_a_write_makes_folders_and_counts_as_having_read(box: Toolbox) -> None:
    await box.call("Write", file_path="src/deep/a.py", content="x = 1\n")
    await box.call("Edit", file_path="src/deep/a.py", old_string="1", new_string="2")
    assert (box.root / "src/deep/a.py").read_text() == "x = 2\n"
    assert "nothing to do" in await box.error("Write", file_path="src/deep/a.py", content="x = 2\n")


async def test_what_an_edit_will_touch_is_told_before_it_runs(box: Toolbox) -> None:
    tool = box.tools["Edit"]
    action = tool.action(tool.parse({"file_path": "a.txt", "old_string": "a", "new_string": "b"}), cwd=str(box.root))
    assert (action.reads, action.writes) == ((f"{box.root}/a.txt",), (f"{box.root}/a.txt",))
    assert not action.read_only
    tool = box.tools["Write"]
    action = tool.action(tool.parse({"file_path": "~/b", "content": ""}), cwd=str(box.root))
    assert action.writes[0].startswith("/")


class Reviewed:
    """A workspace whose user accepts, alters or rejects: what an editor does, told by outcome."""

    def __init__(self, text: str, outcome: EditOutcome) -> None:
        self.file = FileText(path="/r/a.txt", text=text, sha256="1")
        self.outcome = outcome
        self.applied: list[EditPlan] = []

    async def read(self, path: str) -> FileText:
        return self.file

    async def apply(self, plan: EditPlan) -> EditOutcome:
        self.applied.append(plan)
        return self.outcome

    async def save_barrier(self) -> str:
        return ""

    def unsaved(self) -> dict[str, str]:
        return {}


async def test_what_the_user_decided_and_new_diagnostics_reach_the_model(box: Toolbox) -> None:
    after = FileText(path="/r/a.txt", text="mine\n", sha256="2", version=4)
    outcome = EditOutcome(path="/r/a.txt", after=after, report="1 of 2 hunks accepted", diagnostics="a.txt:1: bad")
    box.workspace = reviewed = Reviewed("one\n", outcome)
    await box.call("Read", file_path="/r/a.txt")
    ctx = box.context(reviewed=outcome)
    output = await box.call_in(ctx, "Edit", {"file_path": "/r/a.txt", "old_string": "one", "new_string": "two"})
    assert output.content == (
        "1 of 2 hunks accepted\nChanged /r/a.txt.\nIt now reads, from line 1:\n     1→mine\na.txt:1: bad"
    )
    assert output.summary == "1 of 2 hunks accepted"
    assert reviewed.applied == []  # it has landed already, as far as it was accepted
    mark = box.state.read_files["/r/a.txt"]
    assert (mark.sha256, mark.version) == ("2", 4)


async def test_a_rejected_edit_says_that_nothing_changed(box: Toolbox) -> None:
    box.workspace = reviewed = Reviewed("one\n", EditOutcome(path="/r/a.txt", after=None, report="rejected: not now"))
    await box.call("Read", file_path="/r/a.txt")
    text = await box.text("Edit", file_path="/r/a.txt", old_string="one", new_string="two")
    assert text == "rejected: not now\n/r/a.txt was not changed."
    reviewed.outcome = EditOutcome(path="/r/a.txt", after=reviewed.file)
    text = await box.text("Edit", file_path="/r/a.txt", old_string="one", new_string="two")
    assert text == "/r/a.txt was not changed."


async def test_a_notebook_cell_is_replaced_inserted_and_deleted(box: Toolbox) -> None:
    path = box.root / "n.ipynb"
    path.write_text(json.dumps(notebook(), indent=1) + "\n")
    await box.call("Read", file_path="n.ipynb")
    await box.call("NotebookEdit", notebook_path="n.ipynb", cell_id="calc", new_source="print(2)\nprint(3)")
    cells = json.loads(path.read_text())["cells"]
    assert cells[1] == {
        "cell_type": "code",
        "execution_count": None,
        "id": "calc",
        "metadata": {},
        "outputs": [],
        "source": ["print(2)\n", "print(3)"],
    }
    await box.call(
        "NotebookEdit", notebook_path="n.ipynb", cell_id="intro", new_source="x", cell_type="code", edit_mode="insert"
    )
    await box.call("NotebookEdit", notebook_path="n.ipynb", cell_id="intro", edit_mode="delete")
    cells = json.loads(path.read_text())["cells"]
    assert [cell["source"] for cell in cells] == [["x"], ["print(2)\n", "print(3)"]]
    assert len(cells[0]["id"]) == 12
    await box.call("NotebookEdit", notebook_path="n.ipynb", cell_id="calc", new_source="# hi", cell_type="markdown")
    assert json.loads(path.read_text())["cells"][1] == {
        "cell_type": "markdown",
        "id": "calc",
        "metadata": {},
        "source": ["# hi"],
    }


@pytest.mark.parametrize(
    "spelling",
    [
        {"indent": 1, "ensure_ascii": False},
        {"indent": 2},
        {"separators": (",", ":"), "ensure_ascii": False},
        {"indent": 4, "line_end": "\r\n"},
        {"indent": "\t", "last": "\n"},
    ],
)
async def test_a_notebook_keeps_its_own_spelling_outside_the_cell(box: Toolbox, spelling: Json) -> None:
    def spelled(value: Json) -> str:
        options = {key: option for key, option in spelling.items() if key not in ("line_end", "last")}
        written = json.dumps(value, **options) + spelling.get("last", "")
        return written.replace("\n", spelling.get("line_end", "\n"))

    before = notebook(metadata={"note": "é→"})
    before["cells"][0]["source"] = ["old"]
    (box.root / "n.ipynb").write_bytes(spelled(before).encode())
    await box.call("Read", file_path="n.ipynb")
    await box.call("NotebookEdit", notebook_path="n.ipynb", cell_id="intro", new_source="new")
    before["cells"][0]["source"] = ["new"]
    assert (box.root / "n.ipynb").read_bytes() == spelled(before).encode()


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"cell_id": "nope", "new_source": "x"}, "There is no cell 'nope'. The cells are: intro, calc"),
        ({"new_source": "x"}, "replace needs the cell_id"),
        ({"edit_mode": "delete"}, "delete needs the cell_id"),
        ({"edit_mode": "insert", "new_source": "x"}, "insert needs a cell_type"),
    ],
)
async def test_a_notebook_edit_that_cannot_be_made_says_why(box: Toolbox, raw: Any, words: str) -> None:
    (box.root / "n.ipynb").write_text(json.dumps(notebook()))
    await box.call("Read", file_path="n.ipynb")
    assert words in await box.error("NotebookEdit", notebook_path="n.ipynb", **raw)
