"""One host for several windows: what it adds to the start, a second window, and 64 sessions at once.

The floor of the start is the same server without a host. The lag is what an empty request of another window takes while
64 sessions stream: that window gets none of their events, so it measures the host's loop alone.
"""

import asyncio
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.bench_lsp import Api
from benchmarks.peer import SERVE, Peer
from benchmarks.processes import cpu_seconds

Row = dict[str, Any]
ROUNDS = int(os.environ.get("ASSENT_ROUNDS", "11"))
SESSIONS = int(os.environ.get("ASSENT_SESSIONS", "64"))
SECONDS = 10
RATE = 50  # deltas a second of each session, about what a fast model gives
HOST = {"host": True, "hostIdleSeconds": 0}


def main() -> list[Row]:
    return [*_start(), *_many()]


@contextmanager
def home() -> Generator[str]:
    with tempfile.TemporaryDirectory(prefix="host-", ignore_cleanup_errors=True) as folder:
        yield folder
        for lock in Path(folder).glob("assent/host/*/lock"):
            _end(int(json.loads(lock.read_text())["pid"]))


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
        while Path(f"/proc/{pid}").exists():
            time.sleep(0.01)  # it is not our child
    except ProcessLookupError:
        pass


# --- start ----------------------------------------------------------------------------------------------------------


def _start() -> list[Row]:
    alone: list[tuple[float, ...]] = []
    first: list[tuple[float, ...]] = []
    second: list[float] = []
    for _ in range(ROUNDS):
        with home() as folder:
            alone.append(_window({"host": False}, folder)[:3])
        with home() as folder:
            *times, session, peer = _window(HOST, folder)
            first.append(tuple(times))
            second.append(_joined(folder, session))
            peer.end()
    rows = [
        _row(f"host: spawn → {name}; floor: without a host", "ms", *(_median(runs, at) for runs in (first, alone)))
        for at, name in enumerate(("initialize", "first session", "CPU until the first session"))
    ]
    return [
        *rows,
        _row("host: a second window, spawn → attached", "ms", statistics.median(second), None),
        _row("host: a second window, the fastest", "ms", min(second), None),
    ]


def _window(settings: Row, folder: str) -> tuple[Any, ...]:
    """Milliseconds until initialize and until the first session, the window's own CPU, the session and the window."""
    began = time.perf_counter()
    peer = Peer(SERVE, {"ASSENT_OFFLINE": "1"}, settings=settings, home=folder)
    peer.initialize()
    answered = time.perf_counter()
    session = peer.request("assent/session/new", {})["sessionId"]
    ready = time.perf_counter()
    cpu = cpu_seconds(peer.process.pid)
    if not settings["host"]:
        peer.end()
    return (answered - began) * 1e3, (ready - began) * 1e3, cpu * 1e3, session, peer


def _joined(folder: str, session: str) -> float:
    began = time.perf_counter()
    peer = Peer(SERVE, {"ASSENT_OFFLINE": "1"}, home=folder)
    peer.initialize()
    peer.request("assent/session/attach", {"sessionId": session})
    took = (time.perf_counter() - began) * 1e3
    peer.end()
    return took


# --- many sessions --------------------------------------------------------------------------------------------------


def _many() -> list[Row]:
    api = Api()
    try:
        with home() as folder:
            peer = Peer(SERVE, api.env, settings=HOST, home=folder)
            peer.turn(peer.ready(rate=60), "50:0")  # warm
            other = Peer(SERVE, api.env, home=folder)
            other.initialize()
            calm = [_lag(other) for _ in range(300)]
            sessions = [peer.request("assent/session/new", {})["sessionId"] for _ in range(SESSIONS)]
            for session in sessions:
                peer._send("assent/session/send", {"sessionId": session, "prompt": f"{RATE * SECONDS}:{RATE}"})
            lag = asyncio.run(_while_streaming(peer, other, len(sessions)))
            peer.end()
            other.end()
    finally:
        api.close()
    return [
        _row(
            f"host: an empty request while {SESSIONS} sessions stream, {name}", "ms", _share(lag, at), _share(calm, at)
        )
        for name, at in (("p50", 0.5), ("p99", 0.99))
    ]


async def _while_streaming(peer: Peer, other: Peer, count: int) -> list[float]:
    """The first window reads what comes for it, as an editor does, and the other one asks."""
    finished = 0

    def read() -> None:
        nonlocal finished
        while finished < count:
            message = peer._read()
            if message.get("method") == "assent/session/event":
                finished += message["params"]["event"]["type"] == "turnFinished"

    reading = asyncio.create_task(asyncio.to_thread(read))
    found: list[float] = []
    while not reading.done():
        found.append(await asyncio.to_thread(_lag, other))
    await reading
    return found


def _lag(peer: Peer) -> float:
    time.sleep(0.003)  # each request meets the streams at another moment
    began = time.perf_counter()
    peer.request("assent/edit/list", {})
    return (time.perf_counter() - began) * 1e3


def _median(runs: list[tuple[float, ...]], at: int) -> float:
    return statistics.median(run[at] for run in runs)


def _share(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def _row(name: str, unit: str, ours: float, floor: float | None) -> Row:
    return {"name": name, "ours": ours, "floor": floor, "unit": unit, "ratio": ours / floor if floor else None}


if __name__ == "__main__":
    sys.exit("python -m benchmarks host")
