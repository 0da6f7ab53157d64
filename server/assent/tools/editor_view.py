"""What the user is looking at (T8): CurrentSelection, and OpenFile to show them something."""

from typing import Annotated, Any, ClassVar, cast

from msgspec import Meta

from assent.tools.editor_lookups import asked
from assent.tools.files.disk_workspace import absolute
from assent.tools.files.text_edits import path_of, uri_of
from assent.tools.search.ripgrep import shown_path
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.blocks import Json
from assent.types.permissions import Action


class CurrentSelectionInput(Input, frozen=True):
    pass


class CurrentSelection(Tool[CurrentSelectionInput]):
    name: ClassVar[str] = "CurrentSelection"
    read_only: ClassVar[bool] = True
    input_type: ClassVar[type[Input]] = CurrentSelectionInput

    def description(self) -> str:
        return "The text the user has selected in the editor now, and which files are open."

    def concurrency_safe(self, input: CurrentSelectionInput) -> bool:
        return True

    def title(self, input: CurrentSelectionInput) -> str:
        return "Current selection"

    def action(self, input: CurrentSelectionInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), harmless=True)  # the user's own screen

    async def call(self, input: CurrentSelectionInput, ctx: ToolContext) -> ToolOutput:
        selection = cast("Json | None", (await asked(ctx, "selection", {})).get("value"))
        editors = cast("list[Json]", (await asked(ctx, "openEditors", {})).get("value") or [])
        told: list[str] = []
        if selection:
            start, end = selection["range"]["start"], selection["range"]["end"]
            told.append(f"{_name(selection, ctx.cwd)}, lines {start['line'] + 1} to {end['line'] + 1}:")
            told.append(str(selection.get("text") or "(nothing selected: this is where the cursor is)")[:20_000])
        else:
            told.append("Nothing is selected.")
        if editors:
            told.append("Open files:")
            told += (_name(editor, ctx.cwd) + _flags(editor) for editor in editors[:100])
        return ToolOutput(content="\n".join(told), summary=told[0])


class OpenFileInput(Input, frozen=True):
    file_path: Annotated[str, Meta(description="The file.")]
    line: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="A line to show, from 1.")] = None


class OpenFile(Tool[OpenFileInput]):
    name: ClassVar[str] = "OpenFile"
    input_type: ClassVar[type[Input]] = OpenFileInput

    def description(self) -> str:
        return "Show a file to the user in the editor, without taking the focus. Only when they ask to see something."

    def title(self, input: OpenFileInput) -> str:
        return f"Show {input.file_path}"

    def action(self, input: OpenFileInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), reads=(absolute(input.file_path, cwd),), read_only=True)

    async def call(self, input: OpenFileInput, ctx: ToolContext) -> ToolOutput:
        path = absolute(input.file_path, ctx.cwd)
        await ctx.workspace.read(path)  # a missing or unreadable file is told here, in our words
        params: dict[str, Any] = {"uri": uri_of(path)}
        if input.line is not None:
            at = {"line": input.line - 1, "character": 0}
            params["range"] = {"start": at, "end": at}
        await asked(ctx, "openFile", params)
        return ToolOutput(content=f"The user sees {path} now.", summary=path)


def _name(thing: Json, cwd: str) -> str:
    uri = str(thing.get("uri", ""))
    return shown_path(path_of(uri), cwd) if uri.startswith("file:") else uri


def _flags(editor: Json) -> str:
    flags = [flag for flag in ("active", "dirty") if editor.get(flag)]
    return f" ({', '.join(flags)})" if flags else ""
