"""A budget guard: a list of jobs, and no more money than was set aside for all of them.

    python budget_guard.py 0.50 "Explain main.py" "Explain tests/" "Explain the Makefile"

`max_budget_usd` ends a conversation that has spent that much; what is left goes to the next job.
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import assent


async def within(budget_usd: float, prompts: Sequence[str], folder: Path) -> tuple[list[str], float]:
    """The answers that could be paid for, and what they cost."""
    answers: list[str] = []
    spent = 0.0
    for prompt in prompts:
        left = budget_usd - spent
        if left <= 0:
            break
        async with assent.Client(cwd=folder, options=assent.Options(max_budget_usd=left, max_turns=20)) as client:
            result = await client.ask(prompt)
            spent += (await client.cost())["totalCostUsd"]
        if result.subtype == "error_max_budget_usd":
            break
        answers.append(result.result)
    return answers, spent


if __name__ == "__main__":
    done, cost = asyncio.run(within(float(sys.argv[1]), sys.argv[2:], Path.cwd()))
    print("\n\n".join(done))
    print(f"{len(done)} of {len(sys.argv) - 2} jobs done for {cost:.4f} USD")
