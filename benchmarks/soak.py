"""Many turns in one host: does memory grow, are files left open?

    python -m benchmarks.soak [TURNS] [PICTURE.svg]        10,000 turns and soak.svg, if nothing is said

Each turn calls a tool and answers; two windows watch; after fifty turns the session is closed and another one begins.
Memory and open files of the host are noted 200 times. The picture and the last lines show them; the first tenth is for
warming up, and flat means that the last fifth is at most 5 % above the one after the warming up.
"""

import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.bench_host import HOST, home
from benchmarks.endpoint import Endpoint
from benchmarks.peer import SERVE, Peer

TOGETHER = 50  # turns of one session
LOOKS = 200
WIDTH, HEIGHT, MARGIN = 900, 300, 60


class Look(NamedTuple):
    turn: int
    memory: float  # MB
    files: int
    threads: int


def main(turns: int, picture: Path) -> int:
    began = time.monotonic()
    looks = soak(turns)
    picture.write_text(drawn(looks), encoding="utf-8")
    print(f"{turns:,} turns in {time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f}; {picture}")
    flat = True
    curves = {
        "memory": [look.memory for look in looks],
        "files": [float(look.files) for look in looks],
        "threads": [float(look.threads) for look in looks],
    }
    for name, values in curves.items():
        part = len(values) // 5
        early = statistics.median(values[len(values) // 10 : len(values) // 10 + part])
        late = statistics.median(values[-part:])
        flat &= late <= early * 1.05
        print(f"  {name:8} {early:8.1f} after warming up, {late:8.1f} at the end, most {max(values):.1f}")
    print("flat" if flat else "NOT flat")
    return 0 if flat else 1


def soak(turns: int) -> list[Look]:
    endpoint = Endpoint()
    looks: list[Look] = []
    try:
        with home() as folder:
            Path(folder, "a.txt").write_text("a\n")
            first = Peer(SERVE, endpoint.env, settings={**HOST, "permissions": {"allow": ["Read"]}}, home=folder)
            first.initialize()
            second = Peer(SERVE, endpoint.env, home=folder)
            second.initialize()
            second.request("assent/session/roster", {})  # the host is there
            lock = next(Path(folder).glob("assent/host/*/lock"))
            host = int(json.loads(lock.read_text())["pid"])
            session = ""
            for turn in range(turns):
                if turn % TOGETHER == 0:
                    if session:
                        first.request("assent/session/close", {"sessionId": session})
                    session = first.request("assent/session/new", {})["sessionId"]
                    second.request("assent/session/attach", {"sessionId": session})
                first.turn(session, "plan read 1")
                if turn % TOGETHER == TOGETHER - 1:
                    second.request("assent/session/roster", {})  # reads what has come for it, as an editor does
                if turn % max(1, turns // LOOKS) == 0:
                    looks.append(_look(host, turn))
            first.end()
            second.end()
    finally:
        endpoint.close()
    return looks


def _look(pid: int, turn: int) -> Look:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    memory = pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    files = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    return Look(turn, memory, files, sum(1 for _ in Path(f"/proc/{pid}/task").iterdir()))


def drawn(looks: list[Look]) -> str:
    """Memory and open files over turns, each with its own scale from zero."""
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    last = max(look.turn for look in looks) or 1
    for name, unit, colour, side in (("memory", "MB", "#1f6feb", "start"), ("files", "open files", "#d1242f", "end")):
        values = [float(getattr(look, name)) for look in looks]
        top = max(values) * 1.25
        points = " ".join(
            f"{MARGIN + look.turn / last * (WIDTH - 2 * MARGIN):.1f},"
            f"{HEIGHT - MARGIN / 2 - value / top * (HEIGHT - MARGIN):.1f}"
            for look, value in zip(looks, values, strict=True)
        )
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        at = MARGIN if side == "start" else WIDTH - MARGIN
        words = f"{unit}: {values[0]:.0f} at first, {values[-1]:.0f} at last, {max(values):.0f} at most"
        out.append(f'<text x="{at}" y="20" text-anchor="{side}" fill="{colour}">{words}</text>')
    out.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 4}" text-anchor="middle">{last + 1:,} turns</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


if __name__ == "__main__":
    said = sys.argv[1:]
    sys.exit(main(int(said[0]) if said else 10_000, Path(said[1] if len(said) > 1 else "soak.svg")))
