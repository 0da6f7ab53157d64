"""The wire: start, memory, deltas through the whole server, and how smooth typing stays while sessions stream.

Floors: a bare pygls server doing nothing else; a bare reader of the same SSE stream. The stream comes from a process of
its own, each delta stamped with the monotonic clock when it is sent. Ours and the floor alternate in one run; medians.
"""

import asyncio
import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.peer import SERVE, Json, Peer
from benchmarks.processes import pss_mb

Row = dict[str, Any]
ROUNDS = 5
DELTAS = 2000
RATE = 200
BARE_PYGLS = "from pygls.lsp.server import LanguageServer; LanguageServer('bare', '1').start_io()"


def main() -> list[Row]:
    return [*_start(), *_stream(), *_typing()]


# --- start ----------------------------------------------------------------------------------------------------------


def _start() -> list[Row]:
    ours: list[tuple[float, float]] = []
    floor: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        ours.append(_spawned(SERVE))
        floor.append(_spawned([sys.executable, "-c", BARE_PYGLS]))
    ready = [_session_ready() for _ in range(ROUNDS)]
    return [
        _row("spawn → initialize", "ms", _median(ours, 0) * 1000, _median(floor, 0) * 1000),
        _row("memory at the initialize response", "MB", _median(ours, 1), _median(floor, 1)),
        _row("spawn → session ready", "ms", _median(ready, 0) * 1000, _median(floor, 0) * 1000),
        _row("idle after session/new, PSS", "MB", _median(ready, 1), None),
        _row("end of stdin → gone", "ms", _median(ready, 2) * 1000, None),
    ]


def _session_ready() -> tuple[float, float, float]:
    """Until session/new is answered; the memory of the server and its children once they rest; until it has gone."""
    began = time.perf_counter()
    peer = Peer(SERVE, {"ASSENT_OFFLINE": "1"})
    peer.ready(rate=0)
    took = time.perf_counter() - began
    peer.settle()
    memory = pss_mb(peer.process.pid)
    left = time.perf_counter()
    peer.hang_up()
    gone = time.perf_counter() - left
    return took, memory, gone


def _spawned(command: list[str]) -> tuple[float, float]:
    began = time.perf_counter()
    peer = Peer(command, {"ASSENT_OFFLINE": "1"})
    peer.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    took = time.perf_counter() - began
    memory = peer.memory()
    peer.kill()
    return took, memory


# --- streaming ------------------------------------------------------------------------------------------------------


def _stream() -> list[Row]:
    api = Api()
    rows: list[Row] = []
    try:
        ours: list[Json] = []
        floor: list[Json] = []
        for _ in range(ROUNDS):
            ours.append(_flood(api))
            floor.append(_bare(api, DELTAS, 0))
        each = [statistics.median(run["seconds"] for run in runs) / DELTAS * 1e6 for runs in (ours, floor)]
        rows.append(_row(f"{DELTAS} deltas as fast as possible, each", "µs", *each))
        text_bytes = 9 * DELTAS
        rows.append(_row("bytes on the wire, every delta a frame", "KB", ours[0]["bytes"] / 1000, text_bytes / 1000))
        merged = _flood(api, rate=60)
        rows.append(
            _row("bytes on the wire, at most 60 frames a second", "KB", merged["bytes"] / 1000, text_bytes / 1000)
        )
        rows.append(
            _row("memory after warm-up and a turn", "MB", statistics.median(run["memory"] for run in ours), None)
        )
        rows += _latency(api)
    finally:
        api.close()
    return rows


def _flood(api: "Api", *, rate: int = 0) -> Json:
    peer = Peer(SERVE, api.env)
    session = peer.ready(rate=rate)
    peer.turn(session, f"{DELTAS}:0")  # warm
    before = peer.received
    times: list[float] = []
    peer.turn(session, f"{DELTAS}:0", on_delta=lambda _text: times.append(time.perf_counter()))
    spent = times[-1] - times[0]
    result = {"seconds": spent, "bytes": peer.received - before, "memory": peer.memory()}
    peer.kill()
    return result


def _latency(api: "Api") -> list[Row]:
    """Ours and the floor take turns: an idle processor wakes up slower or faster from one second to the next."""
    pairs = [(_paced(api), _bare(api, 600, RATE)["latencies"]) for _ in range(ROUNDS)]
    rows: list[Row] = []
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        ours = [_share(paced, share) for paced, _ in pairs]
        floor = [_share(bare, share) for _, bare in pairs]
        added = [one - other for one, other in zip(ours, floor, strict=True)]
        compared = statistics.median(ours), statistics.median(floor)
        rows.append(_row(f"delta sent → delta received at {RATE}/s, {name}", "ms", *compared))
        rows.append(_row(f"  added by us, {name}", "ms", statistics.median(added), None))
    return rows


def _paced(api: "Api") -> list[float]:
    peer = Peer(SERVE, api.env)
    session = peer.ready(rate=0)
    peer.turn(session, "50:0")
    found: list[float] = []
    peer.turn(session, f"600:{RATE}", on_delta=lambda text: found.append(time.monotonic_ns() - int(text)))
    peer.kill()
    return [nanoseconds / 1e6 for nanoseconds in found]


