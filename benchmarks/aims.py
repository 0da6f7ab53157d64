"""What we want of each row, by its name. A row without an aim is there to explain others."""

from dataclasses import dataclass
from typing import Any, Literal

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    limit: float
    of: Literal["ours", "ratio"] = "ours"
    least: bool = False  # more is better

    def met(self, row: Row) -> bool:
        value = row[self.of]
        return value is not None and (value >= self.limit if self.least else value <= self.limit)

    def __str__(self) -> str:
        return f"{'≥' if self.least else '≤'} {self.limit:g}{'×' if self.of == 'ratio' else ''}"


AIMS = {
    # start and memory
    "spawn → initialize": Aim(limit=0.3, of="ratio"),
    "spawn → session ready": Aim(limit=300),
    "idle after session/new, PSS": Aim(limit=75),
    "end of stdin → gone": Aim(limit=2000),
    "memory at the initialize response": Aim(limit=60),
    "memory after warm-up and a turn": Aim(limit=110),
    "memory after 1,000 turns; floor: after 10": Aim(limit=1.2, of="ratio"),
    # streaming
    "2000 deltas as fast as possible, each": Aim(limit=20),
    "delta sent → delta received at 200/s, p50": Aim(limit=0.45),
    "delta sent → delta received at 200/s, p99": Aim(limit=1.2),
    "bytes on the wire, every delta a frame": Aim(limit=450),
    "bytes on the wire, at most 60 frames a second": Aim(limit=60),
    "didChange → codeAction while 8 sessions stream, p99": Aim(limit=50),
    "answer of an empty request while 8 sessions stream, p99": Aim(limit=20),
    # steps and turns
    "a step with a Read: answer's end → next request": Aim(limit=3.5),
    "a step with a Bash `true`: answer's end → next request": Aim(limit=8),
    "five Reads at once: answer's end → next request": Aim(limit=10),
    "a tool's start is seen after its block closes": Aim(limit=3),
    "first prompt → request": Aim(limit=12),
    "prompt → request, warm": Aim(limit=8),
    "20-step turn, CPU, Read": Aim(limit=0.10),
    "20-step turn, CPU, Bash": Aim(limit=0.15),
    "hidden extra calls in a turn": Aim(limit=0),
    "cache-read share over a 20-step turn, of what could be": Aim(limit=95, least=True),
    "a step at 500, CPU; floor: at 10": Aim(limit=1.5, of="ratio"),
    "  added to the first prompt": Aim(limit=15),
    "  added to initialize": Aim(limit=2),
    "  20 servers, first start: added to initialize": Aim(limit=5),
    "  20 servers, first start: added to the first token": Aim(limit=20),
    "  20 servers, later start: added to initialize": Aim(limit=5),
    "  20 servers, later start: added to the first token": Aim(limit=20),
    # deciding and searching
    "Decision, median, 200-character command": Aim(limit=1),
    "Decision, p99, 200-character command": Aim(limit=5),
    "Grep, rare word in 50,000 files": Aim(limit=1.3, of="ratio"),
    "Grep, lines of a common word in 50,000 files": Aim(limit=1.3, of="ratio"),
    "Glob, one name in ten of 50,000 files": Aim(limit=1.3, of="ratio"),
    "Glob, all 50,000 files, newest first": Aim(limit=1.3, of="ratio"),
    # sessions
    "attach: first page of 100 MB": Aim(limit=300),
    "attach: reopen a session of 100 MB": Aim(limit=300),
    "list 10,000 sessions, cold": Aim(limit=100),
    "list 10,000 sessions, warm": Aim(limit=100),
    "full text: a rare word in 10,000 sessions": Aim(limit=200),
    "full text: words of all 10,000 sessions": Aim(limit=400),
    "@module_123 among 100,000 files, warm": Aim(limit=30),
    "@test among 100,000 files, warm": Aim(limit=30),
    "@p42m7 among 100,000 files, warm": Aim(limit=30),
    "@zzz among 100,000 files, warm": Aim(limit=30),
    # one host for several windows
    "host: spawn → initialize; floor: without a host": Aim(limit=1.2, of="ratio"),
    "host: spawn → first session; floor: without a host": Aim(limit=1.2, of="ratio"),
    "host: a second window, spawn → attached": Aim(limit=60),
    "host: an empty request while 64 sessions stream, p99": Aim(limit=20),
    # editors
    "start-up: what the plugin adds": Aim(limit=1),
    "a key under a 30-hunk review, p50; floor: no extension": Aim(limit=1.1, of="ratio"),
}
