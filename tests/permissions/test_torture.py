"""Two hundred thousand decisions on bent inputs: none stumbles, none takes long, and what runs unasked only reads.

make torture                                       the whole of it
ASSENT_TORTURE_FIRST=500 ASSENT_TORTURE_SEEDS=100  seeds 500 to 599 only: a long run goes on where it ended
ASSENT_TORTURE_EXECUTED=2000                       how many of the allowed lines are executed (of each range)
"""

import json
import os
import sys
from pathlib import Path
from random import Random
from time import thread_time

import pytest

from permissions.mutations import mutated
from permissions.oracle import make_trap, violations
from permissions.scratch import Scratch

PER_SEED = 100
DECISIONS_PER_INPUT = 2
FIRST = int(os.environ.get("ASSENT_TORTURE_FIRST", "0"))
SEEDS = int(os.environ.get("ASSENT_TORTURE_SEEDS", "1000"))
EXECUTED = int(os.environ.get("ASSENT_TORTURE_EXECUTED", "4000"))
SLOWEST = 0.050  # seconds of processor time, for inputs of up to 10 KB
CONTEXTS: tuple[dict[str, object], ...] = (
    {"mode": "bypassPermissions"},
    {"mode": "bypassPermissions", "deny": ["Bash(curl:*)", "Read(~/.ssh/**)", "Edit(sub/deep/**)"]},
    {"mode": "bypassPermissions", "ask": ["Bash(git push:*)", "Edit(*.py)"]},
    {"mode": "acceptEdits"},
    {"mode": "plan"},
    {"mode": "dontAsk"},
    {"allow": ["Bash(npm run test:*)", "Bash(git diff:*)", "Bash(make:*)"]},
    {"deny": ["Read(sub/**)"]},
    {"trusted": False},
)

pytestmark = pytest.mark.torture


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    return make_trap(tmp_path_factory.mktemp("torture"))


def decided(ws: Scratch, command: str, **options: object) -> tuple[str, float]:
    """The decision and the processor time it took; the best of three where the first was slow."""
    took: list[float] = []
    while True:
        before = thread_time()
        decision = ws.bash(command, **options)
        took.append(thread_time() - before)
        if took[-1] < SLOWEST or len(took) == 3:
            return decision.decision, min(took)


def test_bent_inputs_are_decided_in_time_and_what_is_allowed_only_reads(trap: Scratch, tmp_path: Path) -> None:
    allowed: dict[str, None] = {}
    times: list[float] = []
    slow: dict[str, float] = {}
    counts = {"allow": 0, "ask": 0, "deny": 0}
    for seed in range(FIRST, FIRST + SEEDS):
        random = Random(seed)
        for _ in range(PER_SEED):
            command = mutated(random)
            for options in ({}, random.choice(CONTEXTS)):
                decision, took = decided(trap, command, **options)
                counts[decision] += 1
                times.append(took)
                if took >= SLOWEST:
                    slow[command] = took
                if not options and decision == "allow":
                    allowed.setdefault(command)
    times.sort()
    figures = {
        "decisions": len(times),
        **counts,
        "median ms": round(times[len(times) // 2] * 1000, 3),
        "p99 ms": round(times[len(times) * 99 // 100] * 1000, 3),
        "slowest ms": round(times[-1] * 1000, 3),
        "allowed lines": len(allowed),
    }
    assert len(times) == SEEDS * PER_SEED * DECISIONS_PER_INPUT
    chosen = [command for command in allowed if "sleep" not in command and "\0" not in command]
    Random(FIRST).shuffle(chosen)
    figures["executed"] = len(chosen[:EXECUTED])
    sys.stdout.write(f"{json.dumps(figures)}\n")
    assert slow == {}
    assert violations(trap, chosen[:EXECUTED], tmp_path) == []
