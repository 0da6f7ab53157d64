"""20 configured MCP servers, half of them dead or silent: what they add to `initialize` and to the first token.

The floor is the same program without servers, in the same interleaved run; the fastest of each counts. The first start
has to connect all of them while the first prompt is answered; later ones know what the servers offer. On a busy machine
only the rows in processor time of the server mean something: of those the medians count.
"""

import statistics
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.peer import SERVE, Json, Peer

Row = dict[str, Any]
Times = tuple[float, float, float, float]  # seconds to each of `PARTS`, then the processor's
RUNS = 7
PARTS = ("initialize", "the first token")
PLAIN = Path(__file__).parents[1] / "tests" / "support" / "mcpserver" / "plain.py"
OFFLINE = {"ASSENT_OFFLINE": "1"}


def main() -> list[Row]:
    first: dict[bool, list[Times]] = {True: [], False: []}
    later: dict[bool, list[Times]] = {True: [], False: []}
    for _ in range(RUNS):
        for with_servers in (True, False):
            peer, times = _begun(servers() if with_servers else {})
            first[with_servers].append(times)
            known = Path(peer.home, "assent", "mcp", "servers")
            if with_servers:
                _wait(lambda known=known: known.is_dir() and len(list(known.iterdir())) == 10)
            peer.end()
            again, times = _begun(servers() if with_servers else {}, home=peer.home)
            later[with_servers].append(times)
            again.kill()
    rows: list[Row] = []
    for words, found in (("first start", first), ("later start", later)):
        for part, name in enumerate(PARTS):
            ours, floor = (min(times[part] for times in found[key]) * 1000 for key in (True, False))
            rows.append({"name": f"20 servers, {words}: {name}", "unit": "ms", "ours": ours, "floor": floor})
            rows.append(
                {"name": f"  20 servers, {words}: added to {name}", "unit": "ms", "ours": ours - floor, "floor": None}
            )
            cpu = {key: statistics.median(times[part + 2] for times in found[key]) * 1000 for key in found}
            words_cpu = f"20 servers, {words}: {name}, processor time"
            rows.append({"name": words_cpu, "unit": "ms", "ours": cpu[True], "floor": cpu[False]})
    return [{**row, "ratio": row["ours"] / row["floor"] if row["floor"] else None} for row in rows]


def servers() -> Json:
    def plain(*flags: str) -> Json:
        return {"command": sys.executable, "args": ["-I", "-S", str(PLAIN), *flags]}

    found = {f"good{number}": plain() for number in range(10)}
    found |= {f"dead{number}": {"command": "false"} for number in range(5)}
    return found | {f"silent{number}": plain("--silent") for number in range(5)}


def _begun(configured: Json, *, home: str | None = None) -> tuple[Peer, Times]:
    """Seconds to the answer of `initialize`, and from the first prompt to its first token; both again in processor
    time of the server."""
    began = time.perf_counter()
    peer = Peer(SERVE, OFFLINE, settings={"mcpServers": configured}, home=home)
    peer.initialize()
    initialized, initialized_cpu = time.perf_counter() - began, _cpu(peer)
    session = peer.request("assent/session/new", {})["sessionId"]
    tokens: list[tuple[float, float]] = []
    sent, sent_cpu = time.perf_counter(), _cpu(peer)
    peer.turn(session, "hello", on_delta=lambda _text: tokens.append((time.perf_counter(), _cpu(peer))))
    token, token_cpu = tokens[0]
    return peer, (initialized, token - sent, initialized_cpu, token_cpu - sent_cpu)


def _cpu(peer: Peer) -> float:
    """Seconds of processor time of the server's process alone: the clock that Linux has for another process."""
    return time.clock_gettime((~peer.process.pid << 3) | 2)


def _wait(condition: Any) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "the servers did not connect"
        time.sleep(0.05)  # a bounded poll: the servers are other processes
