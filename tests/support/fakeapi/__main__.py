"""`python -m fakeapi [--script FILE] [--loop]`: prints its address on one line, then serves until killed."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

import orjson

from fakeapi import FakeApi, answer_from_json, models


async def _serve(script: list[Any], *, loop: bool) -> None:
    api = FakeApi(check_on_exit=False)
    answers = [answer_from_json(each) for each in script]
    api.add(*answers)
    if loop and answers:
        api.otherwise(lambda request: answers[(request.number - 1) % len(answers)])
    models.names()  # imports the SDK's types now, so that the first request is as fast as the others
    async with api:
        sys.stdout.write(f"{api.url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fakeapi", description=__doc__)
    parser.add_argument("--script", help="a JSON file: a list of answers, as in the package docstring")
    parser.add_argument("--loop", action="store_true", help="start the script again when it has run out")
    options = parser.parse_args()
    script: list[Any] = orjson.loads(Path(options.script).read_bytes()) if options.script else []
    try:
        asyncio.run(_serve(script, loop=options.loop))
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
