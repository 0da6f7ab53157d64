"""What a seed stands for: the calls the model will make, and what goes wrong while it makes them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assent.types.blocks import Json

TOOLS = ("Read", "Write", "Edit", "MultiEdit", "Bash", "Glob", "Grep", "TodoWrite", "Agent", "WebFetch")
EFFECTS = frozenset({"Write", "Edit", "MultiEdit", "Bash", "Agent"})
STATIC = ("f0.txt", "f1.txt", "f2.txt")  # never changed
COUNTS = "counts.log"  # a line for each time a command ran

Kind = Literal["none", "drop", "kill", "abort", "overflow"]
DROPS = ("first_byte", "message_start", "mid_block", "block_closed", "tool_started", "tool_finished", "message_stop")
DEATHS = ("request_start", "stream_event", "assistant", "tool_started", "tool_finished", "assistant_final", "user")
APPENDS = "append"  # right after a record was written
OVERFLOWS = ("now", "next")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong, and at which boundary of the answer that makes the call in question."""

    kind: Kind
    at: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.at}"


FAULTS = (
    Fault(kind="none"),
    *(Fault(kind="drop", at=at) for at in DROPS),
    *(Fault(kind="kill", at=at) for at in (*DEATHS, APPENDS)),
    *(Fault(kind="abort", at=at) for at in DEATHS),
    *(Fault(kind="overflow", at=at) for at in OVERFLOWS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call of the plan. `fact` is what its result must say when it is done."""

    key: str
    tool: str
    input: Json
    fact: str
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    batches: tuple[tuple[Step, ...], ...]
    focus: str  # the key of the call that the fault is about
    fault: Fault
    second: Fault | None  # may follow at any later answer
    later: bool  # after the first round of every tool with every fault: longer, and breaking at more places

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(step for batch in self.batches for step in batch)


def make_plan(seed: int, chance: random.Random, folder: Path, site: str) -> Plan:
    """Seeds in a row go through every tool with every fault; the rest is chance."""
    tool = TOOLS[seed % len(TOOLS)]
    fault = FAULTS[seed // len(TOOLS) % len(FAULTS)]
    first_round = seed < len(TOOLS) * len(FAULTS)
    second = None if first_round or chance.random() < 0.6 else chance.choice(FAULTS)
    numbers = iter(range(1, 100))

    def step(name: str) -> Step:
        return _step(name, f"k{next(numbers)}", folder, site, chance)

    def some(most: int) -> tuple[Step, ...]:
        return tuple(step(chance.choice(often)) for _ in range(chance.randint(1, most)))

    often = (*TOOLS, *["Read"] * chance.choice((0, 0, 10)))  # files that are read again and again fill the window
    before = [some(3) for _ in range(chance.randint(0, 2))]
    focus = step(tool)
    beside = some(2) if chance.random() < 0.5 else ()
    batch = (focus, *beside) if chance.random() < 0.7 else (*beside, focus)
    after = [some(2) for _ in range(chance.randint(1, 2 if first_round else 6))]
    return Plan(batches=(*before, batch, *after), focus=focus.key, fault=fault, second=second, later=not first_round)


def _step(tool: str, key: str, folder: Path, site: str, chance: random.Random) -> Step:
    path = ""
    match tool:
        case "Read":
            path = chance.choice(STATIC)
            input, fact = {"file_path": path}, f"{path} line 1 "
        case "Write":
            path = f"{key}.txt"
            input, fact = {"file_path": path, "content": f"written for {key}\n"}, "Created"
        case "Edit" | "MultiEdit":
            path = f"{key}.txt"
            (folder / path).write_text(f"head\nmark\n{tool} {key}\n")
            change = {"old_string": "mark", "new_string": f"mark+{key}"}
            input = {"file_path": path, **({"edits": [change]} if tool == "MultiEdit" else change)}
            fact = f"mark+{key}"
        case "Bash":
            input, fact = {"command": f"echo {key} >> {COUNTS}; echo did {key}"}, f"did {key}"
        case "Glob":
            input, fact = {"pattern": "f*.txt"}, "f1.txt"
        case "Grep":
            input, fact = {"pattern": "needle", "output_mode": "content"}, "needle"
        case "TodoWrite":
            input, fact = {"todos": [{"content": f"do {key}", "status": "pending"}]}, "The list is updated"
        case "Agent":
            input = {"description": key, "prompt": f"Work on {key}, please.", "subagent_type": "worker"}
            fact = f"Did {key}."
        case "WebFetch":
            input, fact = {"url": f"{site}/{key}"}, f"page for {key}"
        case _:
            raise ValueError(tool)
    return Step(key=key, tool=tool, input=input, fact=fact, path=path)
