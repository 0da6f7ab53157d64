"""Sleep: wait for a while without holding a shell."""

from typing import Annotated, ClassVar

import anyio
from msgspec import Meta

from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.permissions import Action

LONGEST = 3600


class SleepInput(Input, frozen=True):
    seconds: Annotated[float, Meta(ge=0, le=LONGEST, description="How long; an hour at most.")]
    reason: Annotated[str, Meta(description="What is being waited for, for the user.")] = ""


class Sleep(Tool[SleepInput]):
    name: ClassVar[str] = "Sleep"
    input_type: ClassVar[type[Input]] = SleepInput
    timeout: ClassVar[float | None] = None

    def description(self) -> str:
        return (
            "Wait some seconds, for something outside to happen. The user can interrupt it. Use it instead of sleep in "
            "Bash; do not use it to wait for background commands or agents: you are told when they end."
        )

    def concurrency_safe(self, input: SleepInput) -> bool:
        return True

    def title(self, input: SleepInput) -> str:
        return f"Wait {input.seconds:g} s" + (f": {input.reason}" if input.reason else "")

    def action(self, input: SleepInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), harmless=True)

    async def call(self, input: SleepInput, ctx: ToolContext) -> ToolOutput:
        await anyio.sleep(input.seconds)
        return ToolOutput(content=f"Waited {input.seconds:g} seconds.", summary=f"{input.seconds:g} s")
