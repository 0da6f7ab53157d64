"""What a seed stands for: the calls the model will make, and what goes wrong while it makes them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from faultkit.steps import FINAL, TOOLS, Step, make_step

Kind = Literal["none", "drop", "kill", "abort", "overflow", "rebuild"]
DROPS = ("first_byte", "message_start", "mid_block", "block_closed", "tool_started", "tool_finished", "message_stop")
DEATHS = ("request_start", "stream_event", "assistant", "tool_started", "tool_finished", "assistant_final", "user")
APPENDS = "append"  # right after a record was written
OVERFLOWS = ("now", "next")


CALLED = tuple(name for name in TOOLS if name != FINAL)


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
    *(Fault(kind="rebuild", at=at) for at in DEATHS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    batches: tuple[tuple[Step, ...], ...]
    folder: Path
    focus: str  # the key of the call that the fault is about; of FINAL, which ends the turn, empty
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
        return make_step(name, f"k{next(numbers)}", folder, site, chance)

    def some(most: int) -> tuple[Step, ...]:
        return tuple(step(chance.choice(often)) for _ in range(chance.randint(1, most)))

    often = (*CALLED, *["Read"] * chance.choice((0, 0, 10)))  # files that are read again and again fill the window
    most = 1 if first_round else 3
    before = [some(most) for _ in range(chance.randint(0, 1 if first_round else 2))]
    focus = step(tool) if tool != FINAL else None
    beside = some(min(most, 2)) if chance.random() < 0.5 or focus is None else ()
    own = (focus,) if focus is not None else ()
    batch = (*own, *beside) if chance.random() < 0.7 else (*beside, *own)
    after = [some(min(most, 2)) for _ in range(chance.randint(1, 1 if first_round else 6))]
    return Plan(
        batches=(*before, batch, *after),
        folder=folder,
        focus=focus.key if focus is not None else "",
        fault=fault,
        second=second,
        later=not first_round,
    )
