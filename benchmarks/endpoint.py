"""The model's endpoint in a process of its own: it asks for tools by plan, and notes when each thing happened.

    python -m benchmarks.endpoint      prints its port and serves until killed

A prompt with the words `plan KIND STEPS` in it gets STEPS answers that call tools, then a last one that does not. KINDs
are the keys of `CALLS`. `GET /times` tells and forgets what was noted: of every request when it `arrived`, when its
first block was `closed`, and when its answer had `ended`, on the monotonic clock that all processes share. After
`GET /watch/PID` also how much processor time (`cpu`, seconds) that process had used when the request arrived.
"""

import asyncio
import json
import re
import socket
import subprocess
import sys
import time
import urllib.request
from typing import Any

from benchmarks.processes import cpu_clock

Json = dict[str, Any]

READ: Json = {"name": "Read", "input": {"file_path": "a.txt"}}
CALLS: dict[str, list[Json]] = {
    "read": [READ],
    "bash": [{"name": "Bash", "input": {"command": "true", "description": "do nothing"}}],
    "parallel": [{"name": "Read", "input": {"file_path": f"{name}.txt"}} for name in "abcde"],
    "linger": [READ],
}
PLAN = re.compile(r"\bplan (\w+) (\d+)")
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

    def watch(self, pid: int) -> None:
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}/watch/{pid}").close()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


class _Service:
    def __init__(self) -> None:
        self._noted: list[dict[str, float]] = []
        self._watched: int | None = None

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
                    noted = json.dumps(self._noted).encode()
                    self._noted.clear()
                    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(noted), noted))
                    continue
                if head.startswith(b"get /watch/"):
                    self._watched = int(head.split()[1].rpartition(b"/")[2])
                if b"content-length:" not in head:  # a look at whether someone is there
                    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                    continue
                length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
                read = await reader.readexactly(length)
                cpu = cpu_clock(self._watched) if self._watched is not None else 0.0
                body = json.loads(read)
                kind, left = _plan(body["messages"])
                offered = {tool.get("name") for tool in body.get("tools", ())}
                calls = [_as_offered(call, offered) for call in CALLS[kind]] if left > 0 else []
                await self._answer(writer, calls, {"arrived": arrived, "cpu": cpu}, linger=kind == "linger")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, calls: list[Json], noted: Json, *, linger: bool) -> None:
        blocks: list[Json] = [
            {"type": "tool_use", "id": f"toolu_{time.monotonic_ns()}_{n}", **call} for n, call in enumerate(calls)
        ] or [{"type": "text", "text": "done"}]
        usage = {"input_tokens": 5, "output_tokens": 1}
        message: Json = {"id": f"msg_{time.monotonic_ns()}", "type": "message", "role": "assistant", "model": "m"}
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        _event(writer, "message_start", {"message": message})
        for number, block in enumerate(blocks):
            _block(writer, number, block)
        await writer.drain()
        closed = time.monotonic()
        if linger:
            await asyncio.sleep(LINGER)
        stop = "tool_use" if calls else "end_turn"
        _event(writer, "message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage})
        _event(writer, "message_stop", {})
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        self._noted.append({**noted, "closed": closed, "ended": time.monotonic()})


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
            if found := PLAN.search(text):
                return found[1], int(found[2]) - answered
    return "read", 0


def _as_offered(call: Json, offered: set[Any]) -> Json:
    """The call as a program knows it that names its tools in lower case, and a file by `path`."""
    if call["name"] in offered or call["name"].lower() not in offered:
        return call
    given = {"path" if key == "file_path" else key: value for key, value in call["input"].items()}
    return {"name": call["name"].lower(), "input": given}


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
