"""Steps and turns through the whole server, as the model's endpoint and an editor see them.

Ours: permissions, the durable transcript and the wire included. The floor does only the step: a bare socket that reads
the same answer, does what it calls for with the standard library, and sends the next request. Both talk to the same
endpoint, in turns; it notes the times. Medians.
"""

import json
import socket
import statistics
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.endpoint import CALLS, Endpoint
from benchmarks.peer import SERVE, Json, Peer
from benchmarks.processes import cpu_seconds, own_cpu_seconds

Row = dict[str, Any]
ROUNDS = 7
STEPS = 20
TURNS = 1000
SETTINGS: Json = {}  # the defaults: `true` runs unasked because it only reads, and so inside the fence


def main() -> list[Row]:
    endpoint = Endpoint()
    try:
        return [*_steps(endpoint), *_prompts(endpoint), *_many_turns(endpoint), _cached()]
    finally:
        endpoint.close()


# --- one step -------------------------------------------------------------------------------------------------------


def _steps(endpoint: Endpoint) -> list[Row]:
    peer = _server(endpoint)
    floor = Bare(endpoint, Path(peer.home))
    try:
        session = peer.ready(rate=0)
        peer.settle()
        rows: list[Row] = []
        for kind, name in (
            ("read", "a step with a Read: answer's end → next request"),
            ("bash", "a step with a Bash `true`: answer's end → next request"),
            ("parallel", "five Reads at once: answer's end → next request"),
        ):
            steps = STEPS if kind != "parallel" else 5
            peer.turn(session, f"plan {kind} 2")  # warm
            floor.turn(f"plan {kind} 2")
            endpoint.times()
            ours: list[float] = []
            bare: list[float] = []
            for _ in range(ROUNDS):
                session = peer.request("assent/session/new", {})["sessionId"]
                peer.turn(session, f"plan {kind} {steps}")
                ours += _between(endpoint.times())
                floor.turn(f"plan {kind} {steps}")
                bare += _between(endpoint.times())
            rows.append(_row(name, "ms", statistics.median(ours), statistics.median(bare)))
        return [*rows, *_turns(endpoint, peer, floor)]
    finally:
        floor.close()
        peer.kill()


def _turns(endpoint: Endpoint, peer: Peer, floor: "Bare") -> list[Row]:
    """The processor time of a turn, its calls, and how soon a tool starts while the answer is still coming."""
    cpu: dict[str, list[float]] = {"read": [], "bash": []}
    bare: dict[str, list[float]] = {"read": [], "bash": []}
    hidden = 0
    started: list[float] = []
    for _ in range(ROUNDS):
        for kind in cpu:
            session = peer.request("assent/session/new", {})["sessionId"]
            endpoint.times()
            before = cpu_seconds(peer.process.pid)
            peer.turn(session, f"plan {kind} {STEPS - 1}")
            cpu[kind].append(cpu_seconds(peer.process.pid) - before)
            hidden = max(hidden, len(endpoint.times()) - STEPS)
            before = own_cpu_seconds()
            floor.turn(f"plan {kind} {STEPS - 1}")
            bare[kind].append(own_cpu_seconds() - before)
        seen: list[float] = []
        session = peer.request("assent/session/new", {})["sessionId"]
        endpoint.times()
        peer.turn(
            session,
            "plan linger 5",
            on_event=lambda event, seen=seen: event["type"] == "toolStarted" and seen.append(time.monotonic()),
        )
        closed = [noted["closed"] for noted in endpoint.times()]
        started += [1000 * (seen_at - closed_at) for seen_at, closed_at in zip(seen, closed, strict=False)]
    return [
        _row("a tool's start is seen after its block closes", "ms", statistics.median(started), None),
        *(
            _row(f"{STEPS}-step turn, CPU, {name}", "s", statistics.median(cpu[kind]), statistics.median(bare[kind]))
            for kind, name in (("read", "Read"), ("bash", "Bash"))
        ),
        _row("hidden extra calls in a turn", "calls", hidden, None),
    ]


def _between(noted: list[dict[str, float]]) -> list[float]:
    """From each answer's end to the next request, in milliseconds."""
    return [1000 * (after["arrived"] - before["ended"]) for before, after in pairwise(noted)]


# --- a prompt -------------------------------------------------------------------------------------------------------


