"""MCP servers as sessions use them: the configured ones of each folder, and a session's own view of them.

Everything here is cheap. Servers are reached by a process of their own, which starts with the first server that has to
be connected; a turn waits for none of them.
"""

import contextlib
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import cast

from assent.engine.services import McpClient
from assent.extensions.commands import Expansion, SlashCommand
from assent.extensions.mcp.config import Rejected, Scope, ServerConfig, read_entry, secret_shaped
from assent.extensions.mcp.details import details
from assent.extensions.mcp.folders import McpFolders, Places
from assent.extensions.mcp.offer import Offer
from assent.extensions.mcp.pipe import WorkerError
from assent.extensions.mcp.server import Server
from assent.extensions.mcp.servers import ConfiguredServers, Servers
from assent.sessions import server_places
from assent.sessions.agent_servers import AgentServers
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
from assent.types.messages import AssistantMessage, Message, Result, StreamEvent, SystemInit
from assent.types.ports import HandleElicitation

UNSEEN = (
    "its entry is new or changed since you trusted the folder; trust it again to see the change (the next prompt asks)"
)
_REFRESH_SECONDS = 0.25  # how often the configuration is looked at while tools are asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginServer:
    """A server that a plugin brings."""

    plugin: str
    name: str
    entry: Json
    file: str
    variables: Mapping[str, str]  # where the plugin and its data are


