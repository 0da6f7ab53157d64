"""The variables that hooks export by appending to the file CLAUDE_ENV_FILE names; commands of the session get them.

Lines are `export NAME=value` or `NAME=value`, with shell quoting. Nothing is run: anything else in a line is left out.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
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


class ExportedEnvironment(Mapping[str, str]):
    """The settings' variables with those that hooks exported over them; the file is read when someone looks."""

    def __init__(self, base: Mapping[str, str], file: Path) -> None:
        self._base = base
        self._file = file

    def _now(self) -> dict[str, str]:
        try:
            with self._file.open("rb") as file:
                text = file.read(LARGEST).decode("utf-8", "replace")
        except OSError:
            return dict(self._base)
        return {**self._base, **exported(text)}

    def __getitem__(self, name: str) -> str:
        return self._now()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())
