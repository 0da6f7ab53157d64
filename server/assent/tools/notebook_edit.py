"""NotebookEdit: change, add or remove one cell of a Jupyter notebook."""

import json
import re
from collections.abc import Callable
from typing import Annotated, ClassVar, Literal, cast

from msgspec import Meta

from assent.tools.files.disk_workspace import absolute
from assent.tools.files.read_marks import carry_out, known_text, plan_of
from assent.tools.files.rich_files import cell_id, parse_notebook
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.ids import new_id
from assent.types.permissions import Action
from assent.types.ports import EditPlan


class NotebookEditInput(Input, frozen=True):
    notebook_path: Annotated[str, Meta(description="The .ipynb file.")]
    new_source: Annotated[str, Meta(description="The cell's new text; not needed to delete.")] = ""
    cell_id: Annotated[
        str | None, Meta(description="The cell, as Read names it. For insert: the cell to come after; none = first.")
    ] = None
    cell_type: Annotated[Literal["code", "markdown"] | None, Meta(description="Needed for insert.")] = None
    edit_mode: Literal["replace", "insert", "delete"] = "replace"


class NotebookEdit(Tool[NotebookEditInput]):
    name: ClassVar[str] = "NotebookEdit"
    input_type: ClassVar[type[Input]] = NotebookEditInput
    timeout: ClassVar[float | None] = None  # the user may be reviewing

    def description(self) -> str:
        return (
            "Change one cell of a Jupyter notebook: replace its text, insert a new cell, or delete it. Read the "
            "notebook first; cells are named by the ids it shows. Outputs of a replaced code cell are cleared."
        )

    def title(self, input: NotebookEditInput) -> str:
        return f"{input.edit_mode.capitalize()} a cell of {input.notebook_path}"

    def action(self, input: NotebookEditInput, *, cwd: str) -> Action:
        path = absolute(input.notebook_path, cwd)
        return Action(tool=self.name, input=as_json(input), reads=(path,), writes=(path,))

    async def prepare(self, input: NotebookEditInput, ctx: ToolContext) -> EditPlan:
        path = absolute(input.notebook_path, ctx.cwd)
        if not path.endswith(".ipynb"):
            raise ToolError(f"{path} is not a notebook; use Edit")
        before = await known_text(path, ctx)
        notebook = parse_notebook(before)
        write = _spelling(before.text)
        _change(notebook, input)
        return plan_of(path, before, write(notebook), tool=self.name, ctx=ctx)

    async def call(self, input: NotebookEditInput, ctx: ToolContext) -> ToolOutput:
        if ctx.plan is None:
            raise ToolError("The change was not planned")
        return await carry_out(ctx.plan, ctx, lambda made: _response(input, made, ctx.plan))


def _response(input: NotebookEditInput, made: Json, plan: EditPlan | None) -> Json:
    """With the keys of the tool's input, which scripts know here."""
    said = {"cell_id": input.cell_id, "cell_type": input.cell_type}
    return {
        **made,
        "notebook_path": made["filePath"],
        "new_source": input.new_source,
        "edit_mode": input.edit_mode,
        "original_file": made["originalFile"],
        "updated_file": plan.new_text if plan is not None else "",
        **{key: value for key, value in said.items() if value is not None},
    }


def _change(notebook: Json, input: NotebookEditInput) -> None:
    cells = cast("list[Json]", notebook["cells"])
    at = _index(cells, input.cell_id) if input.cell_id is not None else None
    match input.edit_mode:
        case "insert":
            if input.cell_type is None:
                raise ToolError("insert needs a cell_type: code or markdown")
            cells.insert(0 if at is None else at + 1, _new_cell(notebook, input.cell_type, input.new_source))
        case "delete":
            if at is None:
                raise ToolError("delete needs the cell_id of the cell")
            del cells[at]
        case "replace":
            if at is None:
                raise ToolError("replace needs the cell_id of the cell")
            cell = cells[at]
            cell["source"] = _spelled_like(cell.get("source"), input.new_source)
            if input.cell_type is not None and input.cell_type != cell.get("cell_type"):
                cell["cell_type"] = input.cell_type
                cell.pop("outputs", None)
                cell.pop("execution_count", None)
            if cell.get("cell_type") == "code":
                cell["outputs"] = []
                cell["execution_count"] = None


def _index(cells: list[Json], wanted: str) -> int:
    names = [cell_id(cell, number) for number, cell in enumerate(cells)]
    if wanted in names:
        return names.index(wanted)
    raise ToolError(f"There is no cell {wanted!r}. The cells are: {', '.join(names) or 'none'}")


def _new_cell(notebook: Json, kind: str, source: str) -> Json:
    cell: Json = {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    if (notebook.get("nbformat", 4), notebook.get("nbformat_minor", 0)) >= (4, 5):
        cell["id"] = new_id()
    return dict(sorted(cell.items()))


def _spelled_like(old: object, source: str) -> str | list[str]:
    return source if isinstance(old, str) else source.splitlines(keepends=True)


def _spelling(text: str) -> Callable[[Json], str]:
    """How this notebook writes its JSON, so that an edit changes nothing else: indentation, escapes, last line end."""
    notebook = json.loads(text)
    end = text[len(text.rstrip()) :]
    found = re.match(r"\{(?:\r?\n)([ \t]+)", text)
    indents: list[str | int | None] = [found.group(1)] if found else [None]
    for ascii_only in (False, True):
        for separators in (None, (",", ":"), (", ", ": ")):

            def write(value: Json, a: bool = ascii_only, s: tuple[str, str] | None = separators) -> str:
                written = json.dumps(value, indent=indents[0], ensure_ascii=a, separators=s) + end
                return written.replace("\n", "\r\n") if "\r\n" in text else written

            if write(notebook) == text:
                return write

    def plainly(value: Json) -> str:
        return json.dumps(value, indent=indents[0] or 1, ensure_ascii=False) + end

    return plainly
