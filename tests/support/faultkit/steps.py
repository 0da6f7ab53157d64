"""One call of each tool: its input, what its result must say, and what must have been done before it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from assent.types.blocks import Json

MCP_TOOL = "mcp__fake__do"
FINAL = "StructuredOutput"  # no call among others: it is the answer with which the turn ends
TOOLS = (
    "Read", "Write", "Edit", "MultiEdit", "Bash", "Glob", "Grep", "TodoWrite", "Agent", "WebFetch", "NotebookEdit",
    "AskUserQuestion", "TaskCreate", "WebSearch", "Sleep", "BashOutput", "KillShell", "EnterPlanMode", "ExitPlanMode",
    "EnterWorktree", "ExitWorktree", "TaskUpdate", "TaskList", "Skill", "Diagnostics", "Definition", "References",
    "Hover", "Symbols", "Rename", "CodeActions", "Format", "CurrentSelection", "OpenFile", "Snip", FINAL, "ToolSearch",
    "ListMcpResources", "ReadMcpResource", MCP_TOOL,
)  # fmt: skip
COMPUTED = frozenset({"Rename", "CodeActions", "Format"})  # by the editor
EFFECTS = frozenset({
    "Write", "Edit", "MultiEdit", "Bash", "Agent", "NotebookEdit", "AskUserQuestion", "TaskCreate", "KillShell",
    "ExitPlanMode", "EnterWorktree", "TaskUpdate", *COMPUTED, "OpenFile", MCP_TOOL,
})  # fmt: skip
CHANGES = frozenset({"Edit", "MultiEdit", "NotebookEdit"})  # of files that must have been read
WORKTREES = frozenset({"EnterWorktree", "ExitWorktree"})
BEFORE = {**dict.fromkeys(CHANGES, "Read"), "ExitPlanMode": "EnterPlanMode", "ExitWorktree": "EnterWorktree"}
AFTER_REFUSAL = {**BEFORE, "EnterWorktree": "ExitWorktree"}  # what makes way for a call that was refused
STATIC = ("f0.txt", "f1.txt", "f2.txt")  # never changed
COUNTS = "counts.log"  # a line for each time a command ran


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call of the plan. `fact` is what its result must say when it is done."""

    key: str
    tool: str
    input: Json
    fact: str
    path: str = ""


def output_of(key: str) -> str:
    """What the background command of this call has written."""
    return f"output of {key}"


def running_for(key: str) -> str:
    """The background command that this call ends."""
    return f"exec sleep 1000 # for {key}"


def counting(key: str, folder: Path) -> str:
    return f"echo {key} >> {folder / COUNTS}; echo did {key}"


def make_step(tool: str, key: str, folder: Path, site: str, chance: random.Random) -> Step:
    path = ""
    at: Json = {"file_path": str(folder / STATIC[0]), "line": 1, "symbol": "line"}
    match tool:
        case "Read":
            name = chance.choice(STATIC)
            path = str(folder / name)
            input, fact = {"file_path": path}, f"{name} line 1 "
        case "Write":
            path = str(folder / f"{key}.txt")
            input, fact = {"file_path": path, "content": f"written for {key}\n"}, "Created"
        case "Edit" | "MultiEdit" | "Rename" | "CodeActions" | "Format":
            path = str(folder / f"{key}.txt")
            Path(path).write_text(f"head\nmark\n{tool} {key}\n")
            change: Json = {"old_string": "mark", "new_string": f"mark+{key}"}
            own: dict[str, Json] = {
                "MultiEdit": {"edits": [change]},
                "Rename": {"line": 2, "symbol": "mark", "new_name": f"mark+{key}"},
                "CodeActions": {"line": 2, "apply": f"fix {key}"},
                "Format": {},
            }
            input, fact = {"file_path": path, **own.get(tool, change)}, f"mark+{key}"
        case "Bash":
            input, fact = {"command": counting(key, folder)}, f"did {key}"
        case "Glob":
            input, fact = {"pattern": "f*.txt", "path": str(folder)}, "f1.txt"
        case "Grep":
            input, fact = {"pattern": "needle", "output_mode": "content", "path": str(folder)}, "needle"
        case "TodoWrite":
            input, fact = {"todos": [{"content": f"do {key}", "status": "pending"}]}, "The list is updated"
        case "Agent":
            input = {"description": key, "prompt": f"Work on {key}, please.", "subagent_type": "worker"}
            fact = f"Did {key}."
        case "NotebookEdit":
            path = str(folder / f"{key}.ipynb")
            Path(path).write_text(
                '{"cells": [{"cell_type": "markdown", "id": "one", "metadata": {}, "source": "mark"}], '
                '"metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
            )
            input = {"notebook_path": path, "cell_id": "one", "new_source": f"mark+{key}"}
            fact = "hanged"
        case "AskUserQuestion":
            options = [{"label": f"tea {key}"}, {"label": "cake"}]
            input, fact = {"questions": [{"question": f"What for {key}?", "options": options}]}, f"tea {key}"
        case "TaskCreate":
            input, fact = {"subject": f"task {key}", "description": "to be done"}, f"task {key}"
        case "TaskUpdate":
            input, fact = {"taskId": "", "status": "completed"}, "is completed"  # the number is known once it is there
        case "TaskList":
            input, fact = {}, "stands there"
        case "WebSearch":
            input, fact = {"query": f"about {key}"}, f"found {key}"
        case "Sleep":
            input, fact = {"seconds": 0, "reason": key}, "Waited 0"
        case "BashOutput":
            input, fact = {"bash_id": ""}, output_of(key)  # the id is known once the command runs
        case "KillShell":
            input, fact = {"shell_id": ""}, f"for {key}"
        case "WebFetch":
            input, fact = {"url": f"{site}/{key}"}, f"page for {key}"
        case "EnterPlanMode":
            input, fact = {}, "lanning"
        case "ExitPlanMode":
            input, fact = {"plan": f"plan of {key}"}, f"plan of {key}"
        case "EnterWorktree":
            input, fact = {"name": key}, f"/{key} on the branch"
        case "ExitWorktree":
            input, fact = {}, "Back in"
        case "Skill":
            input, fact = {"skill": "brew", "args": key}, f"skill for {key}"
        case "Definition" | "References":
            input, fact = at, "f0.txt:1"
        case "Hover":
            input, fact = at, "what f0.txt says"
        case "Symbols":
            input, fact = {"query": key}, f"function {key}"
        case "Diagnostics":
            input, fact = {"file_path": str(folder / STATIC[0])}, "warning: odd"
        case "CurrentSelection":
            input, fact = {}, "selected words"
        case "OpenFile":
            input, fact = {"file_path": str(folder / STATIC[0]), "line": int(key[1:])}, "sees"
        case "Snip":
            input, fact = {"numbers": [1]}, "leave your view"
        case "ToolSearch":
            input, fact = {"query": "do"}, MCP_TOOL
        case "ListMcpResources":
            input, fact = {}, "doc://one"
        case "ReadMcpResource":
            input, fact = {"server": "fake", "uri": f"doc://{key}"}, f"text of doc://{key}"
        case "mcp__fake__do":
            input, fact = {"key": key}, f"served {key}"
        case _:
            raise ValueError(tool)
    return Step(key=key, tool=tool, input=input, fact=fact, path=path)
