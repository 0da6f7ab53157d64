"""MultiEdit: several replacements in one file, all or none."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from assent.text.words import counted
from assent.tools.files.disk_workspace import absolute
from assent.tools.files.read_marks import carry_out, known_text, known_text_or_none, plan_of
from assent.tools.files.text_match import replaced
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.errors import ToolError
from assent.types.permissions import Action
from assent.types.ports import EditPlan


class Replacement(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    old_string: str
    new_string: str
    replace_all: bool = False


class MultiEditInput(Input, frozen=True):
    file_path: Annotated[str, Meta(description="The file to change.")]
    edits: Annotated[
        list[Replacement],
        Meta(min_length=1, description="Made in order; each sees the text that those before it left."),
    ]


class MultiEdit(Tool[MultiEditInput]):
    name: ClassVar[str] = "MultiEdit"
    input_type: ClassVar[type[Input]] = MultiEditInput
    timeout: ClassVar[float | None] = None  # the user may be reviewing

    def description(self) -> str:
        return (
            "Make several replacements in one file, as one change: if any of them cannot be made, none is.\n"
            "The rules of Edit hold for each. They are made in order, so a later one must match the text as the "
            "earlier ones left it. To create a file, give a first edit with an empty old_string."
        )

    def title(self, input: MultiEditInput) -> str:
        return f"Edit {input.file_path} ({counted(len(input.edits), 'change')})"

    def action(self, input: MultiEditInput, *, cwd: str) -> Action:
        path = absolute(input.file_path, cwd)
        return Action(tool=self.name, input=as_json(input), reads=(path,), writes=(path,))

    async def prepare(self, input: MultiEditInput, ctx: ToolContext) -> EditPlan:
        path = absolute(input.file_path, ctx.cwd)
        edits = input.edits
        if edits[0].old_string:
            before = await known_text(path, ctx)
            text = before.text
        else:
            before = await known_text_or_none(path, ctx)
            if before is not None and before.text:
                raise ToolError(f"{path} is not empty: the first edit needs an old_string")
            text, edits = edits[0].new_string, edits[1:]
        for number, edit in enumerate(edits, 1 + len(input.edits) - len(edits)):
            try:
                text = (await replaced(text, edit.old_string, edit.new_string, every=edit.replace_all)).text
            except ToolError as error:
                raise ToolError(f"Edit {number} of {len(input.edits)}: {error}. None of the edits was made") from None
        return plan_of(path, before, text, tool=self.name, ctx=ctx)

    async def call(self, input: MultiEditInput, ctx: ToolContext) -> ToolOutput:
        if ctx.plan is None:
            raise ToolError("The edits were not planned")
        edits = msgspec.to_builtins(input.edits)
        return await carry_out(ctx.plan, ctx, lambda made: {**made, "edits": edits})
