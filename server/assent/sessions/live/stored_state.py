"""What is saved of a session beside its conversation, and how a session that is opened again gets it back."""

from typing import cast

import msgspec

from assent.sessions.live.session import Session
from assent.sessions.live.session_options import options_json
from assent.storage.settings import Behaviour, SourcedRule
from assent.types.blocks import Json


def state_json(session: Session) -> Json:
    state, rules = session.state, session.rules
    return {
        "model": session.options.model,
        "options": options_json(session.options),
        "mode": state.mode,
        "cwd": state.cwd,
        "title": session.title,
        "branch": session.branch,
        "todos": list(state.todos),
        "tasks": session.tasks.to_json(),
        "plan": state.plan,
        "review": session.review_time.chosen,
        "turns": session.turns.count,
        "rules": [rule.rule for rule in rules if rule.behaviour == "allow"],
        "restrictions": [[rule.behaviour, rule.rule] for rule in rules if rule.behaviour != "allow"],
        "queue": [turn.to_json() for turn in session.inbox.unsaid()],
        "asks": msgspec.to_builtins(session.left_asks or session.asks.permissions()),
        "late": session.late.to_json(),
        "snips": session.snips.to_json(),
        "promised": session.promised.to_json(),
        **({"passingTitle": True} if session.passing_title else {}),
        **({"folders": session.folders.added} if session.folders.added else {}),
    }


def restore(session: Session, state: Json) -> None:
    """All but options and mode, which the session is made with, and asks and queue, which its transcript corrects."""
    session.title = str(state.get("title", ""))
    session.passing_title = state.get("passingTitle") is True
    session.branch = str(state.get("branch", ""))
    session.turns.count = int(state.get("turns", 0))
    session.state.todos = cast("list[Json]", state.get("todos") or [])
    session.tasks.load(cast("list[Json]", state.get("tasks") or []))
    session.state.plan = str(state.get("plan") or "")
    session.state.cwd = str(state.get("cwd") or session.cwd)
    review = state.get("review")
    session.review_time.chosen = review if review in ("before", "after", "off") else None
    session.late.restore(state.get("late"))
    session.snips.restore(state.get("snips"))
    session.promised.restore(state.get("promised"))
    session.folders.restore(cast("list[object]", state.get("folders") or []))
    for rule in cast("list[str]", state.get("rules") or []):
        session.rules.append(SourcedRule(rule=rule, source="session", behaviour="allow"))
    for behaviour, rule in cast("list[tuple[Behaviour, str]]", state.get("restrictions") or []):
        session.rules.append(SourcedRule(rule=rule, source="session", behaviour=behaviour))
