"""10,000 interleaved keystrokes and edits: see `simulation` for what must hold at every step."""

from functools import cache

import pytest

from assent.editor.hunks import STATES
from editor.simulation import ENCODINGS, HABITS, Simulation, operations, run, shrink

SEEDS, EACH = 36, 280


@cache
def played(seed: int) -> Simulation:
    return run(seed, operations(seed, EACH))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_typing_and_agent_edits_interleave_without_losing_a_character(seed: int) -> None:
    try:
        played(seed)
    except BaseException as error:
        short = shrink(seed, operations(seed, EACH))
        pytest.fail(f"seed {seed} fails with {error!r}; shortest run found:\n" + "\n".join(map(repr, short)))


def test_the_simulation_covers_what_it_claims() -> None:
    assert SEEDS * EACH >= 10_000
    runs = [played(seed) for seed in range(SEEDS)]
    assert sum(one.landings for one in runs) > 150
    assert {state for one in runs for state in one.states} == set(STATES)
    assert {one.start.habits for one in runs} == set(HABITS)
    assert {one.start.encoding for one in runs} == set(ENCODINGS)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_longer_runs(seed: int) -> None:
    run(seed, operations(seed, 500))
