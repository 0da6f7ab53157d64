"""Whatever breaks, and wherever in a turn it breaks: what was done is done once or said to be unknown, the model has what
it is told it has, and what was spent stays spent (L9, L10, L14, C6, C7, Q6, Q9, S1).

`make torture` runs 200,000 seeds. `ASSENT_SEED=n ASSENT_SEEDS=m` runs m seeds from n on: a long run goes on where it
ended. The ranges that held are written to `.cache/faults.txt`, with the processor time that they took and the commit.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import assent.tools
from assent.tools.tool import AnyTool, Tool
from faultkit import FAULTS, TOOLS, Ground, Trial
from faultkit.steps import MCP_TOOL

EVERY_PAIR = len(TOOLS) * len(FAULTS)
TOLD = ("request_start", "stream_event", "assistant", "tool_started", "tool_finished", "assistant_final", "user")
IN_TURN = ("kill", "abort", "rebuild")  # these can come at each of the same boundaries


def every_boundary() -> list[int]:
    """The seeds of each tool at each boundary: all drops and overflows, of the others one at each, by turns."""
    found: list[int] = []
    for number, fault in enumerate(FAULTS):
        for tool in range(len(TOOLS)):
            turns = fault.kind in IN_TURN and fault.at in TOLD
            due = turns and IN_TURN[(tool + TOLD.index(fault.at)) % len(IN_TURN)] == fault.kind
            if due or (fault.kind != "none" and not turns):
                found.append(number * len(TOOLS) + tool)
    return found


KEPT = Path(__file__).parents[2] / ".cache" / "faults.txt"
RANGE = 250  # seeds in a line of it


def every_tool() -> set[str]:
    """By name: each class of a tool that the program has. Those of MCP servers are one class, made by name."""
    for module in pkgutil.walk_packages(assent.tools.__path__, "assent.tools."):
        importlib.import_module(module.name)
    found: set[type[AnyTool]] = set()
    more: set[type[AnyTool]] = {Tool}
    while more := {each for known in more for each in known.__subclasses__()} - found:
        found |= more
    ours = (each for each in found if each.__module__.startswith("assent.") and not inspect.isabstract(each))
    return {getattr(each, "name", MCP_TOOL) for each in ours}


def test_every_tool_is_in_the_plan_with_each_fault_at_each_boundary() -> None:
    assert set(TOOLS) == every_tool() and len(set(TOOLS)) == len(TOOLS)
    pairs = {(TOOLS[seed % len(TOOLS)], FAULTS[seed // len(TOOLS) % len(FAULTS)]) for seed in range(EVERY_PAIR)}
    assert len(pairs) == EVERY_PAIR
    seen = {
        kind: {fault.at for fault in FAULTS if fault.kind == kind} for kind in ("drop", "kill", "overflow", "rebuild")
    }
    assert seen["rebuild"] == {*TOLD} and seen["kill"] == {*TOLD, "append"}
    assert seen["overflow"] == {"now", "next"} and len(seen["drop"]) == 7
    boundaries = {fault.at for fault in FAULTS if fault.kind != "none"}
    short = [(TOOLS[seed % len(TOOLS)], FAULTS[seed // len(TOOLS)]) for seed in every_boundary()]
    assert {(tool, fault.at) for tool, fault in short} == {(tool, at) for tool in TOOLS for at in boundaries}
    assert {fault for _, fault in short} == {fault for fault in FAULTS if fault.kind != "none"}


def commit_of(folder: Path) -> str:
    told = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=folder, capture_output=True, text=True)
    return told.stdout.strip() or "no commit"


async def run_seeds(folder: Path, seeds: Iterable[int], done: Callable[[int], None] = lambda _: None) -> None:
    async with Ground(folder) as ground:
        for seed in seeds:
            await Trial(ground, seed).run()
            shutil.rmtree(folder / str(seed))
            done(seed)


@pytest.mark.parametrize("part", range(2))
async def test_whatever_breaks_at_whichever_boundary_nothing_is_lost_or_done_twice(part: int, tmp_path: Path) -> None:
    """In two parts that can run side by side. Every tool with every fault: the first seeds of `make torture`."""
    await run_seeds(tmp_path, every_boundary()[part::2])


@pytest.mark.torture
@pytest.mark.timeout(0)
async def test_whatever_breaks_for_many_seeds(tmp_path: Path) -> None:
    first = int(os.environ.get("ASSENT_SEED", "0"))
    last = first + int(os.environ.get("ASSENT_SEEDS", "200000")) - 1
    KEPT.parent.mkdir(exist_ok=True)
    began, since, commit = first, time.process_time(), commit_of(KEPT.parents[1])

    def done(seed: int) -> None:
        nonlocal began, since
        if (seed + 1) % RANGE == 0 or seed == last:
            with KEPT.open("a") as file:
                file.write(f"{commit}: seeds {began} to {seed} hold, {time.process_time() - since:.1f} s\n")
            began, since = seed + 1, time.process_time()

    await run_seeds(tmp_path, range(first, last + 1), done)
