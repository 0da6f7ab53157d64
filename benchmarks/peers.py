"""Other agents beside ours, in one interleaved run on one endpoint: `make bench PEERS=pi,claude`.

A peer is a program of a package registry that the user installed (npm's folder is found by PATH, or by PEERS_PATH); it
talks to our endpoint on loopback only, with its telemetry and update checks off and a home of its own. What is compared
is what its front shows: ready to take a prompt, the request that follows, steps, processor time, memory.
"""

import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Protocol

from benchmarks.endpoint import Endpoint
from benchmarks.peer import SERVE, Json, Peer, settle
from benchmarks.processes import cpu_seconds, pss_mb

STEPS = 20
ROUNDS = 5
FILES = 5


class Agent(Protocol):
    """One running program, as its editor or script sees it."""

    @property
    def pid(self) -> int: ...
    def ready(self) -> None: ...
    def turn(self, prompt: str) -> None: ...
    def end(self) -> None: ...


class Ours:
    def __init__(self, endpoint: Endpoint) -> None:
        self._peer = Peer(SERVE, endpoint.env)
        _fill(Path(self._peer.home))
        self._session = ""

    @property
    def pid(self) -> int:
        return self._peer.process.pid

    def ready(self) -> None:
        self._session = self._peer.ready(rate=0)

    def turn(self, prompt: str) -> None:
        self._peer.turn(self._session, prompt)

    def end(self) -> None:
        self._peer.kill()


class Lines:
    """A program that takes and gives a JSON object a line."""

    def __init__(self, command: list[str], env: dict[str, str], home: Path) -> None:
        _fill(home)
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.home = home
        self.process = subprocess.Popen(
            command,
            cwd=home,
            env={**kept, "HOME": str(home), **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self._in, self._out = self.process.stdin, self.process.stdout

    @property
    def pid(self) -> int:
        return self.process.pid

    def say(self, message: Json) -> None:
        self._in.write(json.dumps(message).encode() + b"\n")
        self._in.flush()

    def until(self, wanted: Callable[[Json], bool]) -> Json:
        for line in self._out:
            if line.startswith(b"{") and wanted(message := json.loads(line)):
                return message
        raise RuntimeError(f"{self.process.args} ended")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)


class Pi(Lines):
    def __init__(self, endpoint: Endpoint) -> None:
        home = Path(tempfile.mkdtemp(prefix="assent-peer-"))
        settings = home / ".pi" / "agent"
        settings.mkdir(parents=True)
        provider = {"anthropic": {"baseUrl": endpoint.env["ANTHROPIC_BASE_URL"], "apiKey": "ANTHROPIC_API_KEY"}}
        (settings / "models.json").write_text(json.dumps({"providers": provider}))
        command = [_program("pi"), "--mode", "rpc", "--provider", "anthropic", "--model", "claude-sonnet-4-5"]
        env = {**endpoint.env, "PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}
        super().__init__(command, env, home)

    def ready(self) -> None:
        self.say({"id": "ready", "type": "get_state"})
        self.until(lambda message: message.get("type") == "response" and message.get("command") == "get_state")

    def turn(self, prompt: str) -> None:
        self.say({"type": "prompt", "message": prompt})
        self.until(lambda message: message.get("type") == "agent_end")


class ClaudeCode(Lines):
    def __init__(self, endpoint: Endpoint) -> None:
        home = Path(tempfile.mkdtemp(prefix="assent-peer-"))
        command = [_program("claude"), "-p", "--verbose", "--allowedTools", "Read", "Bash(true)", "--model", "sonnet"]
        command += ["--input-format", "stream-json", "--output-format", "stream-json"]
        off = ("TELEMETRY", "AUTOUPDATER", "ERROR_REPORTING", "BUG_COMMAND")
        quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", **{f"DISABLE_{name}": "1" for name in off}}
        super().__init__(command, {**endpoint.env, **quiet}, home)

    def ready(self) -> None:
        self.say({"type": "control_request", "request_id": "ready", "request": {"subtype": "initialize"}})
        self.until(lambda message: message.get("type") == "control_response")

    def turn(self, prompt: str) -> None:
        self.say({"type": "user", "message": {"role": "user", "content": prompt}})
        self.until(lambda message: message.get("type") == "result")


PEERS: dict[str, Callable[[Endpoint], Agent]] = {"pi": Pi, "claude": ClaudeCode}


def compare(names: list[str]) -> dict[str, dict[str, float]]:
    """Row → program → median; ours first."""
    makers: dict[str, Callable[[Endpoint], Agent]] = {"ours": Ours, **{name: PEERS[name] for name in names}}
    found: dict[str, dict[str, list[float]]] = {}
    endpoint = Endpoint()
    try:
        for _ in range(ROUNDS):
            for name, make in makers.items():
                for row, values in _measure(make, endpoint).items():
                    found.setdefault(row, {}).setdefault(name, []).extend(values)
    finally:
        endpoint.close()
    return {
        row: {name: statistics.median(values) for name, values in sides.items() if values}
        for row, sides in found.items()
    }


def _measure(make: Callable[[Endpoint], Agent], endpoint: Endpoint) -> dict[str, list[float]]:
    began = time.monotonic()
    agent = make(endpoint)
    try:
        agent.ready()
        rows = {"spawn → session ready, ms": [1000 * (time.monotonic() - began)]}
        settle(agent.pid)
        rows["idle after session/new, PSS MB"] = [pss_mb(agent.pid)]
        endpoint.times()
        began = time.monotonic()
        agent.turn("plan read 0")
        noted = endpoint.times()
        rows["first prompt → request, ms"] = [1000 * (noted[0]["arrived"] - began)]
        for kind, name in (("read", "Read"), ("bash", "Bash `true`")):
            agent.turn(f"plan {kind} 2")  # warm
            endpoint.times()
            before = cpu_seconds(agent.pid)
            agent.turn(f"plan {kind} {STEPS - 1}")
            rows[f"{STEPS}-step CPU with {name}, s"] = [cpu_seconds(agent.pid) - before]
            rows[f"step with {name}, ms"] = [
                1000 * (after["arrived"] - one["ended"]) for one, after in pairwise(endpoint.times())
            ]
        return rows
    finally:
        agent.end()


def show(rows: dict[str, dict[str, float]]) -> list[str]:
    """As a Markdown table; `best` is ours against the best peer."""
    names = list(dict.fromkeys(name for sides in rows.values() for name in sides))
    lines = [f"| | {' | '.join(names)} | ours / best peer |", f"|---|{'---|' * (len(names) + 1)}"]
    for row, sides in rows.items():
        peers = [value for name, value in sides.items() if name != "ours"]
        ratio = f"{sides['ours'] / min(peers):.2f}×" if peers else "—"
        cells = " | ".join(f"{sides[name]:.2f}" if name in sides else "—" for name in names)
        lines.append(f"| {row} | {cells} | {ratio} |")
    return lines


def _program(name: str) -> str:
    path = shutil.which(name, path=os.pathsep.join((os.environ.get("PEERS_PATH", ""), os.environ.get("PATH", ""))))
    if path is None:
        raise SystemExit(f"{name} is not installed: install it with npm and name its folder of programs in PEERS_PATH")
    return path


def _fill(folder: Path) -> None:
    for name in "abcde"[:FILES]:
        (folder / f"{name}.txt").write_text(f"line {name}\n" * 40)