def _bare(api: "Api", deltas: int, rate: int) -> Json:
    """The floor: a socket, and nothing but the text of each delta taken out."""
    with socket.create_connection(("127.0.0.1", api.port)) as connection:
        body = json.dumps({"messages": [{"role": "user", "content": f"{deltas}:{rate}"}]}).encode()
        connection.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        times: list[float] = []
        latencies: list[float] = []
        buffer = b""
        while b"message_stop" not in buffer:
            buffer += connection.recv(65536)
            *lines, buffer = buffer.split(b"\n")
            for line in lines:
                if b"text_delta" in line:
                    times.append(time.perf_counter())
                    latencies.append((time.monotonic_ns() - int(json.loads(line[6:])["delta"]["text"] or 0)) / 1e6)
            if any(b"message_stop" in line for line in lines):
                break
    return {"seconds": times[-1] - times[0], "latencies": latencies}


# --- typing while sessions stream -----------------------------------------------------------------------------------


def _typing() -> list[Row]:
    api = Api()
    try:
        peer = Peer(SERVE, api.env)
        first = peer.ready(rate=60)
        peer.turn(first, "50:0")
        uri = "file:///typed.py"
        item = {"uri": uri, "languageId": "python", "version": 1, "text": "x = 1\n" * 500}
        peer.notify("textDocument/didOpen", {"textDocument": item})
        idle = [_round_trip(peer, uri, number + 2) for number in range(200)]
        calm = [_lag(peer) for _ in range(300)]
        for _ in range(8):
            session = peer.request("assent/session/new", {})["sessionId"]
            peer.request("assent/session/send", {"sessionId": session, "prompt": f"4000:{RATE}"})
        busy = [_round_trip(peer, uri, number + 500) for number in range(200)]
        lag = [_lag(peer) for _ in range(300)]
        peer.kill()
    finally:
        api.close()
    return [
        _row("didChange → codeAction while 8 sessions stream, p50", "ms", _share(busy, 0.5), _share(idle, 0.5)),
        _row("didChange → codeAction while 8 sessions stream, p99", "ms", _share(busy, 0.99), _share(idle, 0.99)),
        _row("answer of an empty request while 8 sessions stream, p99", "ms", _share(lag, 0.99), _share(calm, 0.99)),
    ]


def _round_trip(peer: Peer, uri: str, version: int) -> float:
    began = time.perf_counter()
    spot = {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 0}}
    change = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"range": spot, "text": "a"}]}
    peer.notify("textDocument/didChange", change)
    params: Json = {"textDocument": {"uri": uri}, "range": spot, "context": {"diagnostics": []}}
    peer.request("textDocument/codeAction", params)
    return (time.perf_counter() - began) * 1000


def _lag(peer: Peer) -> float:
    time.sleep(0.003)  # a person does not type in one burst: each request meets the streams at another moment
    began = time.perf_counter()
    peer.request("textDocument/codeLens", {"textDocument": {"uri": "file:///nothing"}})
    return (time.perf_counter() - began) * 1000


class Api:
    """The model's endpoint, in a process of its own: a prompt `N:R` gets N deltas at R a second (0: at once)."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-m", __name__, "api"], stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        self.env = {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.port}", "ANTHROPIC_API_KEY": "test"}

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


async def _serve_api() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
                prompt = _last_prompt(json.loads(await reader.readexactly(length)))
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
                )
                await _talk(writer, *map(int, prompt.split(":")))
                writer.write(b"0\r\n\r\n")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=64 * 1024 * 1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _talk(writer: asyncio.StreamWriter, deltas: int, rate: int) -> None:
    usage = {"input_tokens": 5, "output_tokens": 1}
    message: Json = {"id": f"msg_{time.monotonic_ns()}", "type": "message", "role": "assistant", "model": "m"}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    _event(writer, "message_start", {"message": message})
    _event(writer, "content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}})
    due = time.monotonic()
    for number in range(deltas):
        if rate:
            due += 1 / rate
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        text = str(time.monotonic_ns()) if rate else f"{number:08d} "
        _event(writer, "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": text}})
        if rate or number % 50 == 0:  # so that a client which has gone is noticed at once
            await writer.drain()
    _event(writer, "content_block_stop", {"index": 0})
    _event(writer, "message_delta", {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage})
    _event(writer, "message_stop", {})
    await writer.drain()


def _event(writer: asyncio.StreamWriter, name: str, data: Json) -> None:
    body = f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()
    writer.write(b"%x\r\n%b\r\n" % (len(body), body))


def _last_prompt(body: Json) -> str:
    content = body["messages"][-1]["content"]
    text = content if isinstance(content, str) else content[-1]["text"]
    return str(text).strip()


def _median(runs: Sequence[tuple[float, ...]], index: int) -> float:
    return statistics.median(run[index] for run in runs)


def _share(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def _row(name: str, unit: str, ours: float, floor: float | None) -> Row:
    return {"name": name, "ours": ours, "floor": floor, "unit": unit, "ratio": ours / floor if floor else None}


if __name__ == "__main__" and sys.argv[1:] == ["api"]:
    asyncio.run(_serve_api())
