"""The model's endpoint in a process of its own: it asks for tools by plan, and notes when each thing happened.

    python -m benchmarks.endpoint      prints its port and serves until killed

A prompt `plan KIND STEPS` gets STEPS answers that call tools, then a last one that does not. KINDs are the keys of
`CALLS`. `GET /times` tells and forgets what was noted: of every request when it `arrived`, when its first block was
`closed`, and when its answer had `ended`, on the monotonic clock that all processes share.
"""

import asyncio
import json
import socket
import subprocess
import sys
import time
import urllib.request
from typing import Any

Json = dict[str, Any]

READ: Json = {"name": "Read", "input": {"file_path": "a.txt"}}
CALLS: dict[str, list[Json]] = {
    "read": [READ],
    "bash": [{"name": "Bash", "input": {"command": "true", "description": "do nothing"}}],
    "parallel": [{"name": "Read", "input": {"file_path": f"{name}.txt"}} for name in "abcde"],
    "linger": [READ],
}
LINGER = 0.05  # seconds between a block's end and the answer's, in plans that linger


class Endpoint:
    """Started here, serving there."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-m", "benchmarks.endpoint"], stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        self.env = {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.port}", "ANTHROPIC_API_KEY": "test"}

    def times(self) -> list[dict[str, float]]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/times") as answer:
            return json.load(answer)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


class _Service:
    def __init__(self) -> None:
        self._noted: list[dict[str, float]] = []

    async def serve(self) -> None:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=64 * 1024 * 1024)
        sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()
        await server.serve_forever()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                arrived = time.monotonic()
                if head.startswith(b"get /times"):
                    body = json.dumps(self._noted).encode()
                    self._noted.clear()
                    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
                    continue
                length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
                kind, left = _plan(json.loads(await reader.readexactly(length))["messages"])
                await self._answer(writer, kind, left, arrived)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, kind: str, left: int, arrived: float) -> None:
        blocks: list[Json] = [{"type": "text", "text": "done"}]
        if left > 0:
            blocks = [
                {"type": "tool_use", "id": f"toolu_{time.monotonic_ns()}_{n}", **call}
                for n, call in enumerate(CALLS[kind])
            ]
        usage = {"input_tokens": 5, "output_tokens": 1}
        message: Json = {"id": f"msg_{time.monotonic_ns()}", "type": "message", "role": "assistant", "model": "m"}
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        _event(writer, "message_start", {"message": message})
        for number, block in enumerate(blocks):
            _block(writer, number, block)
        await writer.drain()
        closed = time.monotonic()
        if kind == "linger":
            await asyncio.sleep(LINGER)
        stop = "tool_use" if left > 0 else "end_turn"
        _event(writer, "message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage})
        _event(writer, "message_stop", {})
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        self._noted.append({"arrived": arrived, "closed": closed, "ended": time.monotonic()})


def _plan(messages: list[Json]) -> tuple[str, int]:
    """Which tools to call, and how many answers with calls are left after those since the plan was made."""
    answered = 0
    for message in reversed(messages):
        if message["role"] == "assistant":
            answered += 1
            continue
        content = message["content"]
        texts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
        for text in texts:
            if text.startswith("plan "):
                _, kind, steps = text.split()
                return kind, int(steps) - answered
    return "read", 0


def _block(writer: asyncio.StreamWriter, index: int, block: Json) -> None:
    start: Json = {**block, "text": ""}
    delta: Json = {"type": "text_delta", "text": block.get("text", "")}
    if block["type"] == "tool_use":
        start = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    _event(writer, "content_block_start", {"index": index, "content_block": start})
    _event(writer, "content_block_delta", {"index": index, "delta": delta})
    _event(writer, "content_block_stop", {"index": index})


def _event(writer: asyncio.StreamWriter, name: str, data: Json) -> None:
    body = f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()
    writer.write(b"%x\r\n%b\r\n" % (len(body), body))


if __name__ == "__main__":
    asyncio.run(_Service().serve())
