"""The table of what tools touch, held against what the tools themselves say."""

from typing import Any

import pytest

from assent.permissions.actions import SHAPES, action_for
from assent.tools.registry import builtin_tools

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
}


@pytest.mark.parametrize("name", INPUTS)
def test_the_table_agrees_with_the_tool(name: str) -> None:
    tools = {tool.name: tool for tool in builtin_tools()}
    if name not in tools:
        assert name in SHAPES
        return
    tool = tools[name]
    real = tool.action(tool.parse(INPUTS[name]), cwd="/w")
    ours = action_for(name, INPUTS[name])
    for field in ("reads", "writes", "command", "url", "read_only", "harmless"):
        assert getattr(ours, field) == getattr(real, field), field
    assert bool(ours.always_ask) == bool(real.always_ask)
