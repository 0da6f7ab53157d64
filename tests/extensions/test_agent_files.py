"""Agents from Markdown: every field, and what a plugin may not say (T7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.extensions.agents import AgentDefinition, narrowed
from assent.extensions.places import Place
from assent.types.permissions import MODES, Mode
from definition_files import Ground, ground

FULL = """---
name: reviewer
description: Reviews: carefully
tools: Read, Grep, mcp__github, Agent(scout, other)
disallowedTools: [Bash]
model: haiku
permissionMode: plan
maxTurns: 7
skills: style, security
mcpServers:
  - github
  - local: {command: x}
hooks:
  Stop:
    - hooks:
        - type: command
          command: ./check.sh
memory: project
background: yes
effort: high
isolation: worktree
color: red
initialPrompt: begin
---
You review.
"""


def agents(place: Ground) -> list[AgentDefinition]:
    return [agent for agent in place.load().agents if agent.origin.scope != "built-in"]


@pytest.fixture
def place(tmp_path: Path) -> Ground:
    return ground(tmp_path)


def test_every_field_of_a_claude_agent_is_read(place: Ground) -> None:
    file = place.write(".claude/agents/r.md", FULL)
    (agent,) = agents(place)
    assert agent == AgentDefinition(
        name="reviewer",
        description="Reviews: carefully",
        prompt="You review.",
        tools=("Read", "Grep", "mcp__github", "Agent(scout, other)"),
        disallowed_tools=("Bash",),
        model="haiku",
        max_turns=7,
        source=str(file),
        origin=agent.origin,
        effort="high",
        permission_mode="plan",
        skills=("style", "security"),
        mcp_servers=("github", {"local": {"command": "x"}}),
        hooks={"Stop": [{"hooks": [{"type": "command", "command": "./check.sh"}]}]},
        memory="project",
        background=True,
        isolation="worktree",
        agents=("scout", "other"),
        initial_prompt="begin",
        color="red",
    )


def test_fields_that_mean_nothing_here_are_named_with_line_and_reason_and_the_agent_works(place: Ground) -> None:
    handed = "handoffs:\n  - label: Next\n    agent: other\n"
    text = f"---\ndescription: d\n{handed}target: vscode\nargument-hint: what\nuser-invocable: false\n---\nBe brief."
    file = place.write(".github/agents/helper.agent.md", text)
    catalogue = place.load()
    (agent,) = agents(place)
    assert (agent.name, agent.prompt, catalogue.notices) == ("helper", "Be brief.", ())
    told = [str(notice).partition(" is ignored: ")[0] for notice in agent.ignored]
    assert told == [f"{file}:3: handoffs", f"{file}:6: target", f"{file}:7: argument-hint", f"{file}:8: user-invocable"]


def test_a_copilot_agent_goes_by_its_file_name_and_its_tools_get_our_names(place: Ground) -> None:
    text = "---\ndescription: d\ntools: ['read', 'edit', 'github/*']\nmodel: [big, small]\n---\nBe brief."
    place.write(".github/agents/helper.agent.md", text)
    (agent,) = agents(place)
    assert (agent.name, agent.model) == ("helper", "big")
    assert agent.tools == ("Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "github/*")
    assert agent.may_use("mcp__github__issue")
    assert not agent.may_use("Bash")


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("description: d", "no `name`"),
        ("name: a:b\ndescription: d", "cannot be the name"),
        ("name: -a\ndescription: d", "cannot be the name"),
        ("name: a", "no description"),
    ],
)
def test_an_agent_without_a_usable_name_or_description_is_told_and_left_out(
    place: Ground, header: str, words: str
) -> None:
    place.write(".claude/agents/a.md", f"---\n{header}\n---\nx")
    assert agents(place) == []
    assert words in str(place.load().notices[0])


def test_a_value_that_means_nothing_is_told_with_its_line_and_the_agent_works(place: Ground) -> None:
    text = "---\nname: a\ndescription: d\npermissionMode: yolo\nmaxTurns: many\nmemory: all\nisolation: vm\n---\nx"
    place.write(".claude/agents/a.md", text)
    (agent,) = agents(place)
    assert (agent.permission_mode, agent.max_turns, agent.memory, agent.isolation) == (None, None, None, None)
    assert sorted(notice.line or 0 for notice in place.load().notices) == [4, 5, 6, 7]


def test_what_a_plugins_agent_may_not_say_is_told_with_its_line_and_left_out(place: Ground) -> None:
    root = str(place.home / "plugin")
    place.write("~/plugin/agents/r.md", FULL)
    place.plugins.append(Place(kind="agents", folder=f"{root}/agents", scope="plugin", bound=root, plugin="tools"))
    (agent,) = agents(place)
    assert (agent.hooks, agent.mcp_servers, agent.permission_mode) == ({}, (), None)
    assert (agent.isolation, agent.memory, agent.model) == ("worktree", "project", "haiku")
    told = {notice.line: str(notice) for notice in place.load().notices}
    lines = FULL.split("\n")
    for key in ("hooks", "mcpServers", "permissionMode"):
        at = next(number for number, line in enumerate(lines, 1) if line.startswith(f"{key}:"))
        assert f"{key} does not count in an agent of a plugin" in told[at]


def test_hooks_and_servers_of_a_wrong_shape_are_told(place: Ground) -> None:
    text = "---\nname: a\ndescription: d\nhooks: often\nmcpServers:\n  - inner: {command: x}\n  - [7]\n---\nx"
    place.write(".claude/agents/a.md", text)
    assert [agent.name for agent in agents(place)] == ["a"]
    told = " ".join(str(notice) for notice in place.load().notices)
    assert "hooks must be a map" in told and "an entry must be the name of a server" in told
    assert agents(place)[0].mcp_servers == ({"inner": {"command": "x"}},)


@pytest.mark.parametrize("parent", MODES)
@pytest.mark.parametrize("wanted", MODES)
def test_an_agents_mode_is_never_wider_than_its_parents(parent: Mode, wanted: Mode) -> None:
    width = ("plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions")
    assert width.index(narrowed(parent, wanted)) <= width.index(parent)
    assert narrowed(parent, parent) == parent
    assert narrowed(parent, None) == parent


@pytest.mark.parametrize(
    ("entry", "tool", "covered"),
    [
        ("Read", "Read", True),
        ("*", "Bash", True),
        ("Bash(git:*)", "Bash", True),
        ("mcp__s", "mcp__s__t", True),
        ("mcp__s__*", "mcp__s__t", True),
        ("mcp__s__t", "mcp__s__u", False),
        ("mcp__s", "mcp__sx__t", False),
        ("s/t", "mcp__s__t", True),
        ("Task", "Agent", True),
    ],
)
def test_an_entry_of_tools_names_a_tool_or_all_of_a_server(entry: str, tool: str, covered: bool) -> None:
    assert AgentDefinition(name="a", description="d", prompt="p", tools=(entry,)).may_use(tool) is covered
