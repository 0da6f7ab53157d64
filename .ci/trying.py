"""Tries mutants: one pytest session collects the tests, and each mutant gets a forked copy of it.

Which tests run which lines is measured with coverage's contexts, once for each file of tests. A mutant is tried with
the tests that run its statement, those of the module itself first (or those that have the word of `TESTS=word` in their
name), then those that noticed another mutant, then the quickest, until one fails. A copy has so much processor time;
one that uses it up is in an endless loop, which counts as noticed.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import importlib.util
import json
import os
import re
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import coverage
import hypothesis
import pytest
from _pytest.runner import runtestprotocol
from mutating import Mutant, mutants, put_in

PLUGINS = ("pytest_asyncio.plugin", "pytest_timeout")
QUIETLY = ("-q", "-p", "no:cacheprovider", "-s", *(word for name in PLUGINS for word in ("-p", name)))
MOST_TESTS = 150  # tried on one mutant
MOST_SECONDS = float(os.environ.get("CPU", "10"))  # of processor time, as measured, that they take together
LONG = 0.5  # seconds; such tests come last
PATIENCE = 4.0  # seconds of processor time more than the tests take
STANDSTILL = 15.0  # seconds without any processor time: it waits for what will never come
Work = Callable[[], dict[str, Any]]


def in_child(work: Work, seconds: float) -> dict[str, Any] | None:
    """What `work()` gives in a forked process; None when it used up its processor time, or stood still for long."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.close(reading)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        bound = int(time.process_time() + seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (bound, bound + 1))
        try:
            told = json.dumps(work()).encode()
        except BaseException as error:
            told = json.dumps({"crash": repr(error)}).encode()
        while told:
            told = told[os.write(writing, told) :]
        os._exit(0)
    os.close(writing)
    heard = bytearray()
    used, since = -1, time.monotonic()
    while time.monotonic() - since < STANDSTILL:
        if select.select([reading], [], [], 1.0)[0]:
            part = os.read(reading, 1 << 16)
            if not part:
                break
            heard += part
        if (now := _ticks(pid)) != used:
            used, since = now, time.monotonic()
    os.close(reading)
    try:
        os.killpg(pid, signal.SIGKILL)  # what the tests left running too
    except ProcessLookupError:
        pass
    os.waitpid(pid, 0)
    return json.loads(heard) if heard else None


def _ticks(pid: int) -> int:
    """Of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def failures_of(items: list[Any]) -> Iterator[tuple[Any, str]]:
    """Runs them; each with the first words of its failure, or nothing."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        said: list[str] = []
        for report in runtestprotocol(item, log=False, nextitem=following):
            if report.failed:
                words = report.longreprtext.strip().splitlines()
                said += [line for line in words if line.startswith("E ")] or ["E failed"]
        yield item, said[0][:200] if said else ""


def run_items(items: list[Any]) -> dict[str, Any]:
    """Up to the first failure."""
    for item, said in failures_of(items):
        if said:
            return {"failed": item.nodeid, "said": said}
    return {"failed": ""}


def patient_hypothesis() -> None:
    """The same examples every time, however slow the machine is."""
    every = list(hypothesis.HealthCheck)
    hypothesis.settings.register_profile("mutants", deadline=None, suppress_health_check=every, derandomize=True)
    hypothesis.settings.load_profile("mutants")


class Instead:
    """Loads one module from another text."""

    def __init__(self, module: str, text: str, file: str) -> None:
        self.module, self.text, self.file = module, text, file

    def find_spec(self, name: str, *_: object) -> Any:
        return importlib.util.spec_from_loader(name, self, origin=self.file) if name == self.module else None

    def create_module(self, _spec: object) -> None:
        return None

    def exec_module(self, module: Any) -> None:
        exec(compile(self.text, self.file, "exec"), module.__dict__)


