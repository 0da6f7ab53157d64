"""Changes that the user's own language servers compute (T8): Rename, CodeActions, Format.

Nothing is applied by the editor on its own: what the server proposes becomes edit plans like any other, one for each
file, asked for and reviewed the same way. `prepare` asks the server, so that the permission chain sees every file.
"""

from abc import abstractmethod
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, ClassVar, cast

from msgspec import Meta

from assent.text.words import counted
from assent.tools.editor_lookups import FileInput, PlaceInput, asked, encoding_of, place
from assent.tools.files.disk_workspace import absolute
from assent.tools.files.read_marks import lines_changed, make, plan_of, told
from assent.tools.files.text_edits import Lines, apply_edits, column, edits_by_path, understood, uri_of
from assent.tools.tool import Input, InputT, Tool, ToolContext, ToolOutput, as_json
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.messages import ChangedFile
from assent.types.permissions import Action
from assent.types.ports import EditPlan


class RenameInput(Input, frozen=True):
    file_path: Annotated[str, Meta(description="A file where the symbol is.")]
    line: Annotated[int, Meta(ge=1, description="The line, from 1.")]
    symbol: Annotated[str, Meta(min_length=1, description="The name on that line that is meant.")]
    new_name: Annotated[str, Meta(min_length=1, description="What it is to be called.")]


class CodeActionsInput(Input, frozen=True):
    file_path: Annotated[str, Meta(description="The file.")]
    line: Annotated[int, Meta(ge=1, description="The first line, from 1.")]
    end_line: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="The last line.")] = None
    apply: Annotated[str | None, Meta(description="Carry out the action with exactly this title.")] = None


class ComputedChange(Tool[InputT]):
    """A tool whose change is computed by the editor: a plan for one file, and with it those of the others."""

    timeout: ClassVar[float | None] = None  # the user may be reviewing

    @abstractmethod
    async def edits(self, input: InputT, ctx: ToolContext) -> dict[str, list[Json]]:
        """What the language server would change, by path."""

    def action(self, input: InputT, *, cwd: str) -> Action:
        own = absolute(cast("str", getattr(input, "file_path")), cwd)  # noqa: B009 -- every input here has one
        return Action(tool=self.name, input=as_json(input), reads=(own,), writes=(own,))

    async def prepare(self, input: InputT, ctx: ToolContext) -> EditPlan | None:
        _may_be_prepared(absolute(cast("str", getattr(input, "file_path")), ctx.cwd), ctx)  # noqa: B009
        plans: list[EditPlan] = []
        for path, edits in (await self.edits(input, ctx)).items():
            before = await ctx.workspace.read(path)
            with understood():
                after = apply_edits(before.text, edits, encoding_of(ctx))
            if after != before.text:
                plans.append(plan_of(path, before, after, tool=self.name, ctx=ctx))
        if not plans:
            raise ToolError("The language server has nothing to change there")
        return replace(plans[0], others=tuple(plans[1:]))

    async def call(self, input: InputT, ctx: ToolContext) -> ToolOutput:
        if ctx.plan is None:
            raise ToolError("The change was not planned")
        plans = (ctx.plan, *ctx.plan.others)
        reviewed = () if ctx.reviewed is None else (ctx.reviewed, *ctx.reviewed.others)
        words: list[str] = []
        done: list[ChangedFile] = []
        failed = 0
        for plan, outcome in zip_longest(plans, reviewed):
            try:
                outcome = await make(plan, ctx, outcome)
                words.append(told(plan, outcome))
                done += lines_changed(plan, outcome)
            except ToolError as error:
                words.append(f"Not changed: {error}")
                failed += 1
        if failed == len(plans):
            raise ToolError("\n\n".join(words))
        files = counted(len(plans), "file")
        summary = files if len(done) == len(plans) else f"{len(done)} of {files}"
        return ToolOutput(content="\n\n".join(words), summary=summary, changed=tuple(done))


def _may_be_prepared(path: str, ctx: ToolContext) -> None:
    """`prepare` comes before anyone is asked, and its errors quote the file: so only what may be read unasked, or what
    was read already. Raises ToolError."""
    allowed = ctx.services.may_read()
    if allowed is not None and not allowed(path):
        raise ToolError(f"A rule forbids reading {path}")
    real = Path(path).resolve()
    inside = any(real.is_relative_to(Path(root).resolve()) for root in (ctx.cwd, *ctx.roots))
    if not inside and path not in ctx.state.read_files:
        raise ToolError(f"{path} is outside the workspace. Read it first, then change it")