def _prompts(endpoint: Endpoint) -> list[Row]:
    """From the editor's request to the model's endpoint: the first prompt of a server's life, and later ones."""
    cold: list[float] = []
    warm: list[float] = []
    bare_cold: list[float] = []
    bare_warm: list[float] = []
    for _ in range(ROUNDS):
        peer = _server(endpoint)
        floor = Bare(endpoint, Path(peer.home))
        session = peer.ready(rate=0)
        peer.settle()
        for ours, bare in ((cold, bare_cold), (warm, bare_warm), (warm, bare_warm)):
            endpoint.times()
            began = time.monotonic()
            peer.turn(session, "plan read 0")
            ours.append(1000 * (endpoint.times()[0]["arrived"] - began))
            began = time.monotonic()
            floor.turn("plan read 0")
            bare.append(1000 * (endpoint.times()[0]["arrived"] - began))
        floor.close()
        peer.kill()
    return [
        _row("first prompt → request", "ms", statistics.median(cold), statistics.median(bare_cold)),
        _row("prompt → request, warm", "ms", statistics.median(warm), statistics.median(bare_warm)),
    ]


def _many_turns(endpoint: Endpoint) -> list[Row]:
    peer = _server(endpoint)
    try:
        session = peer.ready(rate=0)
        peer.settle()
        few = 0.0
        for number in range(1, TURNS + 1):
            peer.turn(session, "plan read 1")
            if number == 10:
                few = peer.memory()
        return [_row(f"memory after {TURNS:,} turns; floor: after 10", "MB", peer.memory(), few)]
    finally:
        peer.kill()


# --- the cache ------------------------------------------------------------------------------------------------------


def _cached() -> Row:
    """What the strict fake of the Messages API, which keeps a cache as the real one does, counted for one long turn."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
    from fakeapi import FakeApi, text, tool

    with FakeApi.threaded() as api:
        for _ in range(STEPS - 1):
            api.reply(tool("Read", file_path="a.txt"))
        api.reply(text("done"))
        peer = Peer(SERVE, api.env)
        _files(Path(peer.home))
        try:
            peer.turn(peer.ready(rate=0), "read it over and over")
            assert len(api.calls) == STEPS
            share = api.cache_share() * 100
        finally:
            peer.kill()
    return _row(f"cache-read share over a {STEPS}-step turn, of what could be", "%", share, 100.0)


# --- the two sides --------------------------------------------------------------------------------------------------


class Bare:
    """The floor: reads an answer, does what it says, asks again. The conversation grows as ours does."""

    def __init__(self, endpoint: Endpoint, folder: Path) -> None:
        self._socket = socket.create_connection(("127.0.0.1", endpoint.port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._folder = folder

    def turn(self, prompt: str) -> None:
        messages: list[Json] = [{"role": "user", "content": prompt}]
        kind, steps = prompt.split()[1], int(prompt.split()[2])
        for step in range(steps + 1):
            self._call(messages)
            if step == steps:
                return
            results: list[Json] = [{"type": "tool_result", "content": self._do(call)} for call in CALLS[kind]]
            messages += [{"role": "assistant", "content": CALLS[kind]}, {"role": "user", "content": results}]

    def close(self) -> None:
        self._socket.close()

    def _call(self, messages: list[Json]) -> None:
        body = json.dumps({"messages": messages}).encode()
        self._socket.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        answer = b""
        while not answer.endswith(b"0\r\n\r\n"):
            answer += self._socket.recv(65536)
        for line in answer.split(b"\n"):
            if line.startswith(b"data: "):
                json.loads(line[6:])

    def _do(self, call: Json) -> str:
        if call["name"] == "Bash":
            return subprocess.run(["bash", "-c", call["input"]["command"]], capture_output=True, text=True).stdout
        return (self._folder / call["input"]["file_path"]).read_text()


def _server(endpoint: Endpoint) -> Peer:
    peer = Peer(SERVE, endpoint.env, settings=SETTINGS)
    _files(Path(peer.home))
    return peer


def _files(folder: Path) -> None:
    for name in "abcde":
        (folder / f"{name}.txt").write_text(f"line {name}\n" * 40)


def _row(name: str, unit: str, ours: float, floor: float | None) -> Row:
    return {"name": name, "ours": ours, "floor": floor, "unit": unit, "ratio": ours / floor if floor else None}
