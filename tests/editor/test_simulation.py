"""10,000 interleaved keystrokes and edits: see `simulation` for what must hold at every step."""

import pytest

from editor.simulation import HABITS, operations, run, shrink

SEEDS, EACH = 36, 280


@pytest.mark.parametrize("seed", range(SEEDS))
def test_typing_and_agent_edits_interleave_without_losing_a_character(seed: int) -> None:
    ops = operations(seed, EACH)
    try:
        run(seed, ops)
    except BaseException as error:
        short = shrink(seed, ops)
        pytest.fail(f"seed {seed} fails with {error!r}; shortest run found:\n" + "\n".join(map(repr, short)))


def test_the_simulation_covers_what_it_claims() -> None:
    assert SEEDS * EACH >= 10_000
    runs = [run(seed, operations(seed, EACH)) for seed in range(SEEDS)]
    assert sum(one.landings for one in runs) > 100
    assert {state for one in runs for state in one.states} >= {
        "pending",
        "landed",
        "accepted",
        "edited",
        "rejected",
        "reverted",
        "conflict",
        "superseded",
    }
    assert {one.start.habits for one in runs} | {one.start.habits for one in runs} <= set(HABITS)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_longer_runs(seed: int) -> None:
    run(seed, operations(seed, 500))
