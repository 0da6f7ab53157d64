"""What `agent` in the header of a command means without `context: fork`.

A prompt file of VS Code is worked on in this conversation, for one turn, as the agent that it names: its instructions,
its skills, its tools, its model. A command of opencode is given to that agent, unless it says `subtask: false`. The
modes that these programs have built in count too: `ask` and `plan` only read. In a command or skill of Claude Code
`agent` says nothing by itself.
"""

from __future__ import annotations

from dataclasses import replace

from assent.extensions.agents import EXPLORE, AgentDefinition, find
from assent.extensions.commands import Expansion
from assent.extensions.prompt_files import PromptFile
from assent.sessions.slash.host import SlashSession
from assent.types.blocks import text_block

_READING = (*(EXPLORE.tools or ()), "WebFetch", "WebSearch", "AskUserQuestion", "TodoWrite")
_MODES: dict[str, tuple[str, ...] | None] = {
    "agent": None,
    "edit": None,
    "build": None,
    "ask": _READING,
    "plan": _READING,
}
"""The built-in modes of VS Code and opencode, with the only tools there are in each; None: all."""


def expanded(session: SlashSession, prompt: PromptFile, text: str) -> Expansion:
    """The prompt, worked on by whom it names. An agent that is not there is told, and the prompt works without it."""
    plain = Expansion(
        blocks=(text_block(text),),
        model=prompt.model,
        effort=prompt.effort,
        allowed_tools=prompt.tools,
        disallowed_tools=prompt.disallowed_tools,
        agent=(prompt.agent or "general-purpose") if prompt.fork else "",
    )
    if prompt.fork or not prompt.agent or prompt.agent_alone == "nothing":
        return plain
    agent = find(session.services.agents(), prompt.agent)
    if agent is not None:
        return replace(plain, agent=agent.name) if prompt.agent_alone == "fork" else _as(session, plain, agent)
    mode = prompt.agent.casefold()
    if mode not in _MODES:
        place = f"{prompt.origin.file}:{prompt.agent_line}" if prompt.agent_line else prompt.origin.file
        session.notice("warning", f"{place}: there is no agent {prompt.agent!r}; /{prompt.name} works without it.")
        return plain
    return replace(plain, allowed_tools=_MODES[mode] if prompt.tools is None else prompt.tools)


def _as(session: SlashSession, plain: Expansion, agent: AgentDefinition) -> Expansion:
    """What the prompt itself says of model, effort and tools comes before what the agent says."""
    known = session.services.skill_text
    skills = [(name, known(name)) for name in agent.skills] if known is not None else []
    role = [
        f"For this task you are the agent {agent.name}. Its instructions:\n\n{agent.prompt}",
        *(f"The skill {name}:\n{text}" for name, text in skills if text),
    ]
    return replace(
        plain,
        blocks=(*map(text_block, role), *plain.blocks),
        model=plain.model or agent.model,
        effort=plain.effort or agent.effort,
        allowed_tools=agent.tools if plain.allowed_tools is None else plain.allowed_tools,
        disallowed_tools=(*plain.disallowed_tools, *agent.disallowed_tools),
    )
