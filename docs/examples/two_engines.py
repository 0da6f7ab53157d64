"""Two engines at once: one plans, one works, in one process. Each has its folder, its mode and its own rules.

python two_engines.py PLANNED_PROJECT WORKED_PROJECT
"""

import asyncio
import sys
from pathlib import Path

import assent


async def both(planned: Path, worked: Path) -> tuple[str, str]:
    planning = assent.Options(mode="plan", title="planner")
    working = assent.Options(mode="acceptEdits", title="worker")
    async with (
        assent.Client(cwd=planned, options=planning) as planner,
        assent.Client(cwd=worked, options=working) as worker,
    ):
        plan, work = await asyncio.gather(
            planner.ask("Outline how this project could be tested."),
            worker.ask("Fix the typo in greeter.py."),
        )
    return plan.result, work.result


if __name__ == "__main__":
    for text in asyncio.run(both(Path(sys.argv[1]), Path(sys.argv[2]))):
        print(text)
