"""The tools of one session: the built-in ones, those of its MCP servers, and those of agents at work in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from assent.engine.services import McpClient
from assent.extensions.agents import AgentDefinition
from assent.sessions.agent_servers import AgentTools, inline
from assent.sessions.live.owning_session import OwningSession
from assent.sessions.mcp import SessionServers, read_mention
from assent.tools.tool import AnyTool
from assent.types.ports import HandleElicitation


class SessionTools:
    def __init__(
        self, session: OwningSession, *, make: Callable[[], Sequence[AnyTool]], elicit: HandleElicitation
    ) -> None:
        """`make`: the tools that no server offers. `elicit`: asks a server's question."""
        self._session = session
        self._make = make
        self._elicit = elicit
        self._made: tuple[AnyTool, ...] | None = None

    def all(self) -> tuple[AnyTool, ...]:
        """The same objects until `forget` is called; the servers' tools may change in between."""
        if self._made is None:
            self._made = tuple(self._make())
        servers = self.mcp
        return self._made if servers is None else (*self._made, *servers.tools())

    def forget(self) -> None:
        """The settings changed: make the tools again when they are needed."""
        self._made = None

    def with_agents(self) -> tuple[AnyTool, ...]:
        """Also the tools that only agents at work in the session have."""
        mcp = self._session.deps.mcp
        return (*self.all(), *(mcp.of_agents.tools(self._session.id) if mcp is not None else ()))

    def named(self, name: str) -> AnyTool | None:
        return next((tool for tool in self.with_agents() if tool.name == name), None)

    @property
    def mcp(self) -> SessionServers | None:
        """The MCP servers of the session's folder (T9); None in a program without them."""
        session = self._session
        return session.deps.mcp.session(session.id, session.cwd, self._elicit) if session.deps.mcp is not None else None

    def mcp_clients(self) -> Sequence[McpClient]:
        return self.mcp.clients() if self.mcp is not None else ()

    async def mentioned(self, mention: str) -> str | None:
        """The text of a resource that a prompt mentions."""
        return await read_mention(self.mcp, mention) if self.mcp is not None else None

    def agent_servers(self, agent: AgentDefinition) -> AbstractAsyncContextManager[AgentTools] | None:
        """The servers that an agent's own file defines, for one run of it."""
        session, servers = self._session, self.mcp
        if session.deps.mcp is None or servers is None or not inline(agent):
            return None
        return session.deps.mcp.of_agents.of_run(agent, servers, session.id, trusted=session.trusted)
