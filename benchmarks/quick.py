"""`python -m benchmarks --quick`, a part of `make test`: the costs that may not double unnoticed.

Each is the processor time of ours against that of the floor in the same process, the least of many rounds: other
programs on the machine cannot make it larger. A limit is about twice the ratio measured when the row was written.
"""

import asyncio
import gc
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import bench_editor, bench_engine, bench_model, bench_permissions


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    name: str
    limit: float
    work: Callable[[], tuple[Callable[[], object], Callable[[], object]]]  # gives ours and the floor
    rounds: int


def _engine_turn() -> tuple[Callable[[], object], Callable[[], object]]:
    folder = Path(tempfile.mkdtemp(prefix="assent-quick-"))
    for number in range(1, 21):
        (folder / f"f{number}.py").write_text(f"value = {number}\n" * 40)
    return (
        lambda: asyncio.run(bench_engine.one_turn(folder, steps=19)),
        lambda: asyncio.run(bench_engine.bare_turn(folder, steps=19)),
    )


RATIOS = (
    Ratio(name="decode 2,000 deltas; floor: split and parse", limit=8, work=bench_model.decoding, rounds=15),
    Ratio(
        name="decide on a 200-character command; floor: parse it", limit=50, work=bench_permissions.deciding, rounds=300
    ),
    Ratio(name="a key under 100 hunks; floor: pygls' document", limit=0.8, work=bench_editor.typing, rounds=300),
    Ratio(name="a 20-step turn in the engine; floor: its reads", limit=7, work=_engine_turn, rounds=7),
)


def main() -> int:
    broken = 0
    for each in RATIOS:
        ours, floor = least(each)
        ratio = ours / floor
        met = ratio <= each.limit
        broken += not met
        print(f"  {each.name:<56}{ratio:>8.2f}×  ≤ {each.limit:g}× {'✓' if met else '✗'}")
    print(f"{len(RATIOS) - broken} of {len(RATIOS)} ratios are within their limits")
    return 1 if broken else 0


def least(each: Ratio) -> tuple[float, float]:
    """The least processor time of either side, in seconds."""
    ours, floor = each.work()
    taken: tuple[list[float], list[float]] = ([], [])
    gc.disable()
    try:
        for _ in range(each.rounds):
            for work, times in zip((ours, floor), taken, strict=True):
                began = time.process_time()
                work()
                times.append(time.process_time() - began)
            gc.collect(0)
    finally:
        gc.enable()
    return min(taken[0]), min(taken[1])
