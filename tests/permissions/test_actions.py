"""The table of what tools touch, held against what the tools themselves say."""

from pathlib import Path
from typing import Any

import pytest

from assent.permissions.actions import SHAPES, action_for, problem
from assent.tools.builtin import builtin_tools

INPUTS: dict[str, dict[str, Any]] = {
    "Read": {"file_path": "/w/a"},
    "Write": {"file_path": "/w/a", "content": "x"},
    "Edit": {"file_path": "/w/a", "old_string": "x", "new_string": "y"},
    "MultiEdit": {"file_path": "/w/a", "edits": [{"old_string": "x", "new_string": "y"}]},
    "NotebookEdit": {"notebook_path": "/w/a.ipynb", "new_source": "x"},
    "Glob": {"pattern": "*.py", "path": "/w/sub"},
    "Grep": {"pattern": "x", "path": "/w/sub"},
    "Bash": {"command": "ls"},
    "BashOutput": {"bash_id": "b1"},
    "KillShell": {"shell_id": "b1"},
    "WebFetch": {"url": "https://example.org/", "prompt": "x"},
    "WebSearch": {"query": "weather"},
    "Agent": {"description": "d", "prompt": "p", "subagent_type": "general"},
    "Skill": {"skill": "s"},
    "TodoWrite": {"todos": []},
    "AskUserQuestion": {"questions": [{"question": "q?", "header": "h", "options": [{"label": "a"}, {"label": "b"}]}]},
    "ExitPlanMode": {"plan": "p"},
    "EnterPlanMode": {},
    "Sleep": {"seconds": 1},
    "TaskCreate": {"subject": "look"},
    "TaskUpdate": {"taskId": "1", "status": "completed"},
    "TaskList": {},
    "EnterWorktree": {},
    "ExitWorktree": {"remove": True},
    "Diagnostics": {"file_path": "/w/a"},
    "Definition": {"file_path": "/w/a", "line": 1, "symbol": "x"},
    "References": {"file_path": "/w/a", "line": 1, "symbol": "x"},
    "Hover": {"file_path": "/w/a", "line": 1, "symbol": "x"},
    "Symbols": {"file_path": "/w/a"},
    "Rename": {"file_path": "/w/a", "line": 1, "symbol": "x", "new_name": "y"},
    "CodeActions": {"file_path": "/w/a", "line": 1, "apply": "x"},
    "Format": {"file_path": "/w/a"},
    "CurrentSelection": {},
    "OpenFile": {"file_path": "/w/a"},
}
MORE: list[tuple[str, dict[str, Any]]] = [
    ("ExitWorktree", {}),
    ("Agent", {"description": "d", "prompt": "p", "isolation": "worktree"}),
    ("CodeActions", {"file_path": "/w/a", "line": 1}),
    ("Diagnostics", {}),
    ("Symbols", {"query": "x"}),
    ("Glob", {"pattern": "*"}),
]
BESIDES = {
    "Skill",
    "Snip",
    "StructuredOutput",
    "ToolSearch",
    "ListMcpResources",
    "ReadMcpResource",
}  # made for a session that has a use for them


def absolute(paths: tuple[str, ...]) -> list[str]:
    return [str(Path("/w") / path) for path in paths]


def test_the_table_names_the_tools_that_exist_and_no_others() -> None:
    assert set(SHAPES) == {tool.name for tool in builtin_tools(editor=True)} | BESIDES


@pytest.mark.parametrize(("name", "input"), [*INPUTS.items(), *MORE])
def test_the_table_agrees_with_the_tool(name: str, input: dict[str, Any]) -> None:
    tools = {tool.name: tool for tool in builtin_tools(editor=True)}
    if name not in tools:
        assert name in BESIDES
        return
    tool = tools[name]
    real = tool.action(tool.parse(input), cwd="/w")
    assert problem(name, input) == ""
    ours = action_for(name, input)
    for field in ("command", "url", "read_only", "harmless"):
        assert getattr(ours, field) == getattr(real, field), field
    assert (absolute(ours.reads), absolute(ours.writes)) == (absolute(real.reads), absolute(real.writes))
    assert bool(ours.always_ask) == bool(real.always_ask)
