"""`assent/session/configure`: the options of a session, changed while it lives."""

from dataclasses import replace
from typing import Any

from assent.sessions.live.session import Session
from assent.sessions.live.session_options import thinking_config
from assent.storage.settings import Settings
from assent.tools.process.jobs import ShellJobs
from assent.types.errors import ProtocolError
from assent.types.permissions import Mode
from assent.wire.events import Status
from assent.wire.requests import SessionConfigure
from assent.wire.results import Configured


def configure(session: Session, params: SessionConfigure) -> Configured:
    """Change the options that are given, from the next step or turn on."""
    changes: dict[str, Any] = {}
    if params.model is not None:
        changes["model"] = session.deps.require_model(params.model)
    if params.effort is not None:
        as_set = params.effort == "default"
        changes["effort"] = session.settings.get("effort") if as_set else params.effort
    if params.thinking is not None:
        changes["thinking"] = thinking_config(params.thinking)
    if params.mode is not None:
        session.state.mode = _permitted(params.mode, session.settings)
    if changes:
        session.options = replace(session.options, **changes)
    if params.review is not None:
        session.review_time.chosen = params.review
    if params.keep_running is not None:
        session.keeps_running = params.keep_running
        if isinstance(session.jobs, ShellJobs):
            session.jobs.stand_behind(params.keep_running)
        session.on_roster()
    session.save_state()
    model, mode = session.options.model, session.state.mode
    session.publish(Status(session.waiting.status, model=model, mode=mode))
    options = session.options
    return Configured(model, mode, thinking=options.thinking, effort=options.effort, review=session.review_time.now)


def _permitted(mode: Mode, settings: Settings) -> Mode:
    if mode == "bypassPermissions" and settings.get("permissions.disableBypassPermissions"):
        raise ProtocolError("permissionDenied", "Your settings do not allow the mode bypassPermissions")
    return mode
