"""What a person can choose for a session: the permission mode and the model, in both ways the protocol offers them.

Modes are sent as modes and as a configuration option: newer clients look only at the options, older ones only at modes.
"""

from collections.abc import Sequence

from acp.schema import (
    ConfigOptionUpdate,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
)

from assent.model import catalog
from assent.sessions.live.session import Session
from assent.types.permissions import Mode

MODES: dict[Mode, tuple[str, str]] = {
    "default": ("Ask first", "Asks before it edits files or runs commands."),
    "acceptEdits": ("Accept edits", "Edits files in the project without asking; asks for everything else."),
    "plan": ("Plan", "Reads and plans; changes nothing until you approve the plan."),
    "auto": ("Auto", "A classifier answers the harmless asks; you answer the rest."),
    "dontAsk": ("Never ask", "What would need an answer is denied."),
    "bypassPermissions": ("Bypass permissions", "Runs everything your rules do not deny. For sandboxes only."),
}


def offered_modes(session: Session) -> list[Mode]:
    """All but the one that the user's settings or the machine's policy switch off."""
    forbidden = bool(session.settings.get("permissions.disableBypassPermissions"))
    return [mode for mode in MODES if not (forbidden and mode == "bypassPermissions")]


def mode_state(session: Session) -> SessionModeState:
    available = [
        SessionMode(id=mode, name=MODES[mode][0], description=MODES[mode][1]) for mode in offered_modes(session)
    ]
    return SessionModeState(current_mode_id=session.state.mode, available_modes=available)


def config_options(session: Session, *, offline: bool) -> list[SessionConfigOptionSelect]:
    modes = [
        SessionConfigSelectOption(value=mode, name=MODES[mode][0], description=MODES[mode][1])
        for mode in offered_modes(session)
    ]
    models = [SessionConfigSelectOption(value=name, name=name) for name in models_of(session, offline=offline)]
    return [
        SessionConfigOptionSelect(
            type="select", id="mode", name="Mode", category="mode", current_value=session.state.mode, options=modes
        ),
        SessionConfigOptionSelect(
            type="select",
            id="model",
            name="Model",
            category="model",
            current_value=session.options.model,
            options=models,
        ),
    ]


def config_update(session: Session, *, offline: bool) -> ConfigOptionUpdate:
    options = config_options(session, offline=offline)
    return ConfigOptionUpdate(session_update="config_option_update", config_options=list(options))


def models_of(session: Session, *, offline: bool) -> Sequence[str]:
    """The newest of each family, and whatever else the session was told to use."""
    known = [catalog.OFFLINE_MODEL] if offline else list(dict.fromkeys(catalog.ALIASES.values()))
    return known if session.options.model in known else [session.options.model, *known]
