"""The variables that hooks export by appending to the file CLAUDE_ENV_FILE names; commands of the session get them.

Lines are `export NAME=value` or `NAME=value`, with shell quoting. Nothing is run: anything else in a line is left out.
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

LARGEST = 256 * 1024
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def exported(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in text.splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            continue
        for word in words[1:] if words[:1] == ["export"] else words:
            name, equals, value = word.partition("=")
            if equals and _NAME.fullmatch(name) and "\0" not in value:
                found[name] = value
    return found


def with_exported(base: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The settings' variables, and over them those that hooks exported for the session with this folder."""
    try:
        with env_file(folder).open("rb") as file:
            text = file.read(LARGEST).decode("utf-8", "replace")
    except OSError:
        return dict(base)
    return {**base, **exported(text)}


def env_file(folder: Path) -> Path:
    return folder / "environment.sh"
