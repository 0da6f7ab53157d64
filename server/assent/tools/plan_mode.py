"""EnterPlanMode and ExitPlanMode: think first, change nothing until the user approves the plan."""

from typing import Annotated, ClassVar, cast

from msgspec import Meta

from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.permissions import Action

PLAN_FILE = "planFilePath"  # in the input as hooks get it


class EnterPlanModeInput(Input, frozen=True):
    pass


class EnterPlanMode(Tool[EnterPlanModeInput]):
    name: ClassVar[str] = "EnterPlanMode"
    input_type: ClassVar[type[Input]] = EnterPlanModeInput

    def description(self) -> str:
        return (
            "Switch to planning: from then on you may read and search but change nothing, until the user approves a "
            "plan (ExitPlanMode). Use it before work that is large, risky or open to several designs; not for small "
            "and clear tasks."
        )

    def title(self, input: EnterPlanModeInput) -> str:
        return "Plan first"

    def action(self, input: EnterPlanModeInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), harmless=True)  # it only takes rights away

    async def call(self, input: EnterPlanModeInput, ctx: ToolContext) -> ToolOutput:
        state = ctx.state
        if state.mode == "plan":
            return _planning("You are planning already.")
        state.mode_before_plan = state.mode
        state.mode = "plan"
        state.on_change("mode")
        return _planning("Planning now. Explore with read-only tools, ask what you must, then call ExitPlanMode.")


def _planning(message: str) -> ToolOutput:
    return ToolOutput(content=message, summary="planning", response=lambda: {"message": message})


class ExitPlanModeInput(Input, frozen=True):
    plan: Annotated[str, Meta(min_length=1, description="The plan, in Markdown, for the user to approve.")]


class ExitPlanMode(Tool[ExitPlanModeInput]):
    name: ClassVar[str] = "ExitPlanMode"
    input_type: ClassVar[type[Input]] = ExitPlanModeInput

    def description(self) -> str:
        return (
            "Present your plan and ask to begin. Use it in plan mode, when the plan is complete: what changes, in "
            "which files, in which order, how it will be checked. The user approves it, and you may start, or says "
            "what to change. Do not use it to answer questions."
        )

    def parse(self, raw: object) -> ExitPlanModeInput:
        if not isinstance(raw, dict):
            return super().parse(raw)
        return super().parse({key: value for key, value in cast("Json", raw).items() if key != PLAN_FILE})

    def for_hooks(self, input: ExitPlanModeInput, ctx: ToolContext) -> Json:
        """With the file that holds the plan: scripts read it there."""
        path = ctx.spill.write(f"plan-{ctx.tool_use_id}", input.plan) if ctx.spill is not None else None
        return {**as_json(input), **({PLAN_FILE: path} if path is not None else {})}

    def title(self, input: ExitPlanModeInput) -> str:
        return "Approve the plan"

    def action(self, input: ExitPlanModeInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), always_ask="The plan needs your approval")

    async def prepare(self, input: ExitPlanModeInput, ctx: ToolContext) -> None:
        """Show the plan before its approval is asked for."""
        if ctx.state.mode != "plan":
            raise ToolError("You are not in plan mode: just go on with the work")
        ctx.state.plan = input.plan
        ctx.state.on_change("plan")

    async def call(self, input: ExitPlanModeInput, ctx: ToolContext) -> ToolOutput:
        state = ctx.state
        state.mode = state.mode_before_plan or "default"
        state.mode_before_plan = None
        state.on_change("mode")
        return ToolOutput(
            content=f"The user approved the plan. Start now; keep the todo list current.\n\n{input.plan}",
            summary="approved",
            response=lambda: self._response(input, ctx),
        )

    def _response(self, input: ExitPlanModeInput, ctx: ToolContext) -> Json:
        seen = self.for_hooks(input, ctx)
        file = {"filePath": seen[PLAN_FILE]} if PLAN_FILE in seen else {}
        return {"plan": input.plan, "isAgent": False, **file}