class Bench:
    """A pytest plugin whose test loop is `work`."""

    def __init__(self, root: Path, cache: Path, modules: tuple[str, ...], work: Callable[[Bench], None]) -> None:
        self.root, self.cache, self.modules, self.work = root, cache, modules, work
        self.items: dict[str, Any] = {}
        self.tests: dict[str, Any] = {}
        self.kills: Counter[str] = Counter()
        self.crash: BaseException | None = None

    def file_of(self, module: str) -> Path:
        return self.root / "server" / Path(*module.split(".")).with_suffix(".py")

    def start(self, tests: list[str]) -> None:
        os.chdir(self.root)
        self.cache.mkdir(parents=True, exist_ok=True)
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # all others only cost time
        sys.path[:0] = [str(self.root / "server"), str(self.root / "tests" / "support"), str(self.root / "tests")]
        patient_hypothesis()
        scratch = tempfile.mkdtemp(prefix="assent-mutants-")
        self.scratch = f"--basetemp={scratch}/t"
        try:
            code = pytest.main([*QUIETLY, self.scratch, "-m", "not torture and not editor", *tests], [self])
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        if self.crash is not None:
            raise self.crash
        if code:
            raise SystemExit(f"pytest ended with {code}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        try:
            self.measure()
            self.work(self)
        except BaseException as error:
            self.crash = error
        return True

    # --- which tests run which lines ---------------------------------------------------------------------------------

    def measure(self) -> None:
        """Kept for each file of tests until it or a module changes."""
        kept = self.cache / "tests.json"
        stamp = [hash_of(self.file_of(module)) for module in self.modules]
        known: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
        if known.get("modules") != stamp:
            known = {"modules": stamp, "files": {}, "loaded": []}
        load(known["loaded"])
        by_file: dict[str, list[Any]] = {}
        for name, item in self.items.items():
            by_file.setdefault(name.partition("::")[0], []).append(item)
        for file, items in by_file.items():
            now = hash_of(self.root / file)
            if known["files"].get(file, {}).get("hash") == now:
                continue
            began = time.monotonic()
            found = in_child(lambda items=items: self._measured(items), 600)
            if found is None or "crash" in found:
                raise SystemExit(f"{file}: the tests cannot be measured: {found}")
            known["files"][file] = {"hash": now, "tests": found["tests"]}
            known["loaded"] = sorted({*known["loaded"], *found["loaded"]})
            kept.write_text(json.dumps(known))
            print(
                f"{file}: {len(found['tests'])} of {len(items)} tests measured in {time.monotonic() - began:.0f} s",
                flush=True,
            )
        self.tests = {name: seen for file in by_file for name, seen in known["files"][file]["tests"].items()}
        gc.collect()
        gc.freeze()

    def _measured(self, items: list[Any]) -> dict[str, Any]:
        files = {str(self.file_of(module)): module for module in self.modules}
        cover = coverage.Coverage(data_file=None, include=list(files), config_file=False)
        tests: dict[str, Any] = {}
        run_items(items[:1])  # what a file of tests imports at first is not the time of its first test
        cover.start()
        cover.switch_context(items[0].nodeid)
        began = time.process_time()
        for (item, said), following in zip(failures_of(items), [*items[1:], None], strict=True):
            now = time.process_time()
            if not said:  # one that fails by itself says nothing of a mutant
                tests[item.nodeid] = {"seconds": round(now - began, 4), "lines": {}}
            began = now
            if following is not None:
                cover.switch_context(following.nodeid)
        cover.stop()
        data = cover.get_data()
        for file in data.measured_files():
            for line, contexts in data.contexts_by_lineno(file).items():
                for context in filter(tests.__contains__, contexts):
                    tests[context]["lines"].setdefault(files[file], []).append(line)
        loaded = [name for name in sys.modules if not name.startswith(("test_", "__", "tests"))]
        return {"tests": tests, "loaded": loaded}

    # --- one mutant --------------------------------------------------------------------------------------------------

    def chosen(self, module: str, most: int) -> list[Mutant]:
        """All of a small module; of a large one some, by their keys, so that they stay the same ones."""
        every = mutants(self.file_of(module).read_text())
        picked = sorted(every, key=lambda each: hashlib.sha256(each.key.encode()).digest())[:most]
        return sorted(picked, key=lambda each: each.line)

    def verdict(self, module: str, mutant: Mutant) -> dict[str, Any]:
        names = list(self._ranked(module, mutant))
        if not names:
            return {"verdict": "survived", "tests": 0}
        bound = PATIENCE + 3 * sum(self.tests[name]["seconds"] for name in names)

        def work() -> dict[str, Any]:
            if put_in(module, mutant.code(str(self.file_of(module)))):
                return run_items([self.items[name] for name in names])
            return self._all_again(module, mutant, names)

        found = in_child(work, bound)
        if found is not None and found.get("failed") == "" and not mutant.where and len(names) > 1:
            found = in_child(
                lambda: self._all_again(module, mutant, names[:30]), 2 * bound
            )  # a constant, used as a default
        if found is None:
            return {"verdict": "endless", "tests": len(names)}
        if "crash" in found:
            return {"verdict": "noticed", "by": "the import", "said": found["crash"][:200]}
        if found["failed"]:
            self.kills[found["failed"]] += 1
            return {"verdict": "noticed", "by": found["failed"], "said": found["said"]}
        return {"verdict": "survived", "tests": len(names)}

    def _ranked(self, module: str, mutant: Mutant) -> Iterator[str]:
        own = f"test_{module.rpartition('.')[2]}"
        lines = {name: set(each["lines"].get(module, ())) for name, each in self.tests.items()}
        seen = [name for name, found in lines.items() if any(at in found for at in mutant.lines)]
        if not seen or not mutant.where:  # a constant, or a default: no test is seen to run it
            seen = [name for name, found in lines.items() if found or own in name]
        after = {name: sum(mutant.line + at in lines[name] for at in (1, 2)) for name in seen}
        cost = {name: self.tests[name]["seconds"] for name in seen}
        wanted = os.environ.get("TESTS") or own
        seen.sort(
            key=lambda name: (
                wanted not in name,
                own not in name,
                cost[name] > LONG,
                -self.kills[name],
                -after[name],
                cost[name],
            )
        )
        spent = 0.0
        for name in seen[:MOST_TESTS]:
            if spent + cost[name] <= MOST_SECONDS:
                spent += cost[name]
                yield name

    def _all_again(self, module: str, mutant: Mutant, names: list[str]) -> dict[str, Any]:
        """Import everything again that uses the module, and run the tests in a session of their own."""
        for name in dependents(module, self.root):
            sys.modules.pop(name, None)
        sys.meta_path.insert(0, Instead(module, mutant.text(), str(self.file_of(module))))  # type: ignore[arg-type]
        code = pytest.main([*QUIETLY, self.scratch, "-x", *names])
        return {"failed": "" if code == 0 else "some test", "said": f"all imported again: {code}"}


def dependents(module: str, root: Path) -> list[str]:
    """The loaded modules of ours that import this one, directly or not, and itself."""
    uses: dict[str, str] = {}
    for name, loaded in list(sys.modules.items()):
        file = getattr(loaded, "__file__", None) or ""
        if file.startswith(str(root)) and "/.venv/" not in file:
            uses[name] = Path(file).read_text()
    found = {module}
    while more := {
        name
        for name, text in uses.items()
        if name not in found and any(re.search(rf"\b{re.escape(each)}\b", text) for each in found)
    }:
        found |= more
    return sorted(found)


def load(names: list[str]) -> None:
    """What tests load on first use is loaded once, before the forks."""
    for name in names:
        if name not in sys.modules:
            try:
                importlib.import_module(name)
            except Exception:  # some are made by hand while a test runs
                continue


def hash_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]
