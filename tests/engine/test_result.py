"""The result of a turn: its kind, its words and its totals, by how the turn ended (Q6)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from assent.engine.budget import Ledger
from assent.engine.result import result_of, subtype_of
from assent.engine.state import TurnEnd
from assent.types.messages import PermissionDenial
from assent.types.ports import ModelInfo
from assent.types.usage import ModelUsage, Usage

USED = Usage(input_tokens=10, output_tokens=5)


def turn(last_text: str = "") -> Any:
    ledger = Ledger(model_info=lambda model: ModelInfo(id=model))
    ledger.book("big", USED, 0.5, 0)
    return cast(
        "Any",
        SimpleNamespace(
            ledger=ledger,
            last_text=last_text,
            last_stop_reason="end_turn",
            steps=3,
            api_seconds=1.25,
            config=SimpleNamespace(session_id="s1"),
        ),
    )


@pytest.mark.parametrize(
    ("end", "subtype"),
    [
        (TurnEnd(reason="completed"), "success"),
        (TurnEnd(reason="token_budget_stop"), "success"),
        (TurnEnd(reason="stop_hook_prevented"), "success"),
        (TurnEnd(reason="hook_stopped"), "success"),
        (TurnEnd(reason="completed", structured_failed=True), "error_max_structured_output"),
        (TurnEnd(reason="max_turns"), "error_max_turns"),
        (TurnEnd(reason="budget_usd"), "error_max_budget_usd"),
        (TurnEnd(reason="model_error"), "error_during_execution"),
        (TurnEnd(reason="aborted_tools"), "error_during_execution"),
    ],
)
def test_each_end_has_its_kind(end: TurnEnd, subtype: str) -> None:
    assert subtype_of(end) == subtype
    result = result_of(turn(), end, denials=[], duration_seconds=0.0)
    assert (result.subtype, result.is_error, result.terminal) == (subtype, subtype != "success", end.reason)


@pytest.mark.parametrize(
    ("end", "said", "text"),
    [
        (TurnEnd(reason="completed"), "the answer", "the answer"),
        (TurnEnd(reason="hook_stopped", error="not now"), "", "not now"),
        (TurnEnd(reason="hook_stopped", error="not now"), "the answer", "the answer"),
        (TurnEnd(reason="model_error", error="it broke"), "half", "it broke"),
        (TurnEnd(reason="max_turns"), "half", "half"),
        (TurnEnd(reason="aborted_streaming", error="x"), "half", "Aborted"),
        (TurnEnd(reason="completed", structured_output={"n": 1}), "words", '{"n":1}'),
        (TurnEnd(reason="max_turns", structured_output={"n": 1}), "words", "words"),
    ],
)
def test_each_end_has_its_words(end: TurnEnd, said: str, text: str) -> None:
    assert result_of(turn(said), end, denials=[], duration_seconds=0.0).result == text


def test_a_result_has_the_totals_of_the_session_and_the_times_of_the_turn() -> None:
    denial = PermissionDenial(tool_name="Bash", tool_use_id="t1", tool_input={"command": "rm"})
    end = TurnEnd(reason="completed", structured_output={"n": 1})
    result = result_of(turn("x"), end, denials=[denial], duration_seconds=2.5)
    assert (result.session_id, result.stop_reason, result.num_turns) == ("s1", "end_turn", 3)
    assert (result.duration_ms, result.duration_api_ms) == (2500, 1250)
    assert (result.total_cost_usd, result.usage) == (0.5, USED)
    assert result.model_usage == {"big": ModelUsage(usage=USED, cost_usd=0.5)}
    assert (result.permission_denials, result.structured_output) == ((denial,), {"n": 1})
