"""The model layer against its floor: the bare library doing only that step. Run alone, or assembled by `make bench`."""

import asyncio
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import orjson

from assent.model import catalog
from assent.model.client import ModelSettings, make_call_model
from assent.model.http_transport import Endpoint
from assent.model.requests import RequestBuilder
from assent.model.streaming.sse import SseDecoder
from assent.model.streaming.stream import StreamedMessage
from assent.types.blocks import Json
from assent.types.messages import AssistantMessage, ConversationMessage, UserMessage
from assent.types.ports import ModelRequest

MODEL = "claude-opus-5-5"
DELTAS = 2_000
ROUNDS = 7
STEPS = 20

Row = dict[str, Any]


def main() -> list[Row]:
    return [*_decoding(), *asyncio.run(_streaming()), *_building()]


def _row(name: str, ours: float, floor: float, unit: str) -> Row:
    return {
        "name": name,
        "ours": round(ours, 2),
        "floor": round(floor, 2),
        "unit": unit,
        "ratio": round(ours / floor, 2),
    }


def _interleaved(*work: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """Median CPU seconds of each, taken in turn so that a noisy machine is noisy for all."""
    taken: list[list[float]] = [[] for _ in work]
    for _ in range(rounds):
        for times, each in zip(taken, work, strict=True):
            gc.collect()
            began = time.process_time()
            each()
            times.append(time.process_time() - began)
    return [statistics.median(times) for times in taken]


# --- decoding --------------------------------------------------------------------------------------------------------


def _decoding() -> list[Row]:
    mine, bare = _interleaved(*decoding())
    return [_row("decode one delta, in memory", mine / DELTAS * 1e6, bare / DELTAS * 1e6, "µs CPU")]


def decoding() -> tuple[Callable[[], int], Callable[[], int]]:
    """Bytes to messages in memory, in chunks such as a fast connection delivers: ours, and the floor."""
    data = b"".join(_frames())
    chunks = [data[at : at + 16_384] for at in range(0, len(data), 16_384)]
    info = catalog.info(MODEL)

    def ours() -> int:
        decoder, answer, count = SseDecoder(), StreamedMessage(info, new_id=lambda: "b", now=time.time), 0
        for chunk in chunks:
            for event in decoder.feed(chunk):
                count += len(answer.take(event))
        return count

    def floor() -> int:
        rest, count = b"", 0
        for chunk in chunks:
            *frames, rest = (rest + chunk).split(b"\n\n")
            for frame in frames:
                orjson.loads(frame[frame.index(b"\ndata: ") + 7 :])
                count += 1
        return count

    return ours, floor


def _frames() -> list[bytes]:
    start: Json = {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}}
    block: Json = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    delta: Json = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a word or "}}
    end: list[Json] = [
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    return [
        b"event: " + event["type"].encode() + b"\ndata: " + orjson.dumps(event) + b"\n\n"
        for event in [start, block, *[delta] * DELTAS, *end]
    ]


# --- streaming over HTTP ---------------------------------------------------------------------------------------------


async def _streaming() -> list[Row]:
    """The same through real HTTP, from a fake in another process: our client, and the SDK's raw bytes with orjson."""
    process, url = _start_fake({"blocks": [{"repeat": "a word or ", "times": DELTAS}]})
    try:
        client = make_call_model(
            ModelSettings(endpoint=Endpoint(env={"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "test"}))
        )
        request = ModelRequest(
            model=MODEL, messages=(UserMessage(uuid="u", content=({"type": "text", "text": "hi"},)),)
        )

        async def ours() -> None:
            async with aclosing(client(request)) as events:
                async for _ in events:
                    pass

        floor = await _sdk_floor(url)
        cpu_ours, cpu_floor, first_ours, first_floor = await _timed(ours, floor)
        await client.aclose()
    finally:
        process.kill()
        process.wait()
    return [
        _row("stream one delta over HTTP", cpu_ours / DELTAS * 1e6, cpu_floor / DELTAS * 1e6, "µs CPU"),
        _row("whole answer of 2,000 deltas", first_ours * 1e3, first_floor * 1e3, "ms"),
    ]


async def _sdk_floor(url: str) -> Callable[[], Awaitable[None]]:
    import anthropic
    import httpx2

    sdk = anthropic.AsyncAnthropic(base_url=url, api_key="test", max_retries=0, open_telemetry=False)
    body = orjson.dumps(
        {"model": MODEL, "max_tokens": 8000, "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    )

    async def floor() -> None:
        headers = {"content-type": "application/json"}
        response = await sdk.post(
            "/v1/messages", cast_to=httpx2.Response, content=body, options={"headers": headers}, stream=True
        )
        rest = b""
        async for chunk in _raw(response):
            *frames, rest = (rest + chunk).split(b"\n\n")
            for frame in frames:
                orjson.loads(frame[frame.index(b"\ndata: ") + 7 :])

    return floor


async def _raw(response: Any) -> AsyncGenerator[bytes, None]:
    async for chunk in response.aiter_raw():
        yield chunk


async def _timed(*work: Callable[[], Awaitable[None]]) -> list[float]:
    cpu: list[list[float]] = [[] for _ in work]
    wall: list[list[float]] = [[] for _ in work]
    for _ in range(ROUNDS):
        for at, each in enumerate(work):
            gc.collect()
            began, clock = time.process_time(), time.perf_counter()
            await each()
            cpu[at].append(time.process_time() - began)
            wall[at].append(time.perf_counter() - clock)
    return [statistics.median(times) for times in [*cpu, *wall]]


def _start_fake(answer: Json) -> tuple["subprocess.Popen[str]", str]:
    tests = Path(__file__).parents[1] / "tests" / "support"
    with tempfile.NamedTemporaryFile(suffix=".json") as script:
        script.write(orjson.dumps([answer]))
        script.flush()
        process = subprocess.Popen(
            [sys.executable, "-m", "fakeapi", "--script", script.name, "--loop"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(tests)},
        )
        assert process.stdout is not None
        return process, process.stdout.readline().strip()


# --- building requests -----------------------------------------------------------------------------------------------


def _building() -> list[Row]:
    """One request at step 10 and at step 500 of a turn; the floor of the latter is orjson on the same object."""
    early, late = _history(10 + STEPS // 2), _history(500 + STEPS // 2)
    tools = tuple({"name": f"Tool{n}", "description": "d" * 600, "input_schema": {"type": "object"}} for n in range(20))
    builder, info = RequestBuilder(), catalog.info(MODEL)

    def request(history: list[ConversationMessage]) -> ModelRequest:
        return ModelRequest(model=MODEL, messages=tuple(history), tools=tools, system=("s" * 8_000,))

    def step(history: list[ConversationMessage]) -> Callable[[], object]:
        """Twenty requests, each three messages longer than the one before, as a turn makes them."""
        growing = [request(history[: len(history) - 3 * back]) for back in range(STEPS - 1, -1, -1)]

        def work() -> None:
            for asked in growing:
                builder.build(asked, info)

        return work

    whole = orjson.loads(builder.build(request(late), info).body)
    first, last, bare = _interleaved(step(early), step(late), lambda: [orjson.dumps(whole) for _ in range(STEPS)])
    first, last, bare = (each / STEPS * 1e6 for each in (first, last, bare))
    return [
        _row("build a request at step 500 (floor: step 10)", last, first, "µs CPU"),
        _row("build a request at step 500 (floor: orjson.dumps)", last, bare, "µs CPU"),
    ]


def _history(steps: int) -> list[ConversationMessage]:
    history: list[ConversationMessage] = [UserMessage(uuid="u", content=({"type": "text", "text": "go"},))]
    for step in range(steps):
        use: Json = {"type": "tool_use", "id": f"t{step}", "name": "Tool1", "input": {"file_path": f"src/{step}.py"}}
        said: Json = {"type": "text", "text": "Let me look at the next file."}
        answer: Json = {"type": "tool_result", "tool_use_id": f"t{step}", "content": "a line of code\n" * 60}
        history += [
            AssistantMessage(uuid=f"a{step}", message_id=f"m{step}", content=(said,), model=MODEL),
            AssistantMessage(uuid=f"b{step}", message_id=f"m{step}", content=(use,), model=MODEL),
            UserMessage(uuid=f"r{step}", content=(answer,)),
        ]
    return history


if __name__ == "__main__":
    for row in main():
        print(f"{row['name']:<55} {row['ours']:>10} {row['floor']:>10} {row['unit']:<8} ×{row['ratio']}")
