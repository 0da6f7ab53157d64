"""Agent definitions: who a subagent is, what it may use, and the ones that come built in (T7)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDefinition:
    """`tools` None means all of the parent's; `disallowed_tools` are taken away from either."""

    name: str
    description: str
    prompt: str
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    model: str | None = None  # None: the parent's
    max_turns: int | None = None
    source: str = "built-in"


GENERAL_PURPOSE = AgentDefinition(
    name="general-purpose",
    description=(
        "Carries out a self-contained task with every tool you have: research across many files, a change you can "
        "describe completely, a question whose answer takes several searches."
    ),
    prompt=(
        "You are an agent working for another agent inside a coding session. You get one task and nobody to ask, so "
        "settle open questions yourself in the most sensible way and say what you assumed. Do exactly the task: no "
        "extra files, no unasked refactoring. Your last message is all the other agent will see of your work: give "
        "the answer or the outcome first, then the facts it rests on, with absolute file paths and line numbers. "
        "Say plainly what you could not find or finish."
    ),
)

EXPLORE = AgentDefinition(
    name="explore",
    description=(
        "A quick, read-only scout: finds where things are and how they hang together. Use it when you would "
        "otherwise read many files just to locate a few."
    ),
    prompt=(
        "You scout a code base for another agent and change nothing. Search broadly first, then read only what "
        "matters. Run independent searches in one step. Your last message is all the other agent will see: say what "
        "is where, as absolute paths with line numbers, how the pieces connect, and what you did not find. Quote "
        "code only where the exact text matters."
    ),
    tools=("Read", "Glob", "Grep", "Symbols", "Definition", "References", "Hover", "Diagnostics"),
)

BUILT_IN: tuple[AgentDefinition, ...] = (GENERAL_PURPOSE, EXPLORE)


def registry(*groups: Iterable[AgentDefinition]) -> tuple[AgentDefinition, ...]:
    """All agents by name; a later group replaces a name of an earlier one."""
    found: dict[str, AgentDefinition] = {}
    for group in groups:
        for agent in group:
            found[agent.name] = agent
    return tuple(found.values())


def find(agents: Sequence[AgentDefinition], name: str) -> AgentDefinition | None:
    wanted = name.casefold()
    return next((agent for agent in agents if agent.name.casefold() == wanted), None)
