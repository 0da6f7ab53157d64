"""The MCP servers that agents define in their own files: there for the time of a run, under the rules for all servers.

An agent of the user's brings its servers without a question. One of a project counts only in a trusted folder, and each
of its servers waits for approval of its configuration, as those of `.mcp.json` do.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Protocol, cast

from assent.engine.services import McpClient
from assent.extensions.agents import AgentDefinition, named_server
from assent.extensions.mcp.config import Rejected, ServerConfig, read_entry
from assent.extensions.mcp.joined import Joined
from assent.extensions.mcp.offer import Offer
from assent.extensions.mcp.servers import ConfiguredServers, Servers
from assent.sessions.server_places import placed
from assent.tools.mcp_resources import ListMcpResources, ReadMcpResource
from assent.tools.mcp_tool import McpTools
from assent.tools.tool import AnyTool
from assent.tools.tool_search import ToolSearch
from assent.types.blocks import Json
from assent.types.ports import HandleElicitation

WAIT_SECONDS = 5.0
NOT_TRUSTED = "the folder is not trusted; what its agents bring runs only in a trusted one"


class OfSession(Protocol):
    """The servers of the session that an agent works in, and who is asked about others."""

    @property
    def servers(self) -> Servers: ...
    @property
    def offer(self) -> Offer: ...
    @property
    def elicit(self) -> HandleElicitation | None: ...
    @property
    def attached(self) -> set[tuple[str, str]]: ...
    def on_leave(self, detach: Callable[[], None], /) -> None: ...


class AgentTools:
    """One run's servers: what the engine takes for the agent."""

    def __init__(self, servers: Servers, session: OfSession) -> None:
        self._servers = servers
        self._offer = Offer(servers)
        access = Joined(self._offer, session.offer)
        self._own: tuple[AnyTool, ...] = (ToolSearch(access), ListMcpResources(access), ReadMcpResource(access))
        self._tools = McpTools(self._offer)

    def beside(self, tools: Sequence[AnyTool]) -> list[AnyTool]:
        """What it may use of the session's tools, with its own servers' in the place of those of the same name."""
        names = {tool.name for tool in self._own}
        servers = [server.config.name for server in self._servers.listed()]
        kept = [
            tool
            for tool in tools
            if tool.name not in names and not any(named_server(server, tool.name) for server in servers)
        ]
        return [*kept, *self.mine()]

    def mine(self) -> list[AnyTool]:
        return [*self._own, *self._tools.current()]

    def clients(self) -> list[McpClient]:
        return [
            McpClient(name=state.name, status=state.status, instructions=state.instructions)
            for state in self._offer.states()
        ]

    def problems(self) -> list[str]:
        """Why servers of the agent cannot be used now, in words for people."""
        rows = [row for row in self._servers.summaries() if row["status"] not in ("connected", "idle", "connecting")]
        return [f"{row['name']} is {row['status']}: {row.get('error') or 'see /mcp'}" for row in rows]


class AgentServers:
    """Those of all agents of the program; sessions of one folder share them."""

    def __init__(self, open_group: Callable[[str, str, Callable[[], ConfiguredServers]], Servers]) -> None:
        self._open = open_group
        self._configured: dict[tuple[str, str], ConfiguredServers] = {}
        self._runs: dict[tuple[str, str], int] = {}
        self._active: dict[str, list[AgentTools]] = {}  # by session

    @asynccontextmanager
    async def of_run(
        self, agent: AgentDefinition, session: OfSession, session_id: str, *, trusted: bool
    ) -> AsyncGenerator[AgentTools, None]:
        """The servers of a run that begins: connected, or tried for a short while. They rest when the last run ends."""
        key = (session.servers.folder, agent.name)
        self._configured[key] = configured(agent, key[0], trusted=trusted)
        servers = self._open(*key, lambda: self._configured[key])
        if session.elicit is not None and key not in session.attached:
            session.attached.add(key)
            session.on_leave(servers.attach(session.elicit))
        tools = AgentTools(servers, session)
        active = self._active.setdefault(session_id, [])
        active.append(tools)
        self._runs[key] = self._runs.get(key, 0) + 1
        try:
            servers.retry()
            await servers.settled(WAIT_SECONDS)
            yield tools
        finally:
            active.remove(tools)
            self._runs[key] -= 1
            if not self._runs[key]:
                servers.rest()

    def tools(self, session_id: str) -> list[AnyTool]:
        """What agents at work in a session have of their own servers; the permission chain has to know them."""
        return [tool for run in self._active.get(session_id, ()) for tool in run.mine()]


def configured(agent: AgentDefinition, folder: str, *, trusted: bool) -> ConfiguredServers:
    """The entries of its header. Names alone mean servers that are configured elsewhere."""
    own = agent.origin.scope != "project"
    servers: list[ServerConfig] = []
    rejected: list[Rejected] = []
    for name, entry in inline(agent):
        found = read_entry(
            name,
            _claude_style(entry),
            scope="user" if own else "project",
            source=agent.origin.file or agent.source,
            variables=os.environ,
            lenient=True,
        )
        if isinstance(found, Rejected):
            rejected.append(found)
        else:
            held = found if own or trusted else replace(found, withheld=NOT_TRUSTED)
            servers.append(placed(held, folder, trusted=trusted))
    return ConfiguredServers(servers=servers, rejected=rejected)


def inline(agent: AgentDefinition) -> list[tuple[str, object]]:
    """The servers that its own file defines."""
    maps = [cast("Json", server) for server in agent.mcp_servers if isinstance(server, dict)]
    return [(name, entry) for each in maps for name, entry in each.items()]


def _claude_style(entry: object) -> object:
    """Copilot's agents call a program `local`."""
    if isinstance(entry, dict) and cast("Json", entry).get("type") == "local":
        return {**cast("Json", entry), "type": "stdio"}
    return cast("object", entry)
