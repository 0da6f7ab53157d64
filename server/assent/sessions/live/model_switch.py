"""Changing the model of a session: PreModelSwitch may refuse it or ask a person; PostModelSwitch is notified."""

from __future__ import annotations

from typing import Protocol, cast

from assent.engine.config import EngineConfig
from assent.sessions.hooks.hooked_session import HookedSession
from assent.sessions.stream.context_fill import UsedSession, usage_event
from assent.storage import transcript
from assent.types.blocks import Json
from assent.types.hooks import strictest
from assent.types.ports import Elicitation, ElicitationAnswer
from assent.wire.events import AnyEvent

SWITCH, KEEP = "Change it", "Keep the model"


class SwitchSession(HookedSession, UsedSession, Protocol):
    @property
    def updated_at(self) -> float: ...
    def configuration(self) -> EngineConfig: ...
    def publish(self, event: AnyEvent, /) -> None: ...
    async def elicit(self, elicitation: Elicitation, /) -> ElicitationAnswer: ...


async def refused(session: SwitchSession, model: str) -> str:
    """Why the model stays as it is, or nothing."""
    hooks = session.deps.session_hooks
    if hooks is None or not hooks.hooks.wants("PreModelSwitch"):
        return ""
    outcomes = await hooks.fire(session, "PreModelSwitch", facts(session, session.options.model, model))
    for outcome in outcomes:
        if outcome.refuses:
            return f"The model was not changed: {outcome.text or 'a hook refused it'}"
    said = strictest(outcomes)
    if said is not None and said.decision in ("ask", "defer") and not await _agreed(session, model, said.text):
        return "The model was not changed: a hook wanted you to decide, and you did not agree."
    return ""


def told(session: SwitchSession, before: str) -> None:
    """The model may be another one than before; its window is another one, too."""
    model, hooks = session.options.model, session.deps.session_hooks
    if model == before:
        return
    session.publish(usage_event(session))
    if hooks is not None:
        hooks.tell(session, "PostModelSwitch", facts(session, before, model))


def facts(session: SwitchSession, before: str, after: str) -> Json:
    """What the change would cost: the next prompt writes the whole context into another model's cache."""
    tokens = transcript.context_tokens(session.transcript)
    price = session.deps.model_info(after)
    age = session.deps.clock() - session.updated_at
    return {
        "old_model": before,
        "new_model": after,
        "context_tokens": tokens,
        "prompt_cache_warm": tokens > 0 and age < session.configuration().cache_seconds,
        "estimated_cache_write_usd": round(tokens * price.cache_write_price / 1_000_000, 6),
        "pricing": {
            "input": price.input_price,
            "output": price.output_price,
            "cache_write": price.cache_write_price,
            "cache_read": price.cache_read_price,
        },
    }


async def _agreed(session: SwitchSession, model: str, why: str) -> bool:
    """Without a user to ask, the answer is no."""
    question = f"Change the model to {model}?" + (f"\n\n{why}" if why else "")
    options = [{"label": KEEP}, {"label": SWITCH}]
    asked = {"id": "model", "header": "Model", "question": question, "multiSelect": False, "allowOther": False}
    answer = await session.elicit(
        Elicitation(message="A hook wants you to decide", questions=({**asked, "options": options},))
    )
    answers: object = answer.content.get("answers")
    chosen: object = cast("Json", answers).get("model") if isinstance(answers, dict) else None
    return answer.action == "accept" and chosen == [SWITCH]
