"""A project with 200 skills, 50 commands, 30 agents and 12 nested instruction files: what it adds to `initialize` and
to the first prompt (CPU time, system calls included). The floor is an empty project in the same run."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assent.extensions.catalogue import Activation, Catalogues
from assent.extensions.memory import MemoryFiles
from assent.extensions.places import Surroundings

RUNS = 9
ASSENT = str(Path(sys.executable).with_name("assent"))


class Trusted:
    trusted = True

    def approves(self, activation: Activation, /) -> bool:
        return True


def main() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        full, empty = project(home / "full"), home / "empty"
        (empty / ".git").mkdir(parents=True)
        rows = [*first_prompt(home, full, empty), *initialize(home, full, empty)]
    return [{**row, "ratio": row["ours"] / row["floor"] if row["floor"] else None} for row in rows]


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


def first_prompt(home: Path, full: Path, empty: Path) -> list[dict[str, Any]]:
    """A server has loaded all of it in the background before anyone types: what is left is looking for changes."""
    deep = full.joinpath(*(f"d{number}" for number in range(12)))

    def load(root: Path, touched: Path) -> Callable[[], None]:
        catalogues = Catalogues(Surroundings(str(home), str(home / "config")))
        memory = MemoryFiles(home=home)

        def once() -> None:
            catalogues.load(str(root), Trusted())
            memory.load_now(str(root))
            memory.nested_now(str(touched / "file.py"), str(root))

        return once

    warm, bare = load(full, deep), load(empty, empty)
    cold = milliseconds(warm), milliseconds(bare)
    ours = min(milliseconds(warm) for _ in range(RUNS))
    floor = min(milliseconds(bare) for _ in range(RUNS))
    return [
        {
            "name": "200 skills, 50 commands, 30 agents: read for the first time",
            "unit": "ms",
            "ours": cold[0],
            "floor": cold[1],
        },
        {"name": "  added to the first prompt", "unit": "ms", "ours": ours - floor, "floor": floor},
    ]


def initialize(home: Path, full: Path, empty: Path) -> list[dict[str, Any]]:
    times: dict[Path, list[float]] = {full: [], empty: []}
    for _ in range(RUNS):
        for root, found in times.items():
            found.append(spawn(home, root))
    ours, floor = min(times[full]), min(times[empty])
    return [{"name": "  added to initialize", "unit": "ms", "ours": ours - floor, "floor": floor}]


def spawn(home: Path, root: Path) -> float:
    """Milliseconds from the start of the process to the answer of `initialize`."""
    params: dict[str, Any] = {"processId": None, "capabilities": {}, "rootUri": root.as_uri(), "workspaceFolders": None}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
    began = time.perf_counter()
    server = subprocess.Popen(
        [ASSENT, "serve", "--stdio", "--offline"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=root,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
    )
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    server.stdin.flush()
    server.stdout.readline()
    took = (time.perf_counter() - began) * 1000
    server.kill()
    server.wait()
    return took


def milliseconds(work: Callable[[], None]) -> float:
    began = time.thread_time()
    work()
    return (time.thread_time() - began) * 1000


if __name__ == "__main__":
    for row in main():
        print(row)
