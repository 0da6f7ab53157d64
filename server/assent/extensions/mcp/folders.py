"""All MCP servers of this process: one worker, and the servers of each folder that a session works in."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assent.extensions.mcp.config import ServerConfig
from assent.extensions.mcp.offer import Offer
from assent.extensions.mcp.pipe import MARKER, Pipe
from assent.extensions.mcp.server import Surroundings
from assent.extensions.mcp.servers import Configured, Servers
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
        read: Callable[[str], Configured],
        environment: Callable[[ServerConfig, str], Mapping[str, str]],
        roots: Callable[[str], Sequence[str]],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._places = places
        self._read = read
        self._environment = environment
        self._roots = roots
        self._sleep = sleep
        self._folders: dict[str, Servers] = {}
        self._listeners: list[Callable[[str], None]] = []
        self._known = KnownServers(places.cache, write=places.write)
        self._approvals = Approvals(places.approvals, write=places.write)
        self._pipe: Pipe | None = None

    def at(self, folder: str) -> Servers:
        """The servers of a folder, as its configuration says now."""
        servers = self._folders.get(folder)
        if servers is None:
            pipe = self._piped()
            around = Surroundings(
                folder=folder,
                pipe=pipe,
                known=self._known,
                environment=lambda config: {**self._environment(config, folder), MARKER: pipe.marker},
                roots=lambda: self._roots(folder),
                credentials=str(self._places.credentials),
                changed=lambda: self._changed(folder),
                sleep=self._sleep,
            )
            servers = self._folders[folder] = Servers(
                around, read=lambda: self._read(folder), approvals=self._approvals
            )
        servers.refresh()
        return servers

    def offer(self, folder: str) -> Offer:
        """The folder's servers for one session there."""
        return Offer(self.at(folder))

    def subscribe(self, listener: Callable[[str], None]) -> None:
        """It is called with the folder, soon after servers there changed; many changes at once are one call."""
        self._listeners.append(listener)

    @property
    def worker(self) -> int | None:
        """The worker's process, once it runs."""
        return self._pipe.pid if self._pipe is not None else None

    async def aclose(self) -> None:
        pipe, self._pipe = self._pipe, None
        for servers in self._folders.values():
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
        for folder, servers in list(self._folders.items()):
            if event["event"] == "died" or str(event.get("server", "")).startswith(f"{folder}\n"):
                servers.heard(event)

    async def _answer(self, message: Json) -> Json:
        folder = str(message["server"]).partition("\n")[0]
        servers = self._folders.get(folder)
        return await servers.answer(message) if servers is not None else {"action": "cancel"}

    def _changed(self, folder: str) -> None:
        if folder in self._folders:
            self._folders[folder].changed()
        for listener in self._listeners:
            listener(folder)
