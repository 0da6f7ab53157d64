"""`make bench`: every `bench_*.py` beside this file, one table.

A row compares us with a floor (the bare library doing only that step) measured in the same interleaved run; ratios are
what counts, absolute times on a shared machine mean little. What we aim for is in `aims.py`.

    python -m benchmarks             everything
    python -m benchmarks lsp model   these parts
    python -m benchmarks --write     everything, growth and RESULTS.md too
    python -m benchmarks --quick     the ratios that may not double, in processor time; fails when one does
    PEERS=pi,claude                  these agents beside ours, as `peers.py` says
"""

import importlib
import inspect
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast

from benchmarks import quick
from benchmarks.aims import AIMS, Row
from benchmarks.growth import measure as growth
from benchmarks.peers import PEERS, compare, show
from benchmarks.processes import own_cpu_seconds
from benchmarks.report import PAGE, PICTURE, Run, write


def main(words: list[str]) -> int:
    parts = [word for word in words if not word.startswith("--")]
    if "--quick" in words:
        return quick.main()
    peers = [name for name in os.environ.get("PEERS", "").split(",") if name]
    if peers and (unknown := set(peers) - PEERS.keys()):
        print(f"no driver for {', '.join(sorted(unknown))}; there are: {', '.join(PEERS)}", file=sys.stderr)
        return 2
    here = Path(__file__).parent
    names = sorted(path.stem for path in here.glob("bench_*.py"))
    chosen = [name for name in names if not parts or name.removeprefix("bench_") in parts]
    if not chosen:
        print(f"no such part; there are: {', '.join(name.removeprefix('bench_') for name in names)}", file=sys.stderr)
        return 2
    load = os.getloadavg()[0]
    machine = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, load {load:.1f}"
    print(f"{machine}\n")
    print(f"{'':<62}{'ours':>12}{'floor':>12}  {'unit':<8}{'ratio':>8}  aim")
    missed: list[str] = []
    judged: set[str] = set()
    measured: dict[str, list[Row]] = {}
    for name in chosen:
        began, cpu = time.perf_counter(), own_cpu_seconds()
        rows = measured[name.removeprefix("bench_")] = _run(name)
        print(f"— {name.removeprefix('bench_')}")
        for row in rows:
            aim = AIMS.get(row["name"])
            met = aim is None or aim.met(row)
            judged |= {row["name"]} & AIMS.keys()
            missed += [] if met else [row["name"].strip()]
            print(_line(row) + (f"  {aim} {'✓' if met else '✗'}" if aim else ""))
        spent = f"{own_cpu_seconds() - cpu:.1f} CPU s, {time.perf_counter() - began:.1f} s"
        print(f"  ({spent}, peak memory {_peak_mb():.0f} MB)")
    print(f"\n{len(judged) - len(missed)} of {len(judged)} aims met", *missed, sep="\n  missed: ")
    if not parts and (unmeasured := AIMS.keys() - judged):
        print("  nothing measures:", *sorted(unmeasured))
    if load > (os.cpu_count() or 1) / 2:
        print("  The machine was busy when this began: times in ms and µs say little, ratios more.")
    compared = show(compare(peers)) if peers else []
    print(*compared, sep="\n")
    if "--write" in words:
        write(Run(machine=machine, commit=_commit(), date=_today(), parts=measured, curves=growth(), peers=compared))
        print(f"  written: {PAGE.name} and {PICTURE.name}")
    return 0


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _today() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())


def _run(name: str) -> list[Row]:
    found = importlib.import_module(f"benchmarks.{name}").main()
    if inspect.isawaitable(found):
        import asyncio

        async def wait() -> Any:
            return await found

        found = asyncio.run(wait())
    return cast("list[Row]", found)


def _line(row: Row) -> str:
    def number(value: object) -> str:
        return f"{value:,.3f}" if isinstance(value, float) else "—" if value is None else f"{value:,}"

    ratio = row.get("ratio")
    return (
        f"  {row['name']:<60}{number(row['ours']):>12}{number(row.get('floor')):>12}  {row.get('unit', ''):<8}"
        f"{f'{ratio:.2f}×' if isinstance(ratio, float | int) else '—':>8}"
    )


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
