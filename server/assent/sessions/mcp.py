"""MCP servers as sessions use them: the configured ones of each folder, and a session's own view of them.

Everything here is cheap. Servers are reached by a process of their own, which starts with the first server that has to
be connected; a turn waits for none of them.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from assent.engine.services import McpClient
from assent.extensions.commands import Command, Expansion
from assent.extensions.mcp.config import Rejected, Scope, ServerConfig, read_entry, secret_shaped
from assent.extensions.mcp.folders import McpFolders, Places
from assent.extensions.mcp.offer import Offer
from assent.extensions.mcp.server import Server
from assent.extensions.mcp.servers import Configured, Servers
from assent.storage.files import write_atomically
from assent.storage.settings.files import SettingsFiles
from assent.storage.trust import TrustStore
from assent.tools.mcp_resources import ListMcpResources, ReadMcpResource
from assent.tools.mcp_tool import McpTools
from assent.tools.tool import AnyTool
from assent.tools.tool_search import ToolSearch
from assent.types.blocks import Json, text_block
from assent.types.errors import ToolError
from assent.types.mcp import McpCall, McpPrompt
from assent.types.ports import HandleElicitation

_REFRESH_SECONDS = 0.25  # how often the configuration is looked at while tools are asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginServer:
    """A server that a plugin brings. `root` is the plugin's folder, for `${CLAUDE_PLUGIN_ROOT}`."""

    plugin: str
    name: str
    entry: Json
    file: str
    root: str
    data: str = ""


class SessionServers:
    """The servers of one session's folder, for its engine."""

    def __init__(self, servers: Servers, offer: Offer) -> None:
        self.servers = servers
        self.offer = offer
        self._tools = McpTools(offer)
        self._own: tuple[AnyTool, ...] = (ToolSearch(offer), ListMcpResources(offer), ReadMcpResource(offer))
        self._refreshed = time.monotonic()
        self.detach: Callable[[], None] = lambda: None

    def tools(self) -> Sequence[AnyTool]:
        """Ours first, then what the servers offer: a tool that is loaded later comes last."""
        now = time.monotonic()
        if now - self._refreshed > _REFRESH_SECONDS:
            self._refreshed = now
            self.servers.refresh()
        if not self.servers.listed():
            return ()
        return (*self._own, *self._tools.current())

    def tool(self, name: str) -> AnyTool | None:
        """One by its name, also when its definition is not in the requests."""
        return self._tools.get(name)

    def clients(self) -> Sequence[McpClient]:
        return [
            McpClient(name=state.name, status=state.status, instructions=state.instructions)
            for state in self.offer.states()
        ]

    def commands(self) -> Sequence[Command]:
        return [self._command(prompt) for prompt in self.offer.prompts()]

    def _command(self, prompt: McpPrompt) -> Command:
        names = [str(argument.get("name", "")) for argument in prompt.arguments]

        async def expand(arguments: str) -> Expansion:
            words = arguments.split(None, max(len(names) - 1, 0)) if names else []
            given = dict(zip(names, words, strict=False))
            text = await self.offer.prompt(prompt.server, prompt.name, given)
            return Expansion(blocks=(text_block(text),))

        hint = " ".join(f"[{name}]" for name in names)
        return Command(
            name=prompt.command,
            description=prompt.description or f"a prompt of the MCP server {prompt.server}",
            argument_hint=hint,
            expand=expand,
        )

    async def resource(self, mention: str) -> str:
        """`server:uri` as text, for a mention in a prompt. Raises ToolError."""
        server, _, uri = mention.partition(":")
        result = await self.offer.read_resource(server, uri, McpCall())
        return "\n".join(str(block.get("text", "")) for block in result.blocks)

    def knows(self, server: str) -> bool:
        return any(known.config.name == server for known in self.servers.listed())


