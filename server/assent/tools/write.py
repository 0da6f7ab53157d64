"""Write: create a file, or replace all of its text."""

from typing import Annotated, ClassVar

from msgspec import Meta

from assent.tools.files.disk_workspace import absolute
from assent.tools.files.read_marks import carry_out, known_text_or_none, plan_of
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.errors import ToolError
from assent.types.permissions import Action
from assent.types.ports import EditPlan


class WriteInput(Input, frozen=True):
    file_path: Annotated[str, Meta(description="The file to write; missing folders are created.")]
    content: Annotated[str, Meta(description="The whole text of the file.")]


class Write(Tool[WriteInput]):
    name: ClassVar[str] = "Write"
    input_type: ClassVar[type[Input]] = WriteInput
    timeout: ClassVar[float | None] = None  # the user may be reviewing

    def description(self) -> str:
        return (
            "Create a file, or replace the whole text of one.\n"
            "An existing file must have been read first, and not have changed since. To change a part of a file use "
            "Edit: it is safer and easier to review. An existing file keeps its encoding and, when all its lines end "
            "in CRLF, its line ends."
        )

    def title(self, input: WriteInput) -> str:
        return f"Write {input.file_path}"

    def action(self, input: WriteInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), writes=(absolute(input.file_path, cwd),))

    async def prepare(self, input: WriteInput, ctx: ToolContext) -> EditPlan:
        path = absolute(input.file_path, ctx.cwd)
        before = await known_text_or_none(path, ctx)
        content = input.content
        if before is not None and "\r" not in content and _only_crlf(before.text):
            content = content.replace("\n", "\r\n")
        return plan_of(path, before, content, tool=self.name, ctx=ctx)

    async def call(self, input: WriteInput, ctx: ToolContext) -> ToolOutput:
        if ctx.plan is None:
            raise ToolError("The file's new text was not planned")
        kind = "create" if ctx.plan.before is None else "update"
        return await carry_out(ctx.plan, ctx, lambda made: {"type": kind, **made, "content": input.content})


def _only_crlf(text: str) -> bool:
    pairs = text.count("\r\n")
    return pairs > 0 and text.count("\n") == pairs == text.count("\r")
