"""The `result` message: how a turn ended, always the last message of its stream (Q6)."""

import orjson

from assent.engine.state import TurnEnd
from assent.engine.turn import Turn
from assent.types.messages import PermissionDenial, Result, ResultSubtype, TerminalReason

SUCCESS: frozenset[TerminalReason] = frozenset(
    {"completed", "token_budget_stop", "stop_hook_prevented", "hook_stopped"}
)
ABORTED: frozenset[TerminalReason] = frozenset({"aborted_streaming", "aborted_tools"})


def subtype_of(terminal: TurnEnd) -> ResultSubtype:
    if terminal.structured_failed:
        return "error_max_structured_output"
    if terminal.reason in SUCCESS:
        return "success"
    if terminal.reason == "max_turns":
        return "error_max_turns"
    if terminal.reason == "budget_usd":
        return "error_max_budget_usd"
    return "error_during_execution"


def result_of(
    turn: Turn,
    terminal: TurnEnd,
    *,
    denials: list[PermissionDenial],
    duration_seconds: float,
) -> Result:
    subtype = subtype_of(terminal)
    ledger = turn.ledger
    text = turn.last_text or terminal.error
    if terminal.reason in ABORTED:
        text = "Aborted"
    elif subtype != "success":
        text = terminal.error or turn.last_text
    elif terminal.structured_output is not None:
        text = orjson.dumps(terminal.structured_output).decode()
    return Result(
        subtype=subtype,
        is_error=subtype != "success",
        terminal=terminal.reason,
        result=text,
        session_id=turn.config.session_id,
        structured_output=terminal.structured_output,
        stop_reason=turn.last_stop_reason,
        num_turns=turn.steps,
        duration_ms=int(duration_seconds * 1000),
        duration_api_ms=int(turn.api_seconds * 1000),
        total_cost_usd=ledger.cost_usd,
        usage=ledger.usage,
        model_usage=dict(ledger.by_model),
        permission_denials=tuple(denials),
    )
