"""Lines from a grammar: every one is decided without a stumble, and what is allowed unasked only ever reads."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from permissions.oracle import make_trap, violations
from permissions.scratch import Scratch
from permissions.shell_corpus import ALWAYS_FINE, NEVER_UNASKED
from permissions.shell_grammar import line

PER_SEED = 100
SEEDS = 200
EXECUTED = 1000
TORTURE_SEEDS = 400


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    return make_trap(tmp_path_factory.mktemp("trap"))


def lines(seed: int) -> list[str]:
    random = Random(seed)
    return [line(random) for _ in range(PER_SEED)]


@settings(
    max_examples=SEEDS,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.integers(min_value=0, max_value=2**32))
def test_twenty_thousand_lines_are_decided_and_an_addition_is_never_overlooked(trap: Scratch, seed: int) -> None:
    random = Random(seed)
    for command in lines(seed):
        decision = trap.bash(command)
        if decision.decision != "allow":
            assert decision.decision == "ask"
            continue
        assert decision.step == "readOnly"
        more = random.choice(("; ", "\n", " && ", " | ", " & ", " || ")) + random.choice(
            ("touch x", "curl x", "./ev.sh", "> x")
        )
        if "<<" not in command and "#" not in command:  # what follows there is body or comment
            assert trap.bash(command + more).decision == "ask", command + more
        assert trap.bash(f"curl x\n{command}", deny=["Bash(curl:*)"], mode="bypassPermissions").decision == "deny"


def allowed_lines(trap: Scratch, seeds: range, enough: int | None = None) -> list[str]:
    found: dict[str, None] = {}
    for seed in seeds:
        for command in lines(seed):
            if trap.bash(command).decision == "allow":
                found.setdefault(command)
        if enough is not None and len(found) >= enough:
            return list(found)[:enough]
    return list(found)


def test_a_thousand_allowed_lines_only_read_when_they_run(trap: Scratch, tmp_path: Path) -> None:
    commands = allowed_lines(trap, range(SEEDS), EXECUTED)
    assert len(commands) == EXECUTED
    assert violations(trap, commands, tmp_path) == []


def test_everyday_commands_only_read_when_they_run(trap: Scratch, tmp_path: Path) -> None:
    commands = [command for command in ALWAYS_FINE if not command.startswith("sleep")]
    assert violations(trap, commands, tmp_path) == []


def test_the_oracle_sees_what_it_must_see(trap: Scratch, tmp_path: Path) -> None:
    guilty = [
        "touch sub/odd/-x",
        "echo x > sub/odd/y",
        "./ev.sh",
        "exec 3<>/dev/tcp/127.0.0.1/9",
        "git -c core.fsmonitor=./ev.sh status",
    ]
    for command in guilty:
        assert violations(trap, [command], tmp_path), command
        for leftover in (trap.root / "PWNED", trap.root / "sub/odd/-x", trap.root / "sub/odd/y"):
            leftover.unlink(missing_ok=True)


@pytest.mark.torture
def test_all_allowed_lines_only_read_when_they_run(trap: Scratch, tmp_path: Path) -> None:
    commands = allowed_lines(trap, range(TORTURE_SEEDS))
    commands += [c for group in NEVER_UNASKED.values() for c in group if trap.bash(c).decision == "allow"]
    assert violations(trap, commands, tmp_path) == []
