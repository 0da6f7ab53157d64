"""The JSON that a hook gets on stdin, and the environment of its program. Pure.

Keys are those that existing scripts read. Paths in the inputs of tools are absolute here, whatever the model wrote.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from assent.extensions.hooks.exported import env_file
from assent.extensions.hooks.handlers import Handler
from assent.extensions.hooks.ports import SessionFacts
from assent.types.blocks import Json
from assent.types.hooks import HookCall

_PATHS = ("file_path", "notebook_path", "path")
ENV_FILE_EVENTS = frozenset({"SessionStart", "Setup", "CwdChanged", "FileChanged"})


def payload(call: HookCall, facts: SessionFacts) -> Json:
    """Common fields, then those of the event."""
    common: Json = {
        "session_id": call.session_id,
        "transcript_path": facts.transcript,
        "cwd": call.cwd,
        "hook_event_name": call.event,
        "permission_mode": facts.mode,
    }
    optional = {
        "prompt_id": facts.prompt_id,
        "scratchpad_dir": facts.scratchpad,
        "agent_id": call.agent_id,
        "agent_type": call.agent_type,
    }
    common |= {key: value for key, value in optional.items() if value}
    if facts.effort:
        common["effort"] = {"level": facts.effort}
    data = dict(call.data)
    if call.event == "SessionStart":
        data.setdefault("session_title", facts.title)
    given: Any = data.get("tool_input")
    if isinstance(given, dict):
        data["tool_input"] = _absolute(cast("Json", given), call.cwd)
    return common | data


def environment(handler: Handler, call: HookCall, facts: SessionFacts, base: Mapping[str, str]) -> dict[str, str]:
    """Each of our names also under the one that scripts for Claude Code read."""
    own = {"PROJECT_DIR": facts.project, "SESSION_ID": call.session_id, "HOOK_EVENT": call.event}
    if facts.effort:
        own["EFFORT"] = facts.effort
    if call.event in ENV_FILE_EVENTS and facts.folder is not None:
        own["ENV_FILE"] = str(env_file(facts.folder))
    names = {f"{prefix}{name}": value for name, value in own.items() for prefix in ("ASSENT_", "CLAUDE_")}
    given: Any = handler.values.get("env")
    written = {str(key): str(value) for key, value in cast("Json", given or {}).items()}
    return {**base, **written, **names, **handler.origin.environment}


def working_folder(handler: Handler, call: HookCall) -> str:
    given = handler.values.get("cwd")
    return os.path.normpath(Path(call.cwd) / given) if isinstance(given, str) and given else call.cwd


def _absolute(given: Json, cwd: str) -> Json:
    changed = {key: os.path.normpath(Path(cwd) / str(given[key])) for key in _PATHS if isinstance(given.get(key), str)}
    return {**given, **{key: value for key, value in changed.items() if given[key] and not given[key].startswith("/")}}
