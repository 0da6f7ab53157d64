"""The owner of a call: notifications about a call go to the agent that made it, or once it has ended to its parent.

Jobs and proposals belong to the session and name the call they came from. Subagents share them, so each agent takes
only the notifications of its own calls.
"""

from __future__ import annotations

from assent.tools.tool import Mine


class Owners:
    def __init__(self) -> None:
        self._agents: dict[str, str] = {}  # by tool_use_id: the agent that made the call, while it lives

    def claim(self, tool_use_id: str, agent: str | None) -> None:
        """`agent` is the tool_use_id of the call that started it; None is the main agent."""
        if agent is not None:
            self._agents[tool_use_id] = agent

    def release(self, agent: str | None) -> None:
        """This agent has ended; later events of its calls go to the agent that started it."""
        parent = self._agents.get(agent) if agent is not None else None
        heirs = {call: parent if owner == agent else owner for call, owner in self._agents.items()}
        self._agents = {call: owner for call, owner in heirs.items() if owner is not None}

    def of(self, agent: str | None) -> Mine:
        return lambda tool_use_id: self._agents.get(tool_use_id) == agent
