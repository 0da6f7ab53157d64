"""Tools run while the model still talks (T2), shown in virtual time: no clock of this machine is involved."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any, ClassVar

import anyio
import pytest

from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.blocks import Json, text_block
from assent.types.messages import AssistantFinal, AssistantMessage, Message, ToolFinished, ToolStarted, UserMessage
from assent.types.permissions import Action, Allow, Verdict
from assent.types.ports import Elicitation, ElicitationAnswer, ModelEvent, ModelRequest, ToolCall
from assent.types.usage import Usage
from enginekit import make_engine


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer whenever nothing else is to do."""

    def __init__(self) -> None:
        super().__init__(_Jumping(self))
        self.elapsed = 0.0

    def time(self) -> float:
        return self.elapsed


class _Jumping(selectors.SelectSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        if timeout:
            self._loop.elapsed += timeout
        return super().select(0)


def in_virtual_time(main: Callable[[], Awaitable[None]]) -> None:
    loop = VirtualLoop()
    try:
        loop.run_until_complete(asyncio.wait_for(main(), 100_000))
    finally:
        loop.close()


class WaitInput(Input, frozen=True):
    name: str
    seconds: float = 1.0
    safe: bool = True
    fails: bool = False


class Wait(Tool[WaitInput]):
    name: ClassVar[str] = "Wait"
    input_type: ClassVar[type[Input]] = WaitInput
    timeout: ClassVar[float | None] = 30.0

    def __init__(self) -> None:
        self.spans: dict[str, tuple[float, float]] = {}

    def description(self) -> str:
        return "waits"

    def concurrency_safe(self, input: WaitInput) -> bool:
        return input.safe

    def action(self, input: WaitInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input))

    async def call(self, input: WaitInput, ctx: ToolContext) -> ToolOutput:
        began = anyio.current_time()
        try:
            await anyio.sleep(input.seconds)
        finally:
            self.spans[input.name] = (began, anyio.current_time())
        return ToolOutput(content=input.name, is_error=input.fails)


class Bash(Wait):
    name: ClassVar[str] = "Bash"


class Ask(Wait):
    name: ClassVar[str] = "Ask"
    timeout: ClassVar[float | None] = 5.0

    async def call(self, input: WaitInput, ctx: ToolContext) -> ToolOutput:
        assert ctx.elicit is not None
        await anyio.sleep(2)
        answer = await ctx.elicit(Elicitation(message="well?"))
        await anyio.sleep(input.seconds)
        return ToolOutput(content=answer.action)


Spoken = tuple[float, Json]
"""A block, and how many seconds the model takes to say it."""


