"""The second wall alone (safety.md "Two walls"): every shell case we know, executed inside the fence with no reader.

Whatever the reader would have said, the command runs as if it had been judged read-only. Then no file has changed, no
secret was printed, no listener was reached. As whoever runs the tests, and as a plain user when that is root.
"""

import contextlib
import json
import shlex
import socket
from collections.abc import Generator
from pathlib import Path

import pytest

from assent.tools.process import sandbox
from fencekit import SECRET, WHO, Ground, ground, holds_fully
from permissions.shell_corpus import ALWAYS_FINE, NEVER_UNASKED

CASES = Path(__file__).parents[1] / "cases"


def published() -> list[str]:
    found: list[str] = []
    for case in json.loads((CASES / "permission-cases.json").read_text()):
        tool, mode = case.get("tool", "Bash"), case["given"].get("mode", "default")
        if mode == "default" and tool in ("Bash", "Read+Bash"):
            found += [text.removeprefix("Bash: ").removeprefix("Bash ") for text in case["inputs"]]
    return [text.replace("/w/proj", "{proj}") for text in found if not text.startswith("Read ")]


def red_team() -> list[str]:
    cases = json.loads((CASES / "redteam-cases.json").read_text())["cases"]
    return [case["input"]["command"] for case in cases if case["tool"] == "Bash"]


def _parts(name: str, lines: list[str], most: int) -> dict[str, list[str]]:
    return {f"{name} from {start}": lines[start : start + most] for start in range(0, len(lines), most)}


_ASKED = [line for lines in NEVER_UNASKED.values() for line in lines]
SETS: dict[str, list[str]] = {
    "the published cases": published(),
    "the red team's cases": red_team(),
    "every eighth line that always asks": _ASKED[::8],
    "every fourth line that never asks": list(ALWAYS_FINE)[::4],
}
WHOLE: dict[str, list[str]] = {
    **_parts("lines that always ask,", _ASKED, 240),
    "lines that never ask": list(ALWAYS_FINE),
}
RUNS = [(name, who) for number, name in enumerate(SETS) for who in (WHO if number < 2 else (WHO[number % len(WHO)],))]
"""The long lists take turns between root and the plain user."""


@pytest.mark.parametrize(("name", "who"), RUNS, ids=[f"{name}, as {who}" for name, who in RUNS])
def test_what_the_reader_missed_the_fence_stops(name: str, who: str) -> None:
    _executed(SETS[name], who)


@pytest.mark.torture
@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("name", WHOLE)
def test_of_the_whole_corpus_nothing_gets_through_the_fence(name: str, who: str) -> None:
    _executed(WHOLE[name], who)


def _executed(lines: list[str], who: str) -> None:
    if not holds_fully():
        assert sandbox.describe()
        return
    commands = [command for command in lines if "\0" not in command]
    assert len(commands) > 10
    with ground(who) as world, _listening(world) as reached:
        before = world.picture()
        outputs = world.run(*commands, seconds=1.5)
        assert world.picture() == before
    assert reached == []
    assert not [command for command, said in zip(commands, outputs, strict=True) if SECRET in said]


def test_the_cases_are_worth_trying() -> None:
    """Without the fence the same lines change the project, print the secrets and reach the listeners."""
    lines = ["sed -ne p ~/.ssh/id_rsa", "git log --format --output=src/a.py", "cat key", "touch PWNED"]
    with ground() as world:
        before = world.picture()
        outputs = world.run(*lines, fenced=False)
        assert world.picture() != before
    assert SECRET in outputs[0]
    assert SECRET in outputs[2]


@contextlib.contextmanager
def _listening(world: Ground) -> Generator[list[str]]:
    reached: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(world.out / "socket"))
        unix.listen()
        port = tcp.getsockname()[1]
        more = [f"exec 3<>/dev/tcp/127.0.0.1/{port}", f"echo x > /dev/udp/127.0.0.1/{port}"]
        said = world.run(*more, f"{world.python} -I -S -c {shlex.quote(_CONNECT)} {world.out / 'socket'}")
        assert "denied" in " ".join(said)
        yield reached
        for kind, listener in (("TCP", tcp), ("Unix", unix)):
            listener.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                listener.accept()
                reached.append(kind)


_CONNECT = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
