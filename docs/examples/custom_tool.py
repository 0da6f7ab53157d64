"""A tool of your own: a function with types and a docstring. The model calls it; it runs in this process.

python custom_tool.py "How many pens are left, and should we order some?"
"""

import asyncio
import sys
from pathlib import Path
from typing import Literal

import assent

STOCK = {"pen": 3, "ink": 12}


@assent.tool(read_only=True)
def stock(item: Literal["pen", "ink"]) -> int:
    """How many pieces of an item are in the store."""
    return STOCK[item]


@assent.tool
async def order(item: Literal["pen", "ink"], count: int) -> dict[str, int]:
    """Order pieces of an item; answers with the new stock."""
    if count > 100:
        raise ValueError("more than 100 at once need a signature")  # the model reads this
    STOCK[item] += count
    return STOCK


async def shopkeeper(prompt: str, folder: Path) -> str:
    server = assent.mcp_server("store", tools=[stock, order])  # the model sees mcp__store__stock and mcp__store__order
    options = assent.Options(mcp_servers={"store": server}, system_prompt="You keep a small shop.")
    async with assent.Client(cwd=folder, options=options) as client:
        return (await client.ask(prompt)).result


if __name__ == "__main__":
    print(asyncio.run(shopkeeper(sys.argv[1], Path.cwd())))
