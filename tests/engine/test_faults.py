"""Whatever breaks, and wherever in a turn it breaks: what was done is done once or said to be unknown, the model has what
it is told it has, and what was spent stays spent (L9, L10, L14, C6, C7, Q6, Q9, S1).

`ASSENT_SEED=n ASSENT_SEEDS=m` runs other seeds than the first ones, `make torture` 200,000 of them.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from faultkit import FAULTS, TOOLS, Ground, Trial

EVERY_PAIR = len(TOOLS) * len(FAULTS)


async def run_seeds(folder: Path, count: int, *, part: int = 0, parts: int = 1) -> None:
    first = int(os.environ.get("ASSENT_SEED", "0"))
    seeds = range(first, first + int(os.environ.get("ASSENT_SEEDS", str(count))))
    async with Ground(folder) as ground:
        for seed in seeds[part::parts]:
            await Trial(ground, seed).run()
            shutil.rmtree(folder / str(seed))


@pytest.mark.parametrize("part", range(2))
async def test_whatever_breaks_at_whichever_boundary_nothing_is_lost_or_done_twice(part: int, tmp_path: Path) -> None:
    """Every tool with every fault once, in two parts that can run side by side."""
    await run_seeds(tmp_path, EVERY_PAIR, part=part, parts=2)


@pytest.mark.torture
@pytest.mark.timeout(0)
async def test_whatever_breaks_for_many_seeds(tmp_path: Path) -> None:
    await run_seeds(tmp_path, 200_000)
