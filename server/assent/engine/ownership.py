"""Whose call it was: news about a call goes to the agent that made it, and to the main one once that has ended.

Jobs and proposals belong to the session and name the call they came from. Subagents share the session's, so each takes
only what is its own.
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
        """This agent has ended; what still comes of its calls is the main agent's to hear."""
        self._agents = {call: owner for call, owner in self._agents.items() if owner != agent}

    def of(self, agent: str | None) -> Mine:
        return lambda tool_use_id: self._agents.get(tool_use_id) == agent
