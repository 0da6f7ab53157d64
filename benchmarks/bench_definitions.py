"""A project with 200 skills, 50 commands, 30 agents and 12 nested instruction files: what it adds to `initialize` and
to the first prompt of a server that has settled. Processor time; the floor is an empty project, the two alternate."""

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.endpoint import Endpoint
from benchmarks.peer import SERVE, Peer
from benchmarks.processes import asleep, cpu_clock

from assent.extensions.catalogue import Activation, Catalogues
from assent.extensions.memory import MemoryFiles
from assent.extensions.places import Surroundings

Row = dict[str, Any]
RUNS = 7


@dataclass(frozen=True)
class Trusted:
    trusted: bool = True

    def approves(self, activation: Activation, /) -> bool:
        return True


def main() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        full, empty = project(home / "full"), home / "empty"
        (empty / ".git").mkdir(parents=True)
        (home / "user").mkdir()
        return [first_reading(home, full, empty), first_prompt(home, full, empty), answer(home, full, empty)]


def project(root: Path) -> Path:
    (root / ".git").mkdir(parents=True)
    for number in range(200):
        put(root / f".claude/skills/s{number}/SKILL.md", f"name: s{number}\ndescription: does one thing: {number}")
    for number in range(50):
        put(root / f".claude/commands/c{number}.md", "description: a command\nargument-hint: [file] [message]")
    for number in range(30):
        put(root / f".claude/agents/a{number}.md", f"name: a{number}\ndescription: an agent\ntools: Read, Grep")
    nested = root
    for number in range(12):
        nested = nested / f"d{number}"
        put(nested / "AGENTS.md", "")
    return root


def put(path: Path, header: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((f"---\n{header}\n---\n" if header else "") + "A line of instructions for the model.\n" * 40)


def first_reading(home: Path, full: Path, empty: Path) -> Row:
    """All of it from the disk, once: a server does this in the background before anyone types."""

    def load(root: Path) -> Callable[[], None]:
        catalogues = Catalogues(Surroundings(str(home), str(home / "config")))
        memory = MemoryFiles(home=home)
        touched = root.joinpath(*(f"d{number}" for number in range(12)), "file.py")

        def once() -> None:
            catalogues.load(str(root), Trusted())
            memory.load_now(str(root))
            memory.nested_now(str(touched), str(root))

        return once

    name = "200 skills, 50 commands, 30 agents: read for the first time"
    return _row(name, milliseconds(load(full)), milliseconds(load(empty)))


def first_prompt(home: Path, full: Path, empty: Path) -> Row:
    """Processor time of a real server, with trust, from the first prompt to its request."""
    endpoint = Endpoint()
    found: dict[Path, list[float]] = {full: [], empty: []}
    try:
        for _ in range(RUNS):
            for root in (full, empty):
                found[root].append(_prompted(endpoint, home, root))
    finally:
        endpoint.close()
    first, bare = statistics.median(found[full]), statistics.median(found[empty])
    return _row("  added to the first prompt", first - bare, bare)


def answer(home: Path, full: Path, empty: Path) -> Row:
    """Processor time of a real server that trusts the folder, from its start to its answer to `initialize`."""
    found: dict[Path, list[float]] = {full: [], empty: []}
    for _ in range(3 * RUNS):  # each is short
        for root in (full, empty):
            found[root].append(_answered(home, root))
    first, bare = statistics.median(found[full]), statistics.median(found[empty])
    return _row("  added to initialize", first - bare, bare)


def _prompted(endpoint: Endpoint, home: Path, root: Path) -> float:
    peer = Peer(SERVE, endpoint.env, home=str(home / "user"))
    pid = peer.process.pid
    try:
        peer.initialize(folder=root)
        uri = {"uri": root.as_uri()}
        trust = peer.request("assent/trust/get", uri)
        if not trust["trusted"]:
            peer.request("assent/trust/set", {**uri, "trusted": True, "hash": trust["hash"]})
        session = peer.request("assent/session/new", {"cwd": str(root)})["sessionId"]
        peer.settle()
        endpoint.watch(pid)
        endpoint.times()
        began = cpu_clock(pid)
        peer.turn(session, "plan read 0")
        return 1000 * (endpoint.times()[0]["cpu"] - began)
    finally:
        peer.end()


def _answered(home: Path, root: Path) -> float:
    """The pipe for its answer is full: the server stands still there, and what it does afterwards does not count,
    however late this process reads its clock."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b" " * 4096)
    except BlockingIOError:
        os.set_blocking(writing, True)
    peer = Peer(SERVE, {}, home=str(home / "user"), stdout=writing)
    os.close(writing)
    try:
        peer.send_initialize(folder=root)
        asleep(peer.process.pid)
        return 1000 * cpu_clock(peer.process.pid)
    finally:
        peer.end()
        os.close(reading)


def _row(name: str, ours: float, floor: float) -> Row:
    return {"name": name, "unit": "ms", "ours": ours, "floor": floor, "ratio": ours / floor if floor else None}


def milliseconds(work: Callable[[], None]) -> float:
    began = time.thread_time()
    work()
    return (time.thread_time() - began) * 1000


if __name__ == "__main__":
    for row in main():
        print(row)
