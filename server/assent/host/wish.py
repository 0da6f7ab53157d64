"""Whether the user wants a host: read before anything else is loaded, so with `json` and nothing more.

Policy, command line, settings that the editor marks as the user's, the user's own file, in this order. What a project
says is not looked at here; `SettingsFiles` tells that it is ignored. A file that cannot be read wants nothing.
"""

import json
import os
from typing import Any, cast

from assent.host.place import config_dir

FLAGS = {"--host": True, "--no-host": False}
_POLICY = "/etc/assent/policy.json"
_LARGEST = 1 << 20


def wanted(arguments: "list[str]", initialize: "dict[str, Any] | None") -> bool:
    said = [
        _value(_read(_POLICY)),
        next((FLAGS[word] for word in reversed(arguments) if word in FLAGS), None),
        _value(_editor_settings(initialize or {})),
        _value(_read(f"{config_dir()}/settings.json")),
    ]
    return next((value for value in said if value is not None), False)


def _value(settings: "dict[str, Any]") -> "bool | None":
    value = settings.get("host")
    return value if isinstance(value, bool) else None


def _editor_settings(initialize: "dict[str, Any]") -> "dict[str, Any]":
    """Only where the client says that they are the user's own."""
    options = _object(_object(initialize.get("initializationOptions")).get("assent"))
    settings = _object(options.get("settings"))
    level = settings.get("settingsLevel", options.get("settingsLevel"))
    return settings if level == "user" else {}


def _read(path: str) -> "dict[str, Any]":
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            data = os.read(fd, _LARGEST)
        finally:
            os.close(fd)
        return _object(json.loads(data.removeprefix(b"\xef\xbb\xbf")))
    except (OSError, ValueError, RecursionError):
        return {}


def _object(value: Any) -> "dict[str, Any]":
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
