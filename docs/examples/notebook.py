"""A notebook-style loop: one conversation, a cell at a time, with the text shown as it comes.

In a notebook, `session = await assent.Client(cwd=".").__aenter__()` in the first cell keeps a client open, and every
later cell is `await cell(session, "…")`.
"""

import asyncio
import contextlib
import sys
from collections.abc import Callable
from pathlib import Path

import assent


def to_screen(text: str) -> None:
    print(text, end="", flush=True)


async def cell(session: assent.Client, prompt: str, show: Callable[[str], None] = to_screen) -> assent.types.Result:
    """Run one cell; pieces of the answer go to `show` as the model writes them."""
    result: assent.types.Result | None = None
    async for message in session.send(prompt):
        if message.type == "stream_event":
            if message.event.get("delta", {}).get("type") == "text_delta":
                show(message.event["delta"]["text"])
        elif message.type == "tool_started":
            show(f"\n[{message.title}]\n")
        elif message.type == "result":
            result = message
    assert result is not None  # a turn ends with its result
    return result


def notebook(folder: Path) -> None:
    """Ctrl-C ends the cell that runs. At the prompt it ends the notebook, and so do Ctrl-D and an empty line."""
    session = assent.Client(cwd=folder, options=assent.Options(include_partial_messages=True))
    with asyncio.Runner() as runner, contextlib.suppress(EOFError, KeyboardInterrupt):
        runner.run(session.__aenter__())
        try:
            while prompt := input("\nIn: "):
                try:
                    done = runner.run(cell(session, prompt))
                    print(f"\n({done.num_turns} steps, {done.total_cost_usd:.4f} USD)")
                except KeyboardInterrupt:
                    print("\n(interrupted)")
        finally:
            runner.run(session.__aexit__(None, None, None))


if __name__ == "__main__":
    notebook(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
