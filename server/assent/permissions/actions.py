"""What the built-in tools touch, from their raw input alone: a table that does not need the tools themselves.

`explain` judges by it, and a test holds it against what each real tool says of itself.
"""

import re
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
    texts: tuple[str, ...] = ()  # what else must be there as text
    maybe: tuple[str, ...] = ()  # what must be text if it is there
    place: str = ""  # where it writes whatever its input says
    when: str = ""  # the field without which it is a lesser call: `otherwise`
    otherwise: "Shape | None" = None


_LOOK = Shape(reads=("file_path",), read_only=True)
_LOOK_AROUND = Shape(reads=("file_path",), read_only=True, here=True)
_EDIT = Shape(reads=("file_path",), writes=("file_path",))
_SESSION = Shape(harmless=True)

SHAPES: dict[str, Shape] = {
    "Read": _LOOK,
    "Write": Shape(writes=("file_path",)),
    "Edit": _EDIT,
    "MultiEdit": _EDIT,
    "NotebookEdit": Shape(reads=("notebook_path",), writes=("notebook_path",)),
    "Glob": Shape(reads=("path",), read_only=True, here=True, texts=("pattern",)),
    "Grep": Shape(reads=("path",), read_only=True, here=True, texts=("pattern",), maybe=("glob",)),
    "Bash": Shape(command="command"),
    "BashOutput": _SESSION,
    "KillShell": _SESSION,
    "WebFetch": Shape(url="url"),
    "WebSearch": Shape(),
    "Agent": Shape(place=".worktrees", when="isolation", otherwise=_SESSION),
    "Skill": _SESSION,
    "TodoWrite": _SESSION,
    "AskUserQuestion": _SESSION,
    "EnterPlanMode": _SESSION,
    "ExitPlanMode": Shape(always_ask="the plan needs your approval"),
    "Sleep": _SESSION,
    "TaskCreate": _SESSION,
    "TaskUpdate": _SESSION,
    "TaskList": _SESSION,
    "StructuredOutput": _SESSION,
    "Snip": _SESSION,
    "ToolSearch": _SESSION,
    "ListMcpResources": _SESSION,
    "ReadMcpResource": Shape(texts=("server", "uri")),
    "EnterWorktree": Shape(place=".worktrees"),
    "ExitWorktree": Shape(place=".", when="remove", otherwise=_SESSION),
    "Diagnostics": _LOOK_AROUND,
    "Definition": _LOOK,
    "References": _LOOK,
    "Hover": _LOOK,
    "Symbols": _LOOK_AROUND,
    "Rename": _EDIT,
    "CodeActions": Shape(reads=("file_path",), writes=("file_path",), when="apply", otherwise=_LOOK),
    "Format": _EDIT,
    "CurrentSelection": _SESSION,
    "OpenFile": _LOOK,
}


def known(tool: str) -> bool:
    """Whether there can be such a tool. Which ones a server has, only the server could say."""
    return tool in SHAPES or re.fullmatch(r"mcp__.+__.+", tool) is not None


def problem(tool: str, input: Mapping[str, Any]) -> str:
    """Why the tool would not even take this input, as far as judging it depends on that; empty when it would."""
    shape = _shape(tool, input)
    named = tuple(dict.fromkeys((*shape.reads, *shape.writes)))
    needed = (*shape.texts, *filter(None, (shape.command, shape.url)), *(() if shape.here else named))
    for name in needed:
        if input.get(name) is None:
            return f"{tool} needs `{name}`"
    for name in (*needed, *named, *shape.maybe):
        if input.get(name) is not None and not isinstance(input[name], str):
            return f"{tool} takes `{name}` as a string only"
    return ""


def action_for(tool: str, input: Mapping[str, Any]) -> Action:
    """An unknown tool touches who knows what: it asks."""
    shape = _shape(tool, input)
    reads = _texts(input, shape.reads)
    if not reads and shape.here:
        reads = (".",)
    if tool in ("Glob", "Grep"):
        reads += _pattern_starts(tool, input)
    return Action(
        tool=tool,
        input=input,
        reads=reads,
        writes=(shape.place,) if shape.place else _texts(input, shape.writes),
        command=_text(input, shape.command),
        url=_text(input, shape.url),
        read_only=shape.read_only,
        harmless=shape.harmless,
        always_ask=shape.always_ask,
    )


def _shape(tool: str, input: Mapping[str, Any]) -> Shape:
    shape = SHAPES.get(tool, Shape())
    return shape.otherwise if shape.otherwise is not None and input.get(shape.when) in (None, False) else shape


def _texts(input: Mapping[str, Any], fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(input[name]) for name in fields if input.get(name) is not None)


def _text(input: Mapping[str, Any], name: str | None) -> str | None:
    return None if name is None else str(input.get(name, ""))


def _pattern_starts(tool: str, input: Mapping[str, Any]) -> tuple[str, ...]:
    """A glob may itself lead somewhere else: the folders before its first wildcard are a path that is read."""
    pattern = input.get("pattern" if tool == "Glob" else "glob")
    if not isinstance(pattern, str) or (tool == "Grep" and not pattern.startswith(("/", "~", "../"))):
        return ()
    head = re.split(r"[*?\[{\\]", pattern, maxsplit=1)[0].rpartition("/")[0]
    if pattern.startswith("/"):
        return (head or "/",)
    folder = input.get("path")
    if isinstance(folder, str) and head and not head.startswith("~"):
        head = f"{folder}/{head}"
    return (head,) if head else ()
