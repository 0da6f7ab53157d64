"""A reviewer bot: it reads a diff and the files around it, and answers with findings a program can use.

    git diff main | python reviewer_bot.py

It can look, but not touch: whatever would change something or run something is denied. Exit code 1: something serious.
"""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import assent


@dataclass
class Finding:
    file: str
    line: int
    severity: Literal["high", "low"]
    text: str


@dataclass
class Review:
    summary: str
    findings: list[Finding]


async def review(diff: str, folder: Path) -> Review:
    options = assent.Options(output=Review, mode="dontAsk", deny=["Edit", "Write", "Bash", "WebFetch"], max_turns=20)
    async with assent.Client(cwd=folder, options=options) as client:
        result = await client.ask(f"Review this change. Report real defects only.\n\n{diff}")
    if not isinstance(result.structured_output, Review):
        raise SystemExit(f"No review: {result.result}")
    return result.structured_output


if __name__ == "__main__":
    found = asyncio.run(review(sys.stdin.read(), Path.cwd()))
    print(found.summary)
    for each in found.findings:
        print(f"{each.file}:{each.line}: {each.severity}: {each.text}")
    sys.exit(any(each.severity == "high" for each in found.findings))
