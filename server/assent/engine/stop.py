"""Decides whether the turn may end when the model stopped without calling a tool (L8, L12, L13).

The checks run in this order, and only for an answer without an error: the promised structured answer, stop hooks, the
token budget. Each check may continue the turn.
"""

from assent.engine.answer import ModelAnswer
from assent.engine.budget import Continuation, check_token_budget
from assent.engine.hook_facts import background_tasks
from assent.engine.state import State, Step, TurnEnd
from assent.engine.turn import Turn
from assent.storage.agent_logs import AgentLog
from assent.types.blocks import Json
from assent.types.hooks import HookEvent, HookOutcome

STRUCTURED_RETRIES = 5
STOP_HOOK_ROUNDS = 8

MISSING_STRUCTURED = (
    "The answer must be given by calling the StructuredOutput tool with input that matches its schema. "
    "Call it now, with the complete answer."
)


async def conclude(turn: Turn, state: State, answer: ModelAnswer) -> Step:
    turn.last_text = turn.said_before + answer.text
    turn.said_before = ""
    if turn.config.json_schema is not None:
        return await retry_structured(turn, state, nudge=MISSING_STRUCTURED)
    return await stop_hooks(turn, state) or await _token_budget(turn, state) or TurnEnd(reason="completed")


async def retry_structured(turn: Turn, state: State, *, nudge: str | None) -> Step:
    """Another try at the promised answer, up to five of them (Q10)."""
    attempt = state.structured_retries + 1
    if attempt > STRUCTURED_RETRIES:
        text = f"No answer matched the JSON schema after {STRUCTURED_RETRIES} corrections."
        return TurnEnd(reason="model_error", error=text, structured_failed=True)
    if nudge is not None:
        await turn.publish(turn.user_message(nudge))
    return state.proceed(
        "structured_output_retry", attempt=attempt, structured_retries=attempt, messages=turn.history.view()
    )


async def stop_hooks(turn: Turn, state: State) -> Step | None:
    """May the turn end? Asked again after each round that hooks sent back to work and that did some, a few times."""
    idle = state.stop_hook_active and not state.worked_since_block
    if idle or state.stop_hook_rounds >= STOP_HOOK_ROUNDS:
        return None
    data: Json = {
        "stop_hook_active": state.stop_hook_active,
        "last_assistant_message": turn.last_text,
        "background_tasks": background_tasks(
            turn.services.jobs.list() if turn.services.jobs is not None else (), turn.conversation.agents.list()
        ),
        "session_crons": [],
    }
    event: HookEvent = "SubagentStop" if turn.config.source == "subagent" else "Stop"
    if isinstance(turn.services.transcript, AgentLog):
        data["agent_transcript_path"] = str(turn.services.transcript.path)
    step = await _outcome(turn, state, await turn.run_hooks(event, data, subject=turn.agent_type or ""))
    team = turn.services.team
    if step is None and team is not None and team.active:
        for task in team.owned_tasks():
            step = await _outcome(turn, state, await turn.run_hooks("TaskCompleted", team.facts(task)))
            if step is not None:
                return step
        step = await _outcome(turn, state, await turn.run_hooks("TeammateIdle", {"teammate_name": team.name}))
    return step


async def _outcome(turn: Turn, state: State, outcomes: list[HookOutcome]) -> Step | None:
    for outcome in outcomes:
        if outcome.status == "prevented":
            return TurnEnd(reason="stop_hook_prevented", error=outcome.text)
    blocking = [outcome.text or "A hook asks you to go on." for outcome in outcomes if outcome.status == "blocked"]
    if not blocking and not any(outcome.context for outcome in outcomes):
        return None
    if blocking:
        await turn.publish(turn.user_message("\n\n".join(blocking)))  # context is attached already
    return state.proceed(
        "stop_hook_blocking",
        stop_hook_active=True,
        stop_hook_rounds=state.stop_hook_rounds + 1,
        worked_since_block=False,
        messages=turn.history.view(),
    )


async def _token_budget(turn: Turn, state: State) -> Step | None:
    if turn.config.source == "subagent":
        return None
    match check_token_budget(turn.token_budget, turn.output_tokens, state.budget):
        case Continuation(nudge=nudge, tracking=tracking):
            await turn.publish(turn.user_message(nudge))
            return state.proceed(
                "token_budget_continuation",
                attempt=tracking.continuations,
                budget=tracking,
                messages=turn.history.view(),
            )
        case True:
            return TurnEnd(reason="token_budget_stop")
        case _:
            return None