class Talking:
    """A model that speaks at a pace: each answer is blocks with the time each takes."""

    def __init__(self, *answers: Sequence[Spoken]) -> None:
        self._answers = list(answers)
        self.ended: list[float] = []

    async def __call__(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        number = len(self.ended)
        blocks = self._answers.pop(0) if self._answers else [(0.0, text_block("done"))]
        for at, (seconds, block) in enumerate(blocks):
            await anyio.sleep(seconds)
            yield AssistantMessage(uuid=f"u{number}{at}", message_id=f"m{number}", content=(block,), model="m")
        self.ended.append(anyio.current_time())
        yield AssistantFinal(message_id=f"m{number}", model="m", usage=Usage(output_tokens=1), stop_reason="end_turn")


def call(name: str, tool: str = "Wait", **input: Any) -> Json:
    return {"type": "tool_use", "id": name, "name": tool, "input": {"name": name, **input}}


async def play(model: Talking, *tools: Tool[Any], **config: Any) -> list[Message]:
    engine = make_engine(call_model=model, clock=anyio.current_time, cwd="/", model="m", tools=tools, **config)
    return [message async for message in engine.submit("go")]


def test_safe_calls_start_while_the_model_still_talks_and_run_together() -> None:  # T2
    async def main() -> None:
        wait = Wait()
        model = Talking([(1, call("a", seconds=5)), (1, call("b", seconds=5)), (10, text_block("and so on"))])
        await play(model, wait)
        assert wait.spans == {"a": (1, 6), "b": (2, 7)}
        assert model.ended[0] == 12  # both were done long before message_stop
        assert model.ended[1] == 12  # and the next call did not wait

    in_virtual_time(main)


def test_unsafe_calls_run_alone_and_in_order() -> None:  # T2
    async def main() -> None:
        wait = Wait()
        model = Talking(
            [
                (0, call("read 1", seconds=3)),
                (0, call("write 1", seconds=2, safe=False)),
                (0, call("write 2", seconds=2, safe=False)),
                (0, call("read 2", seconds=4)),
                (0, call("read 3", seconds=1)),
            ]
        )
        await play(model, wait)
        assert wait.spans == {
            "read 1": (0, 3),
            "write 1": (3, 5),
            "write 2": (5, 7),
            "read 2": (7, 11),
            "read 3": (7, 8),
        }

    in_virtual_time(main)


def test_results_come_back_in_the_order_asked_however_long_each_took() -> None:  # T2
    async def main() -> None:
        model = Talking([(0, call("slow", seconds=9)), (0, call("quick", seconds=1))])
        messages = await play(model, Wait())
        finished = [m.tool_use_id for m in messages if isinstance(m, ToolFinished)]
        (results,) = [m for m in messages if isinstance(m, UserMessage)]
        assert finished == ["quick", "slow"]
        assert [block["tool_use_id"] for block in results.content] == ["slow", "quick"]

    in_virtual_time(main)


def test_a_failed_bash_cancels_running_and_queued_siblings() -> None:  # T2
    async def main() -> None:
        bash, wait = Bash(), Wait()
        model = Talking(
            [
                (0, call("running", seconds=60)),
                (0, call("bad", "Bash", seconds=2, fails=True)),
                (0, call("queued", "Bash", seconds=5, safe=False)),
            ]
        )
        messages = await play(model, bash, wait)
        (results,) = [m for m in messages if isinstance(m, UserMessage)]
        assert {block["tool_use_id"]: str(block["content"])[:9] for block in results.content} == {
            "running": "Cancelled",
            "bad": "bad",
            "queued": "Cancelled",
        }
        assert wait.spans == {"running": (0, 2)}
        assert "queued" not in bash.spans

    in_virtual_time(main)


def test_a_read_that_fails_cancels_nothing() -> None:  # T2
    async def main() -> None:
        wait = Wait()
        model = Talking([(0, call("bad", seconds=1, fails=True)), (0, call("good", seconds=5))])
        messages = await play(model, wait)
        (results,) = [m for m in messages if isinstance(m, UserMessage)]
        assert [bool(block.get("is_error")) for block in results.content] == [True, False]

    in_virtual_time(main)


def test_a_call_times_out_and_says_so() -> None:  # T1, L9
    async def main() -> None:
        model = Talking([(0, call("for ever", seconds=100))])
        messages = await play(model, Wait())
        (results,) = [m for m in messages if isinstance(m, UserMessage)]
        assert results.content[0]["content"] == "Wait timed out after 30 s."
        assert results.content[0]["is_error"] is True
        assert anyio.current_time() == 30

    in_virtual_time(main)


@pytest.mark.parametrize(("after", "outcome"), [(2.0, "accept"), (4.0, "Ask timed out after 5 s.")])
def test_the_clock_of_a_timeout_stands_still_while_a_person_is_asked(after: float, outcome: str) -> None:
    async def main() -> None:
        async def slow_person(_question: Elicitation) -> ElicitationAnswer:
            await anyio.sleep(600)
            return ElicitationAnswer(action="accept")

        model = Talking([(0, call("q", "Ask", seconds=after))])
        messages = await play(model, Ask(), handle_elicitation=slow_person)
        (results,) = [m for m in messages if isinstance(m, UserMessage)]
        assert results.content[0]["content"] == outcome

    in_virtual_time(main)


def test_the_time_a_permission_is_waited_for_does_not_count_either() -> None:
    async def main() -> None:
        async def slow_person(_call: ToolCall) -> Verdict:
            await anyio.sleep(3_600)
            return Allow(step="rules", reason="after lunch")

        messages = await play(Talking([(0, call("x", seconds=1))]), Wait(), can_use_tool=slow_person)
        assert [m.is_error for m in messages if isinstance(m, ToolFinished)] == [False]
        assert [m.tool_use_id for m in messages if isinstance(m, ToolStarted)] == ["x"]

    in_virtual_time(main)