class SessionServers:
    """The servers of one session's folder, for its engine."""

    def __init__(self, servers: Servers, offer: Offer, elicit: HandleElicitation | None = None) -> None:
        self.servers = servers
        self.offer = offer
        self.elicit = elicit
        self._tools = McpTools(offer)
        self._own: tuple[AnyTool, ...] = (ToolSearch(offer), ListMcpResources(offer), ReadMcpResource(offer))
        self._refreshed = time.monotonic()
        self._leaving: list[Callable[[], None]] = []
        self.attached: set[tuple[str, str]] = set()  # agents about whose servers this session's user can be asked

    def on_leave(self, detach: Callable[[], None]) -> None:
        """Called when the session is over."""
        self._leaving.append(detach)

    def leave(self) -> None:
        while self._leaving:
            self._leaving.pop()()

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

    def commands(self) -> Sequence[SlashCommand]:
        return [self._command(prompt) for prompt in self.offer.prompts()]

    def _command(self, prompt: McpPrompt) -> SlashCommand:
        names = [str(argument.get("name", "")) for argument in prompt.arguments]

        required = [name for name, each in zip(names, prompt.arguments, strict=True) if each.get("required") is True]
        hint = " ".join(f"<{name}>" if name in required else f"[{name}]" for name in names)

        async def expand(arguments: str) -> Expansion:
            words = arguments.split(None, max(len(names) - 1, 0)) if names else []
            given = dict(zip(names, words, strict=False))
            if missing := [name for name in required if name not in given]:
                raise ToolError(
                    f"/{prompt.command} needs {_named_each(missing)}: /{prompt.command} {hint}. Nothing was sent."
                )
            text = await self.offer.prompt(prompt.server, prompt.name, given)
            return Expansion(blocks=(text_block(text),))

        return SlashCommand(
            name=prompt.command,
            description=prompt.description or f"a prompt of the MCP server {prompt.server}",
            argument_hint=hint,
            expand=expand,
            source="mcp",
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
    plugins: Callable[[], Sequence[PluginServer]] = tuple
    changed: Callable[[str], None] = lambda _folder: None
    sample: Callable[[str, Json], Awaitable[Json]] | None = None  # (session, a server's request) → the model's answer
    _sessions: dict[str, SessionServers] = field(default_factory=dict[str, SessionServers])
    _client: dict[str, dict[str, Json]] = field(default_factory=dict[str, dict[str, Json]])
    _folders: McpFolders | None = None
    _of_agents: AgentServers | None = None

    def session(self, session_id: str, cwd: str, elicit: HandleElicitation | None = None) -> SessionServers:
        """A session's view; the first time it connects, in the background, what nothing is known of yet."""
        found = self._sessions.get(session_id)
        if found is None or found.servers.folder != cwd:
            if found is not None:
                found.leave()
            servers = self.folders.at(cwd)
            sample = partial(self.sample, session_id) if self.sample is not None else None
            found = self._sessions[session_id] = SessionServers(servers, Offer(servers, sample=sample), elicit)
            if elicit is not None:
                found.on_leave(servers.attach(elicit))
            servers.begin()
        return found

    def observed(self, session_id: str) -> Callable[[Message], None]:
        """For the messages of a session."""

        def servers() -> Servers | None:
            found = self._sessions.get(session_id)
            return found.servers if found is not None else None

        return waits_for_words(session_id, servers)

    def leave(self, session_id: str) -> None:
        """The session was closed. A folder that nobody works in any more keeps no connections."""
        found = self._sessions.pop(session_id, None)
        if found is not None:
            found.leave()
            found.servers.release(session_id)
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

    @property
    def of_agents(self) -> AgentServers:
        """Servers that agents define themselves."""
        if self._of_agents is None:
            self._of_agents = AgentServers(self.folders.of_agent)
        return self._of_agents

    def prompts(self, cwd: str) -> Sequence[SlashCommand]:
        """The prompts of a folder's servers, as far as they are known; connects nothing."""
        found = next((each for each in self._sessions.values() if each.servers.folder == cwd), None)
        if found is None:
            servers = self.folders.at(cwd)
            found = SessionServers(servers, Offer(servers))
        return found.commands()

    # --- for the wire ------------------------------------------------------------------------------------------------

    def list(self, cwd: str) -> list[Json]:
        groups = (self.folders.at(cwd), *self.folders.of_agents(cwd))
        return [row for servers in groups for row in servers.summaries()]

    def withheld(self, cwd: str) -> int:
        """How many servers the project brings that count only once the folder is trusted."""
        return self.folders.at(cwd).withheld

    async def restart(self, name: str, cwd: str) -> Json:
        servers, name = self.folders.holding(cwd, name)
        return (await servers.restart(name)).summary()

    def enable(self, name: str, cwd: str) -> Json:
        servers, name = self.folders.holding(cwd, name)
        return servers.switch(name, on=True).summary()

    def disable(self, name: str, cwd: str) -> Json:
        servers, name = self.folders.holding(cwd, name)
        return servers.switch(name, on=False).summary()

    def approve(self, name: str, cwd: str, hash: str | None) -> Json:
        servers, name = self.folders.holding(cwd, name)
        servers.approve(name, hash)
        return servers.named(name).summary()

    async def sign_in(self, name: str, cwd: str, redirect: str | None = None) -> Json:
        """{…state, url}: the address to open. With `redirect`, the address that the browser was sent to."""
        server = self._named(name, cwd)
        if redirect is not None:
            server.paste(redirect)
            return server.summary()
        url = ""
        with contextlib.suppress(WorkerError):  # its state says what went wrong
            url = await server.sign_in()
        return {**server.summary(), **({"url": url} if url else {})}

    async def sign_out(self, name: str, cwd: str) -> Json:
        server = self._named(name, cwd)
        with contextlib.suppress(WorkerError):  # the worker is gone; it holds no tokens
            await server.sign_out()
        return server.summary()

    async def show(self, name: str, cwd: str) -> Json:
        """One server with all it offers, its instructions and its log."""
        return await details(self._named(name, cwd))

    def _named(self, name: str, cwd: str) -> Server:
        servers, name = self.folders.holding(cwd, name)
        return servers.named(name)

    async def aclose(self) -> None:
        if self._folders is not None:
            await self._folders.aclose()

    # --- configuration -----------------------------------------------------------------------------------------------

    def _read(self, cwd: str) -> ConfiguredServers:
        servers: list[ServerConfig] = []
        rejected: list[Rejected] = []
        unseen: list[Rejected] = []

        trusted = self.trust.of(cwd).trusted

        def take(entry: ServerConfig | Rejected) -> None:
            if isinstance(entry, ServerConfig):
                servers.append(server_places.placed(entry, cwd, trusted=trusted))
            else:
                rejected.append(entry)

        for each in self.settings.servers(cwd, trust=self.trust.of(cwd)):
            scope = cast("Scope", each.source)
            if not each.approved:  # trust is asked about it first; see `activation`
                unseen.append(Rejected(name=each.name, scope=scope, source=each.file, problem=UNSEEN))
                continue
            take(read_entry(each.name, each.entry, scope=scope, source=each.file, variables=os.environ, own=each.own))
        for plugin in self.plugins():
            entry = self._of_plugin(plugin, trusted=trusted)
            if not isinstance(entry, ServerConfig) or all(entry.endpoint != known.endpoint for known in servers):
                take(entry)
        for name, entry in self._client.get(cwd, {}).items():
            take(read_entry(name, entry, scope="client", source="client", variables=os.environ, lenient=True))
        if not trusted:
            return ConfiguredServers(servers=servers, rejected=rejected, withheld=len(unseen))
        return ConfiguredServers(servers=servers, rejected=rejected, unseen=unseen)

    def _of_plugin(self, plugin: PluginServer, *, trusted: bool) -> ServerConfig | Rejected:
        found = read_entry(
            f"plugin:{plugin.plugin}:{plugin.name}",
            plugin.entry,
            scope="plugin",
            source=plugin.file,
            variables=os.environ,
            given=plugin.variables,
        )
        if isinstance(found, Rejected):
            return found
        env = {**plugin.variables, **found.env} if found.transport == "stdio" else found.env
        withheld = "" if trusted else "the folder is not trusted; a plugin's server runs only in a trusted one"
        return replace(found, env=env, withheld=withheld)

    def _environment(self, config: ServerConfig, folder: str) -> Mapping[str, str]:
        trusted = self.trust.of(folder).trusted
        base = server_places.environment(self.environment(), config, folder, trusted=trusted)
        if not config.own:
            base = {name: value for name, value in base.items() if not secret_shaped(name)}
        return {**base, "CLAUDE_PROJECT_DIR": folder, **config.env}

    def _root_uris(self, folder: str) -> Sequence[str]:
        return [Path(root).as_uri() for root in dict.fromkeys((folder, *self.roots()))]


def _named_each(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def waits_for_words(session_id: str, find: Callable[[], Servers | None]) -> Callable[[Message], None]:
    """An observer of messages: from the start of a turn to the first word of its answer no server starts by itself."""
    waiting = False

    def observe(message: Message) -> None:
        nonlocal waiting
        if isinstance(message, SystemInit):
            waiting = True
        elif not waiting or not isinstance(message, StreamEvent | AssistantMessage | Result):
            return
        else:
            waiting = False
        if (servers := find()) is not None:
            (servers.hold if waiting else servers.release)(session_id)

    return observe


async def read_mention(servers: SessionServers, mention: str) -> str | None:
    """The text of `@server:uri`, or None when it names no server of ours. Raises ToolError."""
    server, colon, uri = mention.partition(":")
    if not colon or "://" not in uri or not servers.knows(server):
        return None
    try:
        return await servers.resource(mention)
    except ToolError as error:
        return f"[{mention} could not be read: {error}]"
