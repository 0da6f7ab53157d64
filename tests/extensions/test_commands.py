"""Slash commands: what is one, and what is not."""

from __future__ import annotations

import pytest

from assent.extensions.agents import BUILT_IN as AGENTS
from assent.extensions.agents import AgentDefinition, registry
from assent.extensions.agents import find as find_agent
from assent.extensions.commands import BUILT_IN, find, split


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/help", ("help", "")),
        ("  /compact keep the names ", ("compact", "keep the names")),
        ("/review\nthe whole thing", ("review", "the whole thing")),
        ("/usr/bin/env", None),
        ("/ help", None),
        ("/", None),
        ("// comment", None),
        ("help", None),
        ("look at /help", None),
    ],
)
def test_a_command_is_a_word_behind_a_slash(text: str, expected: tuple[str, str] | None) -> None:
    assert split(text) == expected


def test_commands_are_found_by_name_and_alias_and_answer_or_expand() -> None:
    assert find(BUILT_IN, "new") is find(BUILT_IN, "clear")
    assert find(BUILT_IN, "nope") is None
    assert all((command.run is None) != (command.expand is None) for command in BUILT_IN)
    assert [command.name for command in BUILT_IN] == sorted(command.name for command in BUILT_IN)


def test_a_later_agent_replaces_one_of_the_same_name() -> None:
    own = AgentDefinition(name="explore", description="mine", prompt="p", source="project")
    agents = registry(AGENTS, [own])
    assert [agent.name for agent in agents] == ["general-purpose", "explore"]
    assert find_agent(agents, "Explore") is own
