"""`make mutants`: change the engine in small ways, one at a time, and see whether a test notices.

    python .ci/mutants.py plan                 how many mutants each module has, and how many are tried
    python .ci/mutants.py run [MODULE …]       try those without a verdict yet; verdicts are kept in .cache/mutants
    python .ci/mutants.py again [MODULE …]     the same, and those that survived once more: tests may have come since
    python .ci/mutants.py report               a table by module, and the survivors with their reasons

`SECONDS=n` stops after so long; the next run goes on. `TESTS=word` tries the tests with that word in their name first.
`CPU=n` is the processor time, in seconds, that the tests of one mutant may take together (10).
`mutating` makes the mutants, `trying` runs the tests on them.
The reasons stand in `.ci/survivors.md`: one line for each mutant that no test needs to notice.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from mutating import Mutant
from trying import Bench

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "mutants"
REASONS = ROOT / ".ci" / "survivors.md"
MOST = 100  # mutants of a module of the heart
MOST_ELSEWHERE = 20

LONG_TESTS = ("faults", "long_turn", "random_turns", "offline_background", "remembering_in_the_program")
HEART = ("assent.engine.loop", "assent.engine.state", "assent.tools.run.executor", "assent.model.retry")
HEART_SHARE = 0.9  # of their mutants must be noticed
FIRST = ("recovery", "stop", "budget", "reduction")  # of the engine, after the heart


def all_tests() -> list[str]:
    found = sorted((ROOT / "tests" / "engine").glob("test_*.py"))
    engine = [f"tests/engine/{each.name}" for each in found if each.stem.removeprefix("test_") not in LONG_TESTS]
    model = ["tests/model/test_retry.py", "tests/model/test_failures.py"]
    return ["tests/context", *model, "tests/tools/test_executor_plan.py", *engine]


def all_modules() -> tuple[str, ...]:
    """The heart, then all of `engine` and `context` as it stands in the folders: no list that a rename outdates."""
    server = ROOT / "server"
    files = [file for room in ("engine", "context") for file in sorted((server / "assent" / room).rglob("*.py"))]
    names = [".".join(file.relative_to(server).with_suffix("").parts) for file in files if file.stem != "__init__"]
    names.sort(key=lambda name: not name.removeprefix("assent.engine.").startswith(FIRST))
    return tuple(dict.fromkeys((*HEART, *names)))


MODULES = all_modules()


def chosen(bench: Bench, module: str) -> list[Mutant]:
    return bench.chosen(module, MOST if module in HEART else MOST_ELSEWHERE)


def known_of(module: str) -> dict[str, Any]:
    kept = CACHE / f"{module}.json"
    return json.loads(kept.read_text()) if kept.exists() else {}


def run(modules: list[str], *, again: bool) -> None:
    until = time.monotonic() + float(os.environ.get("SECONDS", "inf"))

    def work(bench: Bench) -> None:
        for module in modules or MODULES:
            known = known_of(module)
            for row in known.values():
                bench.kills[row.get("by", "")] += 1
            for mutant in chosen(bench, module):
                was = known.get(mutant.key, {}).get("verdict")
                if was is not None and not (again and was == "survived"):
                    continue
                if time.monotonic() > until:
                    return
                began = time.monotonic()
                found = bench.verdict(module, mutant)
                known[mutant.key] = {"line": mutant.line, "what": mutant.what, "where": mutant.where, **found}
                (CACHE / f"{module}.json").write_text(json.dumps(known, indent=1))
                took = time.monotonic() - began
                print(f"{module}:{mutant.line} {mutant.what}: {found['verdict']} ({took:.1f} s)", flush=True)

    Bench(ROOT, CACHE, MODULES, work).start(all_tests())


def report() -> int:
    bench = Bench(ROOT, CACHE, MODULES, lambda _: None)
    reasons = REASONS.read_text() if REASONS.exists() else ""
    total = noticed = 0
    poor = False
    print("| module | mutants | noticed | share |\n|---|---|---|---|")
    survivors: list[str] = []
    for module in MODULES:
        known = known_of(module)
        rows = [(each, known[each.key]) for each in chosen(bench, module) if each.key in known]
        if not rows:
            continue
        good = sum(row["verdict"] != "survived" for _, row in rows)
        total, noticed = total + len(rows), noticed + good
        poor = poor or (module in HEART and good < HEART_SHARE * len(rows))
        print(f"| {module} | {len(rows)} | {good} | {100 * good / len(rows):.0f} % |")
        for each, row in rows:
            if row["verdict"] == "survived":
                name = f"`{module.removeprefix('assent.')}` {each.where or 'module'}: {each.what}"
                survivors.append(f"{'' if name in reasons else 'NO REASON '}{name} (line {each.line})")
    print(f"| all | {total} | {noticed} | {100 * noticed / max(1, total):.0f} % |\n")
    print("\n".join(survivors))
    return int(poor)


def main() -> int:
    match sys.argv[1:]:
        case ["run" | "again" as how, *modules]:
            run(modules, again=how == "again")
            return report()
        case ["report"]:
            return report()
        case ["plan"]:
            bench = Bench(ROOT, CACHE, MODULES, lambda _: None)
            for module in MODULES:
                print(f"{module}: {len(bench.chosen(module, 10_000))}, tried {len(chosen(bench, module))}")
            return 0
        case _:
            print(__doc__)
            return 2


if __name__ == "__main__":
    sys.exit(main())
