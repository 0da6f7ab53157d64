"""Sessions: a long transcript's first page, ten thousand sessions listed, completion among a hundred thousand files,
and what a durable line costs beside the bare fsync."""

import asyncio
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import orjson

from assent.sessions.complete import Completion
from assent.sessions.live import opening
from assent.storage import transcript
from assent.storage.fulltext import FullText
from assent.storage.index import Index, Summary
from assent.storage.journal import Journal
from assent.storage.paths import session_paths, sessions_dir

RUNS = 7


def main() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        rows = [
            *attach(home),
            *listing(home / "list"),
            *full_text(home / "search"),
            *durable(home),
            *completion(home / "files"),
        ]
    return [{**row, "ratio": row["ours"] / row["floor"] if row["floor"] else None} for row in rows]


def write_transcript(path: Path, size: int) -> None:
    """At least `size` bytes of prompts and answers, in turns of twenty."""
    body = "lorem ipsum dolor sit amet " * 40
    with path.open("wb") as file:
        written = number = 0
        while written < size:
            content = [{"type": "text", "text": body}]
            kind = {"type": "assistant", "message_id": "m", "model": "m"} if number % 2 else {"type": "user"}
            written += file.write(orjson.dumps({**kind, "uuid": f"u{number}", "content": content}) + b"\n")
            if number % 20 == 0:
                file.write(orjson.dumps({"type": "session/turn", "turnId": f"t{number}", "uuid": f"u{number}"}) + b"\n")
            if number % 20 == 19:
                file.write(b'{"type":"result","subtype":"success","total_cost_usd":1.0}\n{"type":"session/state"}\n')
            number += 1


def attach_ms(path: Path) -> float:
    """What a client waits for: the session's ends are read, then its newest page."""

    def both() -> None:
        opening._ends(path)
        transcript.newest_page(path)

    return median(timed(both) for _ in range(RUNS)) * 1e3


def attach(home: Path) -> list[dict[str, Any]]:
    """The floor reads the same bytes from the file's end and parses the same lines."""
    path = home / "long.jsonl"
    write_transcript(path, 100 * 1024 * 1024)

    def floor() -> None:
        with path.open("rb") as file:
            file.seek(-256 * 1024, os.SEEK_END)
            for line in file.read().split(b"\n")[-101:]:
                if line:
                    orjson.loads(line)

    ours, bare = interleaved(lambda: transcript.newest_page(path), floor)
    whole, _ = interleaved(lambda: opening._ends(path), floor)
    return [
        {"name": "attach: reopen a session of 100 MB", "ours": whole * 1e3, "floor": bare * 1e3, "unit": "ms"},
        {"name": "attach: first page of 100 MB", "ours": ours * 1e3, "floor": bare * 1e3, "unit": "ms"},
        {"name": "attach: memory for 100 MB", "ours": grown(path), "floor": 0.0, "unit": "MB"},
        {
            "name": "resume: load 100 MB whole",
            "ours": timed(lambda: _drained(path)) * 1e3,
            "floor": _parse(path),
            "unit": "ms",
        },
    ]


def listing(data: Path) -> list[dict[str, Any]]:
    """The floor reads the directory's names and nothing else."""
    index = Index(data)
    sessions_dir(data).mkdir(parents=True)
    lines: list[bytes] = []
    for number in range(10_000):
        cwd = f"/home/someone/project{number % 20}"
        paths = session_paths(data, cwd, f"s{number:06}")
        paths.transcript.parent.mkdir(exist_ok=True)
        paths.transcript.touch()
        summary = {"session_id": paths.session_id, "title": f"Fix bug number {number}", "cwd": cwd}
        details = {"branch": "main", "updated_at": float(number), "turns": 3, "cost_usd": 0.5, "text": "fix it " * 20}
        lines.append(orjson.dumps({**summary, **details, "folder": paths.transcript.parent.name}) + b"\n")
    (sessions_dir(data) / "index.jsonl").write_bytes(b"".join(lines))

    def floor() -> None:
        for folder in os.scandir(sessions_dir(data)):
            if folder.is_dir():
                os.listdir(folder.path)  # noqa: PTH208 -- the floor is the bare call

    def cold() -> None:
        assert len(Index(data).all()) == 10_000

    first, bare = interleaved(cold, floor)
    warm, _ = interleaved(lambda: index.all(), floor)
    search, _ = interleaved(lambda: index.search("number 777"), floor)
    assert index.search("number 777")[0] == Summary(**orjson.loads(lines[9777]))
    return [
        {"name": "list 10,000 sessions, cold", "ours": first * 1e3, "floor": bare * 1e3, "unit": "ms"},
        {"name": "list 10,000 sessions, warm", "ours": warm * 1e3, "floor": bare * 1e3, "unit": "ms"},
        {"name": "search 10,000 sessions", "ours": search * 1e3, "floor": bare * 1e3, "unit": "ms"},
    ]


