"""What a turn begins with, and what each reason to loop resets: the table of `engine/state.py`, field by field (L1)."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any, get_args

import pytest

from assent.engine.state import BudgetTracking, CompactTracking, State, Transition, TurnEnd
from assent.types.messages import ContinueReason
from assent.types.tries import Tries

BEGINNING: dict[str, Any] = {
    "output_recovery_count": 0,
    "reactive_compact_attempted": False,
    "max_tokens_override": None,
    "stream_retry_count": 0,
    "pause_count": 0,
    "tries": None,
    "structured_retries": 0,
    "pending_summary": None,
    "stop_hook_active": False,
    "stop_hook_rounds": 0,
    "worked_since_block": False,
    "turn_count": 1,
    "transition": None,
}
WORN: dict[str, Any] = {
    "output_recovery_count": 2,
    "reactive_compact_attempted": True,
    "max_tokens_override": 64_000,
    "stream_retry_count": 3,
    "pause_count": 4,
    "structured_retries": 2,
    "stop_hook_active": True,
    "stop_hook_rounds": 5,
    "worked_since_block": True,
    "turn_count": 7,
}
ALL = {"output_recovery_count", "max_tokens_override", "stream_retry_count", "pause_count"}
RESET: dict[str, set[str]] = {
    "next_turn": {*ALL, "reactive_compact_attempted"},
    "structured_output_retry": {*ALL, "reactive_compact_attempted"},
    "token_budget_continuation": {*ALL, "reactive_compact_attempted"},
    "stop_hook_blocking": ALL,
}


def test_a_turn_begins_with_nothing_tried_and_its_first_step() -> None:  # L1, L2
    state = State(messages=(), model="m")
    assert {name: getattr(state, name) for name in BEGINNING} == BEGINNING
    assert asdict(state.tracking) == asdict(CompactTracking()) == {"failures": 0, "just_compacted": False}
    assert asdict(state.budget) == {"continuations": 0, "last_delta": 0, "tokens_at_last_check": 0}
    assert asdict(BudgetTracking()) == asdict(state.budget)
    assert asdict(TurnEnd(reason="completed")) == {
        "reason": "completed", "error": "", "structured_output": None, "structured_failed": False,
    }  # fmt: skip
    assert asdict(Transition(reason="next_turn")) == {"reason": "next_turn", "attempt": 0, "committed": 0}


@pytest.mark.parametrize("reason", get_args(ContinueReason))
def test_each_reason_to_loop_resets_what_the_table_says_and_keeps_the_rest(reason: ContinueReason) -> None:  # L1
    worn = replace(State(messages=(), model="m"), **WORN, tries=Tries(retries=2))
    after = worn.proceed(reason, attempt=3, committed=2)
    assert after.tries is None
    for name, value in WORN.items():
        expected = BEGINNING[name] if name in RESET.get(reason, set()) else value
        assert getattr(after, name) == expected, name
    assert after.transition == Transition(reason=reason, attempt=3, committed=2)


def test_a_site_that_loops_has_the_last_word_on_what_it_changes() -> None:  # L1
    tries = Tries(retries=4)
    after = State(messages=(), model="m").proceed("stream_retry", tries=tries, model="n", stream_retry_count=1)
    assert (after.tries, after.model, after.stream_retry_count) == (tries, "n", 1)
    plain = after.proceed("next_turn")
    assert plain.transition == Transition(reason="next_turn", attempt=0, committed=0)
