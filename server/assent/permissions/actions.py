"""What the built-in tools touch, from their raw input alone: a table that does not need the tools themselves.

`explain` judges by it, and a test holds it against what each real tool says of itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assent.types.permissions import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Which input fields are paths, commands and URLs."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    command: str | None = None
    url: str | None = None
    read_only: bool = False
    harmless: bool = False
    always_ask: str = ""
    here: bool = False  # without a path it reads the working directory


_EDIT = Shape(reads=("file_path",), writes=("file_path",))
_SESSION = Shape(harmless=True)

SHAPES: dict[str, Shape] = {
    "Read": Shape(reads=("file_path",), read_only=True),
    "Write": Shape(writes=("file_path",)),
    "Edit": _EDIT,
    "MultiEdit": _EDIT,
    "NotebookEdit": Shape(reads=("notebook_path",), writes=("notebook_path",)),
    "Glob": Shape(reads=("path",), read_only=True, here=True),
    "Grep": Shape(reads=("path",), read_only=True, here=True),
    "Bash": Shape(command="command"),
    "BashOutput": _SESSION,
    "KillShell": _SESSION,
    "WebFetch": Shape(url="url"),
    "WebSearch": Shape(),
    "Agent": _SESSION,
    "Skill": _SESSION,
    "TodoWrite": _SESSION,
    "AskUserQuestion": _SESSION,
    "EnterPlanMode": _SESSION,
    "ExitPlanMode": Shape(always_ask="the plan needs your approval"),
    "Sleep": _SESSION,
    "StructuredOutput": _SESSION,
    "ToolSearch": _SESSION,
}


def action_for(tool: str, input: Mapping[str, Any]) -> Action:
    """An unknown tool touches who knows what: it asks."""
    shape = SHAPES.get(tool, Shape())
    reads = _texts(input, shape.reads)
    if not reads and shape.here:
        reads = (".",)
    if tool in ("Glob", "Grep"):
        reads += _outside_patterns(input)
    return Action(
        tool=tool,
        input=input,
        reads=reads,
        writes=_texts(input, shape.writes),
        command=_text(input, shape.command),
        url=_text(input, shape.url),
        read_only=shape.read_only,
        harmless=shape.harmless,
        always_ask=shape.always_ask,
    )


def _texts(input: Mapping[str, Any], fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(input[name]) for name in fields if input.get(name) is not None)


def _text(input: Mapping[str, Any], name: str | None) -> str | None:
    return None if name is None else str(input.get(name, ""))


def _outside_patterns(input: Mapping[str, Any]) -> tuple[str, ...]:
    """A glob may itself lead somewhere else: the part before its first wildcard is a path that is read."""
    found: list[str] = []
    for name in ("pattern", "glob"):
        value = input.get(name)
        if name == "pattern" and "output_mode" in input:
            continue
        if isinstance(value, str) and value.startswith(("/", "~", "../")):
            head = value.split("*", 1)[0].split("?", 1)[0].split("[", 1)[0].rpartition("/")[0]
            found.append(head or "/")
    return tuple(found)
