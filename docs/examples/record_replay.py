"""Record and replay: ask a model once, then test your program against what it said, offline and for nothing.

python record_replay.py tape.jsonl     # records if there is no tape yet, replays if there is

A recording holds no keys. A replay never speaks to an endpoint: tools, hooks and permissions run for real.
"""

import asyncio
import sys
from pathlib import Path

import assent


async def summary(folder: Path, options: assent.Options) -> str:
    async with assent.Client(cwd=folder, options=options) as client:
        return (await client.ask("What does greeter.py do?")).result


def on_tape(tape: Path) -> assent.Options:
    return assent.Options(replay=tape) if tape.exists() else assent.Options(record=tape)


if __name__ == "__main__":
    print(asyncio.run(summary(Path.cwd(), on_tape(Path(sys.argv[1])))))
