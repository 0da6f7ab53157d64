"""All MCP servers of this process: one worker, and the servers of each folder that a session works in."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assent.extensions.mcp.around import ServerSurroundings
from assent.extensions.mcp.config import ServerConfig
from assent.extensions.mcp.pipe import MARKER, Pipe
from assent.extensions.mcp.servers import ConfiguredServers, Servers
from assent.extensions.mcp.store import Approvals, KnownServers, Write
from assent.types.blocks import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where things are kept, and how they are written."""

    cache: Path  # what servers offered
    credentials: Path
    approvals: Path
    write: Write


class McpFolders:
    """Makes `Servers` on first use. Nothing starts and nothing heavy is imported before a server is configured."""

    def __init__(
        self,
        *,
        places: Places,
        read: Callable[[str], ConfiguredServers],
        environment: Callable[[ServerConfig, str], Mapping[str, str]],
        roots: Callable[[str], Sequence[str]],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._places = places
        self._read = read
        self._environment = environment
        self._roots = roots
        self._sleep = sleep
        self._groups: dict[tuple[str, str], Servers] = {}  # by folder and agent
        self._listeners: list[Callable[[str], None]] = []
        self._known = KnownServers(places.cache, write=places.write)
        self._approvals = Approvals(places.approvals, write=places.write)
        self._pipe: Pipe | None = None

    def at(self, folder: str) -> Servers:
        """The servers of a folder, as its configuration says now."""
        return self._made(folder, "", lambda: self._read(folder))

    def of_agent(self, folder: str, agent: str, read: Callable[[], ConfiguredServers]) -> Servers:
        """The servers that an agent's own definition names. They outlive its runs as far as they are known: a question
        about one may be answered later, and the next run need not list its tools again."""
        return self._made(folder, agent, read)

    def of_agents(self, folder: str) -> list[Servers]:
        """Of all agents that ran here and bring servers."""
        return [servers for (place, agent), servers in self._groups.items() if agent and place == folder]

    def holding(self, folder: str, name: str) -> tuple[Servers, str]:
        """Whose server this is, and its name there: `agent/server` is one of an agent."""
        agent, slash, server = name.rpartition("/")
        found = self._groups.get((folder, agent)) if slash else None
        return (found, server) if found is not None else (self.at(folder), name)

    def _made(self, folder: str, agent: str, read: Callable[[], ConfiguredServers]) -> Servers:
        servers = self._groups.get((folder, agent))
        if servers is None:
            pipe = self._piped()
            around = ServerSurroundings(
                folder=folder,
                pipe=pipe,
                known=self._known,
                environment=lambda config: {**self._environment(config, folder), MARKER: pipe.marker},
                roots=lambda: self._roots(folder),
                credentials=str(self._places.credentials),
                changed=lambda: self._changed(folder),
                sleep=self._sleep,
                agent=agent,
            )
            servers = self._groups[folder, agent] = Servers(around, read=read, approvals=self._approvals)
        servers.refresh()
        return servers

    def subscribe(self, listener: Callable[[str], None]) -> None:
        """It is called with the folder, soon after servers there changed; many changes at once are one call."""
        self._listeners.append(listener)

    @property
    def worker(self) -> int | None:
        """The worker's process, once it runs."""
        return self._pipe.pid if self._pipe is not None else None

    async def aclose(self) -> None:
        pipe, self._pipe = self._pipe, None
        for servers in self._groups.values():
            servers.abandon()
        if pipe is not None:
            await pipe.aclose()  # the worker ends every server

    def _piped(self) -> Pipe:
        if self._pipe is None:
            self._pipe = Pipe()
            self._pipe.on_event = self._heard
            self._pipe.answer = self._answer
        return self._pipe

    def _heard(self, event: Json) -> None:
        for servers in list(self._groups.values()):
            servers.heard(event)

    async def _answer(self, message: Json) -> Json:
        key = str(message["server"])
        servers = next((each for each in self._groups.values() if each.by_key(key) is not None), None)
        return await servers.answer(message) if servers is not None else {"action": "cancel"}

    def _changed(self, folder: str) -> None:
        for (place, _), servers in list(self._groups.items()):
            if place == folder:
                servers.changed()
        for listener in self._listeners:
            listener(folder)
