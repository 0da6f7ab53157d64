"""The hooks of a plugin as its file or its manifest writes them: those that can be used, with the line of each.

What cannot be used is named with file and line, and the rest counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from assent.text.json_lines import key_lines
from assent.types.blocks import Json
from assent.types.hooks import EVENTS
from assent.types.regular_files import read_regular

LARGEST = 1_000_000


class PluginHooks(NamedTuple):
    hooks: Json  # event → groups
    lines: Mapping[str, int]  # `Stop[0]` → line
    problems: tuple[str, ...]
    ignored: tuple[str, ...]  # events that only other programs have


def read_hooks(said: Json, file: str) -> PluginHooks:
    """`said` is the object that the file holds, or that stands in the manifest under `hooks`."""
    inner = said.get("hooks")
    events: Json = {key: value for key, value in said.items() if isinstance(value, list)}
    named = cast("Json", inner) if isinstance(inner, dict) else events
    known = _lines(file, named) if named else {}
    hooks: dict[str, list[Any]] = {}
    lines: dict[str, int] = {}
    problems: list[str] = []
    ignored: list[str] = []

    def at(key: str) -> str:
        return f"{file}:{known[key]}: hooks.{key}" if key in known else f"{file}: hooks.{key}"

    spelt = {name.casefold(): name for name in EVENTS}
    for written, entries in named.items():
        event = spelt.get(written.casefold())
        if event is None:
            ignored.append(f"{at(written)} is ignored: there is no such event here")
        elif not isinstance(entries, list):
            problems.append(f"{at(written)} must be a list of hooks")
        else:
            kept = hooks.setdefault(event, [])
            for number, entry in enumerate(cast("list[object]", entries)):
                key = f"{written}[{number}]"
                if isinstance(entry, dict):
                    lines[f"{event}[{len(kept)}]"] = known.get(key, 0)
                    kept.append(entry)
                else:
                    problems.append(f"{at(key)} must be an object")
    return PluginHooks(hooks, lines, tuple(problems), tuple(ignored))


def _lines(file: str, named: Json) -> dict[str, int]:
    """By `event` and `event[0]`, however deep the events stand in the file."""
    try:
        found = key_lines(read_regular(Path(file), limit=LARGEST).data)
    except OSError:
        return {}
    lines: dict[str, int] = {}
    for before in ("", "hooks.", "hooks.hooks."):
        for key, line in found.items():
            rest = key.removeprefix(before)
            if key.startswith(before) and rest.partition("[")[0] in named and "." not in rest:
                lines[rest] = line
    return lines
