"""What a person can choose for a session: mode, model, effort and thinking, in the ways the protocol offers them.

Modes are sent as modes and as a configuration option: newer clients look only at the options, older ones only at modes.
"""

from collections.abc import Sequence
from typing import Any, get_args

from acp.schema import (
    ConfigOptionUpdate,
    SessionConfigOptionBoolean,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
)

from assent.model import catalog
from assent.sessions.live.session import Session
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.permissions import Mode
from assent.wire.shapes import Effort

Option = SessionConfigOptionSelect | SessionConfigOptionBoolean

AS_SET = "default"  # the effort that the settings or the model itself choose

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


def current(session: Session) -> tuple[Any, ...]:
    """What the client has to be told when it changes."""
    return (session.state.mode, session.options.model, session.options.effort, _thinks(session))


def change_of(option: str, value: str | bool) -> Json:
    """The change to a session that a client's choice means."""
    match option, value:
        case (("mode" | "model"), str()):
            return {option: value}
        case "effort", str() if value in (AS_SET, *get_args(Effort)):
            return {"effort": value}
        case "thinking", bool():
            return {"thinking": value}
        case (("mode" | "model" | "effort" | "thinking"), _):
            raise ProtocolError("invalidParams", f"{option} cannot be {value!r}")
        case _:
            hint = "mode, model, effort and thinking are."
            raise ProtocolError("invalidParams", f"there is no option {option!r}", hint=hint)


def config_options(session: Session, models: Sequence[str], *, booleans: bool) -> list[Option]:
    modes = [
        SessionConfigSelectOption(value=mode, name=MODES[mode][0], description=MODES[mode][1])
        for mode in offered_modes(session)
    ]
    names = [SessionConfigSelectOption(value=name, name=name) for name in models]
    efforts = [SessionConfigSelectOption(value=AS_SET, name="As set")]
    efforts += [SessionConfigSelectOption(value=name, name=name.capitalize()) for name in get_args(Effort)]
    options: list[Option] = [
        _select("mode", "Mode", "mode", session.state.mode, modes),
        _select("model", "Model", "model", session.options.model, names),
        _select("effort", "Effort", "thought_level", session.options.effort or AS_SET, efforts),
    ]
    info = session.deps.model_info(session.options.model)
    if booleans and info.accepts_thinking and "disabled" in info.thinking_modes:
        thinking = SessionConfigOptionBoolean(
            type="boolean",
            id="thinking",
            name="Thinking",
            description="Let the model think before it answers.",
            category="model_config",
            current_value=_thinks(session),
        )
        options.append(thinking)
    return options


def config_update(options: list[Option]) -> ConfigOptionUpdate:
    return ConfigOptionUpdate(session_update="config_option_update", config_options=options)


def _select(
    id: str, name: str, category: Any, value: str, options: list[SessionConfigSelectOption]
) -> SessionConfigOptionSelect:
    return SessionConfigOptionSelect(
        type="select", id=id, name=name, category=category, current_value=value, options=options
    )


def _thinks(session: Session) -> bool:
    """Models of today think by themselves; only an explicit no switches it off."""
    thinking = session.options.thinking
    return thinking is None or thinking.get("type") != "disabled"


def models_of(session: Session, offered: Sequence[str], *, offline: bool) -> Sequence[str]:
    """What the endpoint offers, the newest of each family, and whatever else the session was told to use."""
    known = [catalog.OFFLINE_MODEL] if offline else list(dict.fromkeys((*offered, *catalog.ALIASES.values())))
    return known if session.options.model in known else [session.options.model, *known]
