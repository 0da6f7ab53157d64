"""A migration over many files, a few at a time: one short conversation per file, each with a report as data.

    python migrate_files.py src "Replace print() by logging.info()"

A conversation may edit its own file and nothing else, so that one that goes astray does no harm to the others.
"""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import assent


@dataclass
class Report:
    changed: bool
    summary: str


async def migrate(folder: Path, files: Sequence[Path], task: str, *, at_once: int = 4) -> dict[str, Report | None]:
    """What was done to each file; None where a conversation failed."""
    limit = asyncio.Semaphore(at_once)

    async def one(file: Path) -> tuple[str, Report | None]:
        name = file.relative_to(folder).as_posix()
        options = assent.Options(output=Report, mode="dontAsk", allow=[f"Edit({name})"], max_turns=10)
        async with limit, assent.Client(cwd=folder, options=options) as client:
            result = await client.ask(f"{task} in {name}, and in no other file.")
        report = result.structured_output
        return name, report if isinstance(report, Report) else None

    return dict(await asyncio.gather(*(one(file) for file in files)))


if __name__ == "__main__":
    top = Path(sys.argv[1]).resolve()
    reports = asyncio.run(migrate(top, sorted(top.rglob("*.py")), sys.argv[2]))
    for path, report in reports.items():
        print(f"{path}: {report.summary if report else 'failed'}")
    sys.exit(None in reports.values())
