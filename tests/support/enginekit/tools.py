"""Small tools with one behaviour each. They touch nothing; what they did is on the object."""

from __future__ import annotations

from typing import ClassVar

import anyio

from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.errors import ToolError
from assent.types.permissions import Action


class TextInput(Input, frozen=True):
    text: str = ""


class Simple(Tool[TextInput]):
    input_type: ClassVar[type[Input]] = TextInput
    safe: ClassVar[bool] = True

    def __init__(self) -> None:
        self.log: list[str] = []

    def description(self) -> str:
        return f"{self.name}, for tests"

    def concurrency_safe(self, input: TextInput) -> bool:
        return self.safe

    def action(self, input: TextInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), read_only=self.safe)

    def title(self, input: TextInput) -> str:
        return f"{self.name} {input.text}"

    async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
        self.log.append(input.text)
        return ToolOutput(content=f"{self.name}: {input.text}")


class Echo(Simple):
    name: ClassVar[str] = "Echo"
    read_only: ClassVar[bool] = True


class Change(Simple):
    """Unsafe: runs alone, and once started its answer cannot be taken back."""

    name: ClassVar[str] = "Change"
    safe: ClassVar[bool] = False


class Reader(Simple):
    """Named like Read, so that its results can be cleared; `size` characters each, all different."""

    name: ClassVar[str] = "Read"
    read_only: ClassVar[bool] = True

    def __init__(self, size: int = 100) -> None:
        super().__init__()
        self.size = size

    async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
        self.log.append(input.text)
        words = f"{input.text} line of a file. "
        return ToolOutput(content=(words * (self.size // len(words) + 1))[: self.size])


class Long(Simple):
    """A result over its cap."""

    name: ClassVar[str] = "Long"
    max_result_chars: ClassVar[int] = 5_000

    async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
        return ToolOutput(content="\n".join(f"line {number}" for number in range(5_000)))


class Fail(Simple):
    name: ClassVar[str] = "Fail"

    async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
        raise ToolError(f"this cannot be done: {input.text}")


class Crash(Simple):
    name: ClassVar[str] = "Crash"

    async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
        raise ZeroDivisionError("a bug in a tool")


class Shell(Simple):
    """Named Bash: `false` fails, a text that begins with `ls` is safe, `wait` waits for its gate."""

    name: ClassVar[str] = "Bash"

    def __init__(self) -> None:
        super().__init__()
        self.gate = anyio.Event()

    def concurrency_safe(self, input: TextInput) -> bool:
        return input.text.startswith("ls")

    async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
        self.log.append(input.text)
        if "wait" in input.text:
            await self.gate.wait()
        return ToolOutput(content=f"ran {input.text}", is_error="false" in input.text)


class Gate(Simple):
    """Stops in the middle until the test opens it. `cancelled` says who was stopped for good."""

    name: ClassVar[str] = "Gate"

    def __init__(self, *, safe: bool = True) -> None:
        super().__init__()
        self._safe = safe
        self.reached = anyio.Event()
        self.opened = anyio.Event()
        self.cancelled: list[str] = []

    def concurrency_safe(self, input: TextInput) -> bool:
        return self._safe

    async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
        self.log.append(input.text)
        ctx.progress(f"waiting {input.text}")
        self.reached.set()
        try:
            await self.opened.wait()
        except BaseException:
            self.cancelled.append(input.text)
            raise
        return ToolOutput(content="opened")