def full_text(data: Path) -> list[dict[str, Any]]:
    """Ten thousand conversations of ten messages each; the floor looks at the files' names and times."""
    chance = random.Random(7)
    words = [f"{a}{b}" for a in ("par", "tok", "ren", "cach", "que", "mer") for b in ("ser", "en", "der", "ing", "ry")]
    for number in range(10_000):
        path = session_paths(data, f"/home/someone/project{number % 20}", f"s{number:06}").transcript
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for at in range(10):
                said = " ".join(chance.choices(words, k=60)) + (f" needle{number}" if at == 3 else "")
                content = [{"type": "text", "text": said}]
                kind = {"type": "assistant", "message_id": "m", "model": "m"} if at % 2 else {"type": "user"}
                file.write(orjson.dumps({**kind, "uuid": f"u{number}-{at}", "content": content}) + b"\n")
    index = FullText(data)
    built = timed(lambda: index.search("nothing"))

    def floor() -> None:
        for folder in os.scandir(sessions_dir(data)):
            if folder.is_dir():
                for file in os.scandir(folder.path):
                    file.stat()

    def search(query: str, sessions: int) -> None:
        found = index.search(query)
        assert len(found.sessions) == sessions
        assert len(found.hits(list(found.sessions)[:50])) == min(50, sessions)

    rare, bare = interleaved(lambda: search("needle7777", 1), floor)
    common, _ = interleaved(lambda: search("parser token", 10_000), floor)
    size = index.file.stat().st_size / 2**20
    texts = sum(file.stat().st_size for file in sessions_dir(data).glob("*/*.jsonl")) / 2**20
    return [
        {"name": "full text: index of 10,000 sessions, made once", "ours": built * 1e3, "floor": None, "unit": "ms"},
        {"name": "full text: a rare word in 10,000 sessions", "ours": rare * 1e3, "floor": bare * 1e3, "unit": "ms"},
        {"name": "full text: words of all 10,000 sessions", "ours": common * 1e3, "floor": bare * 1e3, "unit": "ms"},
        {"name": "full text: size of the index", "ours": size, "floor": texts, "unit": "MB"},
    ]


def durable(home: Path) -> list[dict[str, Any]]:
    """One line written and on the disk, against write and fsync alone; p50 of 200."""
    record = {"type": "user", "uuid": "u", "content": [{"type": "text", "text": "x" * 500}]}
    line = orjson.dumps(record) + b"\n"

    async def run() -> tuple[list[float], list[float]]:
        journal = Journal(home / "ours.jsonl")
        fd = os.open(home / "floor.jsonl", os.O_WRONLY | os.O_CREAT)
        ours: list[float] = []
        floor: list[float] = []
        for _ in range(200):
            began = time.perf_counter()
            journal.append(record)
            await journal.flush()
            ours.append(time.perf_counter() - began)
            began = time.perf_counter()
            os.write(fd, line)
            os.fsync(fd)
            floor.append(time.perf_counter() - began)
        os.close(fd)
        journal.close()
        return ours, floor

    ours, floor = asyncio.run(run())
    return [{"name": "durable append (fsync)", "ours": median(ours) * 1e3, "floor": median(floor) * 1e3, "unit": "ms"}]


def completion(root: Path) -> list[dict[str, Any]]:
    """The floor is one substring test per name."""
    for folder in range(200):
        inner = root / f"package_{folder:03}" / "src"
        inner.mkdir(parents=True)
        for number in range(500):
            (inner / f"module_{number:03}_{'test' if number % 7 == 0 else 'main'}.py").touch()

    async def run() -> list[dict[str, Any]]:
        complete = Completion()
        began = time.perf_counter()
        files = await complete.files(str(root))
        cold = time.perf_counter() - began
        assert len(files.names) > 100_000
        rows = [{"name": "@ 100,000 files: first listing", "ours": cold * 1e3, "floor": _ripgrep(root), "unit": "ms"}]
        for query in ("module_123", "test", "p42m7", "zzz"):
            ours: list[float] = []
            floor: list[float] = []
            for _ in range(RUNS):
                files.made = float("inf")
                began = time.perf_counter()
                await complete.complete(f"see @{query}", 5 + len(query), folders=[str(root)], commands=())
                ours.append(time.perf_counter() - began)
                began = time.perf_counter()
                [name for name in files.folded if query in name]
                floor.append(time.perf_counter() - began)
            row = {"ours": median(ours) * 1e3, "floor": median(floor) * 1e3, "unit": "ms"}
            rows.append({"name": f"@{query} among 100,000 files, warm", **row})
        return rows

    return asyncio.run(run())


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def interleaved(ours: Callable[[], object], floor: Callable[[], object]) -> tuple[float, float]:
    pairs = [(timed(ours), timed(floor)) for _ in range(RUNS)]
    return median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)


def grown(path: Path) -> float:
    """How much a fresh process grows by opening the first page, in MB."""
    code = (
        "import resource, sys; from pathlib import Path; from assent.storage import transcript; "
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; transcript.newest_page(Path(sys.argv[1])); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


def _drained(path: Path) -> None:
    for _ in transcript.stream(path):
        pass


def _parse(path: Path) -> float:
    def parse() -> None:
        with path.open("rb") as file:
            for line in file:
                orjson.loads(line)

    return timed(parse) * 1e3


def _ripgrep(root: Path) -> float:
    from assent.tools.search.ripgrep import system_program

    program = system_program()
    if program is None:
        return 0.0
    return timed(lambda: subprocess.run([program, "--files", str(root)], capture_output=True, check=True)) * 1e3


if __name__ == "__main__":
    for row in main():
        ratio = f"{row['ratio']:.2f}x" if row["ratio"] else "-"
        print(f"{row['name']:45} {row['ours']:10.2f} {row['floor']:10.2f} {row['unit']:3} {ratio}")
    print(f"peak RSS {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
