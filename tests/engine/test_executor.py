"""The executor alone: what runs beside what, and how each call is answered (T2, L9, L10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import anyio
import pytest

from assent.tools.run.executor import MAX_PARALLEL, SIBLING_FAILED, WITHDRAWN, ToolExecutor
from assent.tools.tool import AnyTool, SessionState, ToolContext, ToolOutput, ToolServices
from assent.types.blocks import Json, text_block
from assent.types.errors import ToolError
from assent.types.messages import ChangedFile, Message, ToolFinished, ToolStarted
from assent.types.permissions import Allow, Verdict
from assent.types.ports import CanUseTool, ToolCall
from enginekit import Change, Crash, Echo, Fail, Gate, Shell
from enginekit.stage import WAIT
from enginekit.tools import Simple, TextInput

DONE = ChangedFile(path="/a.txt", added=2, removed=1)
INTERRUPTED = "someone pulled the plug"


class Unclear(Simple):
    """Cannot say whether it is safe."""

    name: ClassVar[str] = "Unclear"

    def concurrency_safe(self, input: TextInput) -> bool:
        raise ZeroDivisionError("a bug in a tool")


class Empty(Simple):
    name: ClassVar[str] = "Empty"

    async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
        return ToolOutput(content="")


PICTURE: Json = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


class Pictured(Simple):
    name: ClassVar[str] = "Pictured"

    async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
        return ToolOutput(content=[text_block("see"), PICTURE])


class Changing(Simple):
    name: ClassVar[str] = "Changing"

    async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
        return ToolOutput(content="changed", summary="one file", changed=(DONE,))


class Wordless(Simple):
    name: ClassVar[str] = "Wordless"

    async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
        raise ToolError


class Shut(Gate):
    """A gate that nothing may run beside."""

    name: ClassVar[str] = "Shut"

    def concurrency_safe(self, input: TextInput) -> bool:
        return False


def use(name: str, id: str, **input: Any) -> Json:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


async def allow(_call: ToolCall) -> Verdict:
    return Allow(step="tool", reason="a test")


class Bench:
    def __init__(self, *tools: AnyTool, judge: CanUseTool = allow) -> None:
        self.told: list[Message] = []
        self.time = 0.0

        def context(*, tool_use_id: str, progress: Callable[[str], None]) -> ToolContext:
            return ToolContext(
                session_id="s",
                tool_use_id=tool_use_id,
                state=SessionState(cwd="/"),
                services=ToolServices(),
                progress=progress,
            )

        self.executor = ToolExecutor(
            tools={tool.name: tool for tool in tools},
            can_use_tool=judge,
            make_context=context,
            emit=self.told.append,
            clock=self._now,
            parent_tool_use_id="toolu_parent",
            interrupted=lambda: INTERRUPTED,
        )

    def _now(self) -> float:
        self.time += 0.25
        return self.time

    def finished(self) -> list[ToolFinished]:
        return [message for message in self.told if isinstance(message, ToolFinished)]


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(WAIT):
        while not condition():
            await anyio.lowlevel.checkpoint()


async def test_results_come_in_the_order_asked_and_say_how_each_call_ended() -> None:  # T2, L9
    bench = Bench(Echo(), Fail(), Crash(), Empty(), Unclear())
    async with bench.executor as executor:
        executor.add(use("Echo", "a", text="one"))
        executor.add(use("Nothing", "b"))
        executor.add(use("Echo", "c", text=3))
        executor.add(use("Fail", "d", text="two"))
        executor.add(use("Crash", "e", text="three"))
        executor.add(use("Empty", "f"))
        executor.add(use("Unclear", "g"))
        executor.reject(use("Echo", "h", text="cut"), "it was cut")
        results = await executor.finish()
        assert executor.asked == 8
    assert [each.tool_use_id for each in results] == list("abcdefgh")
    ended = {each.tool_use_id: each.ended for each in results}
    assert ended == {
        "a": "done", "b": "invalid", "c": "invalid", "d": "failed", "e": "failed", "f": "done", "g": "invalid", "h": "invalid",
    }  # fmt: skip
    said = {each.tool_use_id: str(each.block["content"]) for each in results}
    assert said["a"] == "Echo: one" and said["f"] == "(no output)" and said["h"] == "it was cut"
    assert said["b"] == "There is no tool named 'Nothing'. The tools are: Crash, Echo, Empty, Fail, Unclear."
    assert "cannot be done: two" in said["d"]
    assert said["e"] == "Crash failed unexpectedly: ZeroDivisionError: a bug in a tool"
    assert said["g"] == "Unclear could not read this input."
    errors = {each.tool_use_id for each in results if each.block.get("is_error")}
    assert errors == set("bcdegh")
    by_id = {each.tool_use_id: each for each in results}
    assert dict(by_id["a"].input) == {"text": "one"} and dict(by_id["b"].input) == {}
    assert by_id["a"].summary == "Echo: one" and by_id["h"].summary == "it was cut"
    assert not any(each.stop_turn or each.interrupted or each.hook_stopped for each in results)


async def test_a_result_of_several_blocks_is_given_as_such_and_its_words_are_not_its_summary() -> None:  # T2
    bench = Bench(Pictured())
    async with bench.executor as executor:
        executor.add(use("Pictured", "a"))
        (result,) = await executor.finish()
    assert result.block["content"] == [{"type": "text", "text": "see"}, PICTURE]
    assert result.summary == ""
    (end,) = bench.finished()
    assert end.content == ({"type": "text", "text": "see"}, PICTURE)


async def test_people_hear_of_each_end_once_with_its_time_and_its_parent() -> None:  # T2
    bench = Bench(Echo(), Fail())
    async with bench.executor as executor:
        executor.add(use("Echo", "a", text="one\nmore"))
        executor.add(use("Fail", "b", text="two"))
        executor.add(use("Nothing", "c"))
        executor.add(use("Echo", "d", text="x" * 300))
        await executor.finish()
    ends = {each.tool_use_id: each for each in bench.finished()}
    assert len(bench.finished()) == 4
    assert ends["d"].summary == "Echo: " + "x" * 194
    assert (ends["a"].tool, ends["a"].is_error, ends["a"].summary) == ("Echo", False, "Echo: one")
    assert ends["a"].content == ({"type": "text", "text": "Echo: one\nmore"},)
    assert ends["b"].is_error and ends["c"].is_error
    assert ends["a"].duration_ms > 0 and ends["a"].duration_ms % 250 == 0
    assert ends["c"].duration_ms == 0
    assert {each.parent_tool_use_id for each in ends.values()} == {"toolu_parent"}


async def test_at_most_ten_safe_calls_run_together_and_the_next_when_one_ends() -> None:  # T2
    gate = Gate()
    bench = Bench(gate)
    async with bench.executor as executor:
        for number in range(MAX_PARALLEL + 2):
            executor.add(use("Gate", f"t{number}", text=str(number)))
        await until(lambda: len(gate.log) >= MAX_PARALLEL)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        assert MAX_PARALLEL == 10 and len(gate.log) == 10
        gate.opened.set()
        assert [each.ended for each in await executor.finish()] == ["done"] * 12


async def test_no_more_than_ten_start_at_once_when_an_unsafe_call_ends() -> None:  # T2
    shut, gate = Shut(), Gate()
    bench = Bench(shut, gate)
    async with bench.executor as executor:
        executor.add(use("Shut", "first"))
        for number in range(MAX_PARALLEL + 2):
            executor.add(use("Gate", f"t{number}", text=str(number)))
        await until(lambda: shut.log)
        shut.opened.set()
        await until(lambda: len(gate.log) >= MAX_PARALLEL)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        assert len(gate.log) == MAX_PARALLEL
        gate.opened.set()
        await executor.finish()


async def test_a_result_carries_the_changed_files_and_a_failure_its_own_words() -> None:  # T2, L9
    bench = Bench(Changing(), Fail(), Wordless(), Crash())
    async with bench.executor as executor:
        executor.add(use("Changing", "a"))
        changed = (await executor.finish())[0]
        for name in ("Fail", "Wordless", "Crash"):
            executor.add(use(name, name, text="it"))
        results = {each.tool_use_id: each for each in await executor.finish()}
    assert (changed.changed, changed.summary) == ((DONE,), "one file")
    told = {each.tool_use_id: each for each in bench.finished()}
    assert told["a"].changed == (DONE,)
    assert results["Fail"].changed == () and results["Fail"].block["content"] == "this cannot be done: it"
    assert results["Wordless"].block["content"] == "Wordless failed."
    assert results["Crash"].block["content"] == "Crash failed unexpectedly: ZeroDivisionError: a bug in a tool"


async def test_an_unsafe_call_waits_for_those_before_it_and_holds_back_those_after_it() -> None:  # T2
    gate, change, echo = Gate(), Change(), Echo()
    bench = Bench(gate, change, echo)
    async with bench.executor as executor:
        executor.add(use("Gate", "a"))
        executor.add(use("Change", "b", text="alone"))
        executor.add(use("Echo", "c", text="after"))
        await until(lambda: gate.log)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        assert change.log == [] and echo.log == [] and not executor.unsafe_started
        gate.opened.set()
        await executor.finish()
        assert executor.unsafe_started
    order = [message.tool_use_id for message in bench.told if isinstance(message, ToolStarted | ToolFinished)]
    assert order == ["a", "a", "b", "b", "c", "c"]


async def test_nothing_starts_beside_an_unsafe_call_that_runs() -> None:  # T2
    shut, echo, change = Shut(), Echo(), Change()
    bench = Bench(shut, echo, change)
    async with bench.executor as executor:
        executor.add(use("Shut", "a"))
        await until(lambda: shut.log)
        executor.add(use("Echo", "b", text="beside"))
        executor.add(use("Change", "c", text="beside"))
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        assert echo.log == [] and change.log == []
        shut.opened.set()
        assert [each.ended for each in await executor.finish()] == ["done"] * 3
    started = [message.tool_use_id for message in bench.told if isinstance(message, ToolStarted)]
    assert started == ["a", "b", "c"]


async def test_a_failed_command_cancels_what_runs_and_what_waits_and_nothing_else_does() -> None:  # T2
    shell, gate, fail = Shell(), Gate(), Fail()
    bench = Bench(shell, gate, fail, Change())
    async with bench.executor as executor:
        executor.add(use("Fail", "a"))
        executor.add(use("Gate", "b"))
        executor.add(use("Bash", "c", text="ls false"))
        executor.add(use("Change", "d", text="never"))
        results = {each.tool_use_id: each for each in await executor.finish()}
    assert results["a"].ended == "failed" and results["c"].ended == "failed"
    assert [results[id].ended for id in "bd"] == ["cancelled", "cancelled"]
    assert [results[id].block["content"] for id in "bd"] == [SIBLING_FAILED, SIBLING_FAILED]
    assert gate.cancelled == [""]
    executor.add(use("Change", "e", text="late"))
    late = executor.results()[-1]
    assert (late.tool_use_id, late.ended, late.block["content"]) == ("e", "cancelled", SIBLING_FAILED)


async def test_calls_of_a_withdrawn_answer_are_void_and_those_never_seen_have_no_end() -> None:  # L10
    gate = Gate()
    bench = Bench(gate, Change())
    async with bench.executor as executor:
        executor.add(use("Gate", "a"))
        executor.add(use("Change", "b"))
        await until(lambda: gate.log)
        await executor.withdraw()
        assert [each.ended for each in executor.results()] == ["cancelled", "cancelled"]
        assert [each.block["content"] for each in executor.results()] == [WITHDRAWN, WITHDRAWN]
    assert [each.tool_use_id for each in bench.finished()] == ["a"]
    assert gate.cancelled == [""]


async def test_leaving_early_ends_every_call_and_answers_each() -> None:  # L9, L14
    gate = Gate()
    bench = Bench(gate, Change())
    with anyio.fail_after(WAIT):
        with pytest.raises(ExceptionGroup):
            async with bench.executor as executor:
                executor.add(use("Gate", "a"))
                executor.add(use("Change", "b"))
                await until(lambda: gate.log)
                raise KeyError("left")
        gate = Gate()
        calm = Bench(gate)
        async with calm.executor as executor:
            executor.add(use("Gate", "a"))
            await until(lambda: gate.log)
        assert gate.cancelled == [""]
    for left in (bench, calm):
        results = left.executor.results()
        assert {each.ended for each in results} == {"cancelled"}
        assert {each.block["content"] for each in results} == {INTERRUPTED}


async def test_a_call_rewritten_to_a_changing_one_waits_for_a_later_one_whose_rewritten_input_is_safe() -> None:  # T2
    shell, gate, late = Shell(), Gate(), anyio.Event()

    async def rewrite(call: ToolCall) -> Verdict:
        if call.action.tool == "Gate":
            return Allow(step="tool", reason="a test", updated_input={"text": "another"})
        await late.wait()
        return Allow(step="tool", reason="a test", updated_input={"text": "rm it"})

    async with Bench(shell, gate, judge=rewrite).executor as executor:
        executor.add(use("Bash", "toolu_1", text="ls"))
        executor.add(use("Gate", "toolu_2", text="one"))
        await until(gate.reached.is_set)
        late.set()
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        assert (gate.log, shell.log) == (["another"], [])
        gate.opened.set()
        await executor.finish()
    assert shell.log == ["rm it"]
