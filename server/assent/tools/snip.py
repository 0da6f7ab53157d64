"""Snip: the model lets go of earlier results it no longer needs (C2).

There only where the engine offers it. What may be snipped, and under which number, the engine tells the model when
the window fills; the transcript keeps everything.
"""

from typing import Annotated, ClassVar

from msgspec import Meta

from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.errors import ToolError
from assent.types.permissions import Action


class SnipInput(Input, frozen=True):
    numbers: Annotated[
        list[int], Meta(min_length=1, max_length=100, description="Numbers of results, from the latest list you got.")
    ]


class Snip(Tool[SnipInput]):
    name: ClassVar[str] = "Snip"
    input_type: ClassVar[type[Input]] = SnipInput

    def description(self) -> str:
        return (
            "Let go of the output of earlier calls that you no longer need, to make room. Use it only with the numbers "
            "of a list you were given when the window was filling. Write down first what you still need of them."
        )

    def concurrency_safe(self, input: SnipInput) -> bool:
        return True

    def title(self, input: SnipInput) -> str:
        return f"Let go of {len(input.numbers)} earlier results"

    def action(self, input: SnipInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), harmless=True)

    async def call(self, input: SnipInput, ctx: ToolContext) -> ToolOutput:
        if ctx.snip is None:
            raise ToolError("Nothing can be snipped here.")
        said = ctx.snip(input.numbers)
        return ToolOutput(content=said, summary=f"{len(input.numbers)} results")
