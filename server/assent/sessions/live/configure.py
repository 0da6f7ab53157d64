"""`assent/session/configure`: the options of a session, changed while it lives."""

from dataclasses import replace
from typing import Any

from assent.sessions.live.options import thinking_config
from assent.sessions.live.session import Session
from assent.storage.settings import Settings
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.permissions import MODES
from assent.wire.events import Status


def configure(session: Session, params: Json) -> Json:
    """What is named changes, from the next step or turn on."""
    changes: dict[str, Any] = {}
    if "model" in params:
        changes["model"] = session.deps.require_model(params["model"])
    if "effort" in params:
        changes["effort"] = params["effort"]
    if "thinking" in params:
        changes["thinking"] = thinking_config(params["thinking"])
    if params.get("mode"):
        session.state.mode = _permitted(params["mode"], session.settings)
    if changes:
        session.options = replace(session.options, **changes)
    if params.get("review"):
        session.chosen_review = params["review"]
    session.save_state()
    model, mode = session.options.model, session.state.mode
    session.publish(Status(session.status, model=model, mode=mode))
    return {
        "model": model,
        "mode": mode,
        "thinking": session.options.thinking,
        "effort": session.options.effort,
        "review": session.review,
    }


def _permitted(mode: Any, settings: Settings) -> Any:
    if mode not in MODES:
        raise ProtocolError("invalidParams", f"mode must be one of {', '.join(MODES)}")
    if mode == "bypassPermissions" and settings.get("permissions.disableBypassPermissions"):
        raise ProtocolError("permissionDenied", "Your settings do not allow the mode bypassPermissions")
    return mode
