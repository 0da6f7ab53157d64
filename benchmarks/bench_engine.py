"""The engine alone: what it adds to a step, a turn and a long session.

The model is in memory and answers at once, so nothing but the engine is measured; `bench_model` has the wire. Reads go
through the real Read tool on real files. The floor is the same answers and the same reads without an engine.
"""

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import orjson

from assent.engine.config import EngineConfig
from assent.engine.query_engine import QueryEngine
from assent.engine.services import Services
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.read import Read
from assent.tools.tool import SessionState, ToolContext, ToolServices
from assent.types import codec
from assent.types.messages import AssistantFinal, AssistantMessage, Message, StreamEvent, ToolStarted
from assent.types.ports import ModelEvent, ModelInfo, ModelRequest
from assent.types.usage import Usage

Row = dict[str, Any]
ROUNDS = 5


class Model:
    """Asks for one Read a step, of a file each, then is done. Remembers when it was asked."""

    def __init__(self, folder: Path, steps: int, *, linger: float = 0.0) -> None:
        self._folder = folder
        self._steps = steps
        self._linger = linger
        self.asked: list[float] = []
        self.cpu: list[float] = []
        self.closed: list[float] = []

    async def __call__(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.asked.append(time.perf_counter())
        self.cpu.append(time.process_time())
        number = len(self.asked)
        message_id = f"m{number}"
        block: dict[str, Any] = {"type": "text", "text": "done"}
        if number <= self._steps:
            path = str(self._folder / f"f{number}.py")
            block = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": path}}
        self.closed.append(time.perf_counter())
        yield AssistantMessage(uuid=f"u{number}", message_id=message_id, content=(block,), model=request.model)
        if self._linger:
            await asyncio.sleep(self._linger)
        usage = Usage(input_tokens=3, output_tokens=20, cache_read_input_tokens=100 * number)
        yield AssistantFinal(message_id=message_id, model=request.model, usage=usage, stop_reason="end_turn")

    @property
    def steps(self) -> list[float]:
        """From the end of each call's block to the next request, the Read included, in milliseconds."""
        return [1000 * (b - a) for a, b in zip(self.closed, self.asked[1:], strict=False)]


class Durable:
    """A transcript on disk, fsynced when asked, as the real one is."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        self._queue: list[bytes] = []
        self.syncs: list[float] = []

    def append(self, message: Message) -> None:
        self._queue.append(orjson.dumps(codec.to_json(message)) + b"\n")

    async def flush(self, *, durable: bool) -> None:
        if self._queue:
            os.write(self._fd, b"".join(self._queue))
            self._queue.clear()
        if durable:
            began = time.perf_counter()
            os.fsync(self._fd)
            self.syncs.append(1000 * (time.perf_counter() - began))


def _engine(model: Model, folder: Path, **config: Any) -> QueryEngine:
    info = ModelInfo(id="m", context_window=10_000_000)
    read = (Read(),)
    services = Services(
        call_model=model, model_info=lambda _model: info, workspace=DiskWorkspace(), tools=lambda: read, **config
    )
    return QueryEngine(EngineConfig(cwd=str(folder), model="m"), services)


async def _turn(engine: QueryEngine) -> list[Message]:
    return [message async for message in engine.submit("read them")]


async def _bare(folder: Path, steps: int) -> list[float]:
    """The same answers and reads with nothing around them."""
    model, read = Model(folder, steps), Read()
    context = ToolContext(
        session_id="s",
        tool_use_id="t",
        state=SessionState(cwd=str(folder)),
        services=ToolServices(workspace=DiskWorkspace()),
    )
    for _ in range(steps + 1):
        async for event in model(ModelRequest(model="m", messages=())):
            if isinstance(event, AssistantMessage) and event.content[0]["type"] == "tool_use":
                await read.call(read.parse(event.content[0]["input"]), context)
    return model.steps


DELTAS = 5_000


async def _deltas(_request: ModelRequest | None) -> AsyncGenerator[ModelEvent, None]:
    """A long answer as the wire gives it: many small pieces, some of them at once."""
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word "}}
    for number in range(DELTAS):
        yield StreamEvent(event=delta, message_id="m", block_uuid="u")
        if number % 50 == 0:
            await asyncio.sleep(0)
    yield AssistantMessage(uuid="u", message_id="m", content=({"type": "text", "text": "x"},), model="m")
    yield AssistantFinal(message_id="m", model="m", usage=Usage(output_tokens=1), stop_reason="end_turn")


async def _streaming() -> tuple[float, float]:
    """CPU per delta in microseconds: through the engine, and without it."""
    ours: list[float] = []
    floor: list[float] = []
    for _ in range(ROUNDS):
        began = time.process_time()
        async for _event in _deltas(None):
            pass
        floor.append(1e6 * (time.process_time() - began) / DELTAS)
        config = EngineConfig(cwd="/", model="m", include_partial_messages=True)
        engine = QueryEngine(config, Services(call_model=_deltas))
        began = time.process_time()
        await _turn(engine)
        ours.append(1e6 * (time.process_time() - began) / DELTAS)
    return statistics.median(ours), statistics.median(floor)


async def _measure(folder: Path) -> list[Row]:
    ours: list[float] = []
    durable: list[float] = []
    syncs: list[float] = []
    floor: list[float] = []
    cpu: list[float] = []
    bare_cpu: list[float] = []
    start: list[float] = []
    for round in range(ROUNDS):
        began = time.process_time()
        model = Model(folder, 19)
        await _turn(_engine(model, folder))
        cpu.append(time.process_time() - began)
        ours += model.steps

        began = time.process_time()
        floor += await _bare(folder, 19)
        bare_cpu.append(time.process_time() - began)

        transcript = Durable(folder / f"transcript{round}.jsonl")
        model = Model(folder, 19)
        await _turn(_engine(model, folder, transcript=transcript))
        durable += model.steps
        syncs += transcript.syncs

        model = Model(folder, 10, linger=0.01)
        messages = _engine(model, folder).submit("go")
        async for message in messages:
            if isinstance(message, ToolStarted):
                start.append(1000 * (time.perf_counter() - model.closed[-1]))
    long = Model(folder, 520)
    await _turn(_engine(long, folder))
    growth = [1000 * (b - a) for a, b in zip(long.cpu, long.cpu[1:], strict=False)]
    early = statistics.median(growth[5:45])
    late = statistics.median(growth[480:520])
    middle = statistics.median
    return [
        _row("a step with a Read, call to next request; floor: the Read", middle(ours), middle(floor), "ms"),
        _row("the same with a durable transcript; floor: the fsync", middle(durable), middle(syncs), "ms"),
        _row("20-step turn, CPU", middle(cpu), middle(bare_cpu), "s"),
        _row("a tool starts after its block closes, as a consumer sees it", middle(start), None, "ms"),
        _row("a step at 500, CPU; floor: at 10", late, early, "ms"),
        _row("a delta through the engine, CPU", *await _streaming(), "µs"),
    ]


async def one_turn(folder: Path, *, steps: int) -> None:
    await _turn(_engine(Model(folder, steps), folder))


async def bare_turn(folder: Path, *, steps: int) -> None:
    await _bare(folder, steps)


def _row(name: str, ours: float, floor: float | None, unit: str) -> Row:
    return {"name": name, "ours": ours, "floor": floor, "unit": unit, "ratio": ours / floor if floor else None}


def main() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(1, 521):
            (folder / f"f{number}.py").write_text(f"value = {number}\n" * 40)
        return asyncio.run(_measure(folder))


if __name__ == "__main__":
    for row in main():
        print(row)
