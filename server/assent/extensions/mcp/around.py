"""What servers get from outside: the pipe, what is remembered, and the folder they work for."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assent.extensions.mcp.config import ServerConfig
from assent.extensions.mcp.pipe import Pipe
from assent.extensions.mcp.store import KnownServers
from assent.types.blocks import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSurroundings:
    """The same for all servers of a folder."""

    folder: str
    pipe: Pipe
    known: KnownServers
    environment: Callable[[ServerConfig], Mapping[str, str]]
    roots: Callable[[], Sequence[str]]  # URIs
    credentials: str  # folder
    changed: Callable[[], None]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    agent: str = ""  # whose own servers these are; empty: the folder's

    def full_name(self, server: str) -> str:
        """What the user knows a server by; a name of an agent's own server may also be one of the folder's."""
        return f"{self.agent}/{server}" if self.agent else server

    def for_worker(self, config: ServerConfig, era: str, *, sign_in: bool) -> Json:
        """All that the worker needs to connect it."""
        return {
            "name": config.name,
            "transport": config.transport,
            "command": config.command,
            "args": list(config.args),
            "cwd": str(Path(self.folder, config.cwd)),
            "env": dict(self.environment(config)),
            "url": config.url,
            "headers": dict(config.headers),
            "headersHelper": config.headers_helper,
            "oauth": {
                "clientId": config.oauth.client_id,
                "callbackPort": config.oauth.callback_port,
                "scopes": config.oauth.scopes,
                "clientMetadataUrl": config.oauth.client_metadata_url,
                "authServerMetadataUrl": config.oauth.metadata_url,
            },
            "sampling": config.sampling,
            "roots": list(self.roots()),
            "era": era,
            "credentials": self.credentials,
            "signIn": sign_in,
        }