@dataclass(slots=True)
class Mcp:
    """All of it, for the program: made once, used by every session and by the wire."""

    settings: SettingsFiles
    trust: TrustStore
    data_dir: Path
    config_dir: Path
    environment: Callable[[], Mapping[str, str]]  # of a child process of ours, without our secrets
    roots: Callable[[], Sequence[str]]
    plugins: Callable[[str], Sequence[PluginServer]] = lambda _cwd: ()
    changed: Callable[[str], None] = lambda _folder: None
    _sessions: dict[str, SessionServers] = field(default_factory=dict[str, SessionServers])
    _client: dict[str, dict[str, Json]] = field(default_factory=dict[str, dict[str, Json]])
    _folders: McpFolders | None = None

    def session(self, session_id: str, cwd: str, elicit: HandleElicitation | None = None) -> SessionServers:
        """A session's view; the first time it connects, in the background, what nothing is known of yet."""
        found = self._sessions.get(session_id)
        if found is None or found.servers.folder != cwd:
            if found is not None:
                found.detach()
            servers = self.folders.at(cwd)
            found = self._sessions[session_id] = SessionServers(servers, Offer(servers))
            if elicit is not None:
                found.detach = servers.attach(elicit)
            servers.begin()
        return found

    def leave(self, session_id: str) -> None:
        """The session was closed. A folder that nobody works in any more keeps no connections."""
        found = self._sessions.pop(session_id, None)
        if found is not None:
            found.detach()
            if all(other.servers is not found.servers for other in self._sessions.values()):
                found.servers.rest()

    def offer_from_client(self, cwd: str, entries: Mapping[str, Json]) -> None:
        """Servers that the client named for a session, as ACP clients do: the user configured them there."""
        self._client.setdefault(cwd, {}).update(entries)
        self.folders.at(cwd).begin()  # now: the session's tools may have been asked for a moment ago

    @property
    def folders(self) -> McpFolders:
        if self._folders is None:
            self._folders = McpFolders(
                places=Places(
                    cache=self.data_dir / "mcp" / "servers",
                    credentials=self.data_dir / "mcp" / "credentials",
                    approvals=self.config_dir / "mcp-approvals.json",
                    write=write_atomically,
                ),
                read=self._read,
                environment=self._environment,
                roots=self._root_uris,
            )
            self._folders.subscribe(lambda folder: self.changed(folder))
        return self._folders

    # --- for the wire ------------------------------------------------------------------------------------------------

    def list(self, cwd: str) -> list[Json]:
        return self.folders.at(cwd).summaries()

    async def restart(self, name: str, cwd: str) -> Json:
        return (await self.folders.at(cwd).restart(name)).summary()

    def enable(self, name: str, cwd: str) -> Json:
        return self._summary(self.folders.at(cwd).switch(name, on=True))

    def disable(self, name: str, cwd: str) -> Json:
        return self._summary(self.folders.at(cwd).switch(name, on=False))

    def approve(self, name: str, cwd: str, hash: str | None) -> Json:
        servers = self.folders.at(cwd)
        servers.approve(name, hash)
        return self._summary(servers.named(name))

    async def sign_in(self, name: str, cwd: str, redirect: str | None = None) -> Json:
        """{…state, url}: the address to open. With `redirect`, the address that the browser was sent to."""
        server = self.folders.at(cwd).named(name)
        if redirect is not None:
            server.paste(redirect)
            return server.summary()
        url = await server.sign_in()
        return {**server.summary(), **({"url": url} if url else {})}

    def _summary(self, server: Server) -> Json:
        return server.summary()

    async def aclose(self) -> None:
        if self._folders is not None:
            await self._folders.aclose()

    # --- configuration -----------------------------------------------------------------------------------------------

    def _read(self, cwd: str) -> Configured:
        servers: list[ServerConfig] = []
        rejected: list[Rejected] = []

        def take(entry: ServerConfig | Rejected) -> None:
            if isinstance(entry, ServerConfig):
                servers.append(entry)
            else:
                rejected.append(entry)

        for each in self.settings.servers(cwd, trust=self.trust.of(cwd)):
            if not each.approved:
                continue  # trust is asked about it first; see `activation`
            scope = cast("Scope", each.source)
            take(read_entry(each.name, each.entry, scope=scope, source=each.file, variables=os.environ, own=each.own))
        for plugin in self.plugins(cwd):
            variables = {**os.environ, "CLAUDE_PLUGIN_ROOT": plugin.root, "CLAUDE_PLUGIN_DATA": plugin.data}
            variables |= {"PLUGIN_ROOT": plugin.root, "PLUGIN_DATA": plugin.data}
            name = f"plugin:{plugin.plugin}:{plugin.name}"
            take(read_entry(name, plugin.entry, scope="plugin", source=plugin.file, variables=variables))
        for name, entry in self._client.get(cwd, {}).items():
            take(read_entry(name, entry, scope="client", source="client", variables=os.environ, lenient=True))
        return Configured(servers=servers, rejected=rejected)

    def _environment(self, config: ServerConfig, folder: str) -> Mapping[str, str]:
        base = self.environment()
        if not config.own:
            base = {name: value for name, value in base.items() if not secret_shaped(name)}
        return {**base, "CLAUDE_PROJECT_DIR": folder, **config.env}

    def _root_uris(self, folder: str) -> Sequence[str]:
        return [Path(root).as_uri() for root in dict.fromkeys((folder, *self.roots()))]


async def read_mention(servers: SessionServers, mention: str) -> str | None:
    """The text of `@server:uri`, or None when it names no server of ours. Raises ToolError."""
    server, colon, uri = mention.partition(":")
    if not colon or "://" not in uri or not servers.knows(server):
        return None
    try:
        return await servers.resource(mention)
    except ToolError as error:
        return f"[{mention} could not be read: {error}]"