class Rename(ComputedChange[RenameInput]):
    name: ClassVar[str] = "Rename"
    input_type: ClassVar[type[Input]] = RenameInput

    def description(self) -> str:
        return (
            "Rename a symbol everywhere, computed by the user's own language server: safer than editing each place. "
            "The user reviews the change like any other edit."
        )

    def title(self, input: RenameInput) -> str:
        return f"Rename {input.symbol} to {input.new_name}"

    async def edits(self, input: RenameInput, ctx: ToolContext) -> dict[str, list[Json]]:
        named = PlaceInput(file_path=input.file_path, line=input.line, symbol=input.symbol)
        where = await place(named, ctx)
        answer = await asked(ctx, "rename", {**where, "newName": input.new_name})
        with understood():
            return edits_by_path(cast("Json", answer.get("value") or {}))


class Format(ComputedChange[FileInput]):
    name: ClassVar[str] = "Format"
    input_type: ClassVar[type[Input]] = FileInput

    def description(self) -> str:
        return "Format a file with the user's own formatter, as the editor would."

    def title(self, input: FileInput) -> str:
        return f"Format {input.file_path}"

    async def edits(self, input: FileInput, ctx: ToolContext) -> dict[str, list[Json]]:
        path = absolute(input.file_path, ctx.cwd)
        answer = await asked(ctx, "format", {"uri": uri_of(path)})
        return {path: cast("list[Json]", answer.get("value") or [])}


class CodeActions(ComputedChange[CodeActionsInput]):
    name: ClassVar[str] = "CodeActions"
    input_type: ClassVar[type[Input]] = CodeActionsInput

    def description(self) -> str:
        return (
            "What the user's language server offers to do about some lines: quick fixes, imports, refactorings. "
            "Without apply it lists the titles; with apply it carries out one that is an edit."
        )

    def title(self, input: CodeActionsInput) -> str:
        return input.apply or f"Code actions in {input.file_path}"

    def concurrency_safe(self, input: CodeActionsInput) -> bool:
        return input.apply is None

    def action(self, input: CodeActionsInput, *, cwd: str) -> Action:
        if input.apply is not None:
            return super().action(input, cwd=cwd)
        return Action(tool=self.name, input=as_json(input), reads=(absolute(input.file_path, cwd),), read_only=True)

    async def prepare(self, input: CodeActionsInput, ctx: ToolContext) -> EditPlan | None:
        return await super().prepare(input, ctx) if input.apply is not None else None

    async def edits(self, input: CodeActionsInput, ctx: ToolContext) -> dict[str, list[Json]]:
        offered = await self._offered(input, ctx)
        chosen = next((action for action in offered if action.get("title") == input.apply), None)
        if chosen is None:
            raise ToolError(
                f"There is no such action. There are: {', '.join(str(a.get('title')) for a in offered) or 'none'}"
            )
        if not chosen.get("edit"):
            raise ToolError("That action is a command of the language server, not an edit; make the change with Edit")
        with understood():
            return edits_by_path(cast("Json", chosen["edit"]))

    async def call(self, input: CodeActionsInput, ctx: ToolContext) -> ToolOutput:
        if input.apply is not None:
            return await super().call(input, ctx)
        titles = [str(action.get("title")) for action in await self._offered(input, ctx)]
        return ToolOutput(content="\n".join(titles) or "None are offered.", summary=f"{len(titles)} actions")

    async def _offered(self, input: CodeActionsInput, ctx: ToolContext) -> list[Json]:
        path = absolute(input.file_path, ctx.cwd)
        lines = Lines((await ctx.workspace.read(path)).text)
        last = min(max(input.end_line or input.line, input.line), len(lines)) - 1
        end = {"line": last, "character": column(lines[last], len(lines[last]), encoding_of(ctx))}
        span = {"start": {"line": min(input.line - 1, last), "character": 0}, "end": end}
        answer = await asked(ctx, "codeActions", {"uri": uri_of(path), "range": span})
        return cast("list[Json]", answer.get("value") or [])
