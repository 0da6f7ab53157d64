"""Edit: replace one piece of text in a file."""

from typing import Annotated, ClassVar

from msgspec import Meta

from assent.tools.files.disk_workspace import absolute
from assent.tools.files.read_marks import carry_out, known_text, plan_of
from assent.tools.files.text_match import replaced
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.errors import ToolError
from assent.types.permissions import Action
from assent.types.ports import EditPlan


class EditInput(Input, frozen=True):
    file_path: Annotated[str, Meta(description="The file to change; relative paths start at the working directory.")]
    old_string: Annotated[str, Meta(description="The text to replace, exactly as it is in the file.")]
    new_string: Annotated[str, Meta(description="The text to put in its place.")]
    replace_all: Annotated[bool, Meta(description="Replace every occurrence instead of exactly one.")] = False


class Edit(Tool[EditInput]):
    name: ClassVar[str] = "Edit"
    input_type: ClassVar[type[Input]] = EditInput
    timeout: ClassVar[float | None] = None  # the user may be reviewing

    def description(self) -> str:
        return (
            "Replace a piece of text in a file.\n"
            "- Read the file first; the edit is refused if you have not, or if the file changed since.\n"
            "- old_string must occur exactly once: copy it with its indentation, without the line numbers that Read "
            "shows, and add neighbouring lines if it is not unique. With replace_all every occurrence is changed.\n"
            "- Write \\n for line ends: the file keeps its own line ends, encoding and byte order mark.\n"
            "- The user may review the change and accept, alter or reject parts of it; the result tells you which."
        )

    def title(self, input: EditInput) -> str:
        return f"Edit {input.file_path}"

    def action(self, input: EditInput, *, cwd: str) -> Action:
        path = absolute(input.file_path, cwd)
        return Action(tool=self.name, input=as_json(input), reads=(path,), writes=(path,))

    async def prepare(self, input: EditInput, ctx: ToolContext) -> EditPlan:
        path = absolute(input.file_path, ctx.cwd)
        before = await known_text(path, ctx)
        changed = await replaced(before.text, input.old_string, input.new_string, every=input.replace_all)
        return plan_of(path, before, changed.text, tool=self.name, ctx=ctx)

    async def call(self, input: EditInput, ctx: ToolContext) -> ToolOutput:
        if ctx.plan is None:
            raise ToolError("The edit was not planned")
        said = {"oldString": input.old_string, "newString": input.new_string, "replaceAll": input.replace_all}
        return await carry_out(ctx.plan, ctx, lambda made: {**made, **said})
