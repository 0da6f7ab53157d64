"""What is read of the settings files of Claude Code and of `.github/hooks`: hooks and permission rules, nothing else.

Modes, environment, models and helper programs of those files are never taken over. `readClaudeSettings: false` in
the user's own settings turns all of it off.
"""

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from assent.types.blocks import Json
from assent.types.hook_limits import URLS, VARIABLES

_TAKEN = ("hooks", "disableAllHooks", URLS, VARIABLES)
LARGEST_FOLDER = 50  # files of `.github/hooks` that are read


def claude_dir(env: Mapping[str, str] | None = None) -> Path:
    """`~/.claude`, or where CLAUDE_CONFIG_DIR moves it."""
    env = os.environ if env is None else env
    moved = env.get("CLAUDE_CONFIG_DIR", "")
    return Path(moved) if moved.startswith("/") else Path(env.get("HOME") or Path.home()) / ".claude"


def project_files(cwd: str) -> list[Path]:
    shared, hooks = _project_places(cwd)
    return [shared, *_github_hooks(hooks)]


@lru_cache(maxsize=1000)
def _project_places(cwd: str) -> tuple[Path, Path]:
    return Path(cwd) / ".claude" / "settings.json", Path(cwd) / ".github" / "hooks"


@lru_cache(maxsize=1000)
def local_file(cwd: str) -> Path:
    return Path(cwd) / ".claude" / "settings.local.json"


def taken(values: Json) -> Json:
    """The part that means something here."""
    kept: Json = {key: values[key] for key in _TAKEN if key in values}
    if "hooks" in kept:
        kept["hooks"] = _known_events(kept["hooks"])
    permissions: Any = values.get("permissions")
    if isinstance(permissions, dict):
        rules = cast("Json", permissions)
        kept["permissions"] = {key: rules[key] for key in ("deny", "ask", "allow") if key in rules}
    return kept


def hooks_only(values: Json) -> Json:
    """A file of `.github/hooks`."""
    return {"hooks": _known_events(values["hooks"])} if "hooks" in values else {}


def _known_events(hooks: Any) -> Any:
    """Events may be spelt in camelCase there, and newer programs have events that nothing fires here."""
    from assent.types.hooks import EVENTS

    if not isinstance(hooks, dict):
        return hooks
    by_small_letters = {name.casefold(): name for name in EVENTS}
    named = ((by_small_letters.get(key.casefold()), value) for key, value in cast("Json", hooks).items())
    return {name: value for name, value in named if name is not None}


def _github_hooks(folder: Path) -> list[Path]:
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(".json"))
    except OSError:
        return []
    return [folder / name for name in names[:LARGEST_FOLDER]]
