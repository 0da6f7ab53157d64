"""The servers as one session uses them: which tools stand in its requests, and calls that can ask its user.

Tools within a small budget are offered at once. Past it they are found with ToolSearch, and one that was offered keeps
its place for as long as its server has it, so that a request's prefix stays the same.
"""

import re
from collections.abc import Mapping, Sequence

from assent.extensions.mcp.config import ServerConfig, tool_name
from assent.extensions.mcp.pipe import Answer, WorkerError
from assent.extensions.mcp.results import prompt_text, resource_of, result_of
from assent.extensions.mcp.server import LONGEST_CALL, Server
from assent.extensions.mcp.servers import Servers, answered
from assent.types.blocks import Json
from assent.types.errors import ProtocolError, ToolError
from assent.types.mcp import McpCall, McpFound, McpPrompt, McpResult, McpServerState, McpToolSpec, Sample
from assent.types.ports import HandleElicitation

MOST_TOOLS = 10
MOST_TOKENS = 5_000
WAIT_SECONDS = 5.0
MOST_SAMPLES = 20  # in one call


class Offer:
    def __init__(self, servers: Servers, *, sample: Sample | None = None) -> None:
        self._servers = servers
        self._sample = sample
        self._order: list[str] = []  # names that were offered, in the order of their first time

    # --- what is on offer --------------------------------------------------------------------------------------------

    def offered(self) -> Sequence[McpToolSpec]:
        known = self._known()
        total = sum(spec.tokens for spec in known.values())
        fits = len(known) <= MOST_TOOLS and total <= MOST_TOKENS
        for name, spec in known.items():
            if (fits or spec.always_load) and name not in self._order:
                self._order.append(name)
        return [known[name] for name in self._order if name in known]

    def deferred(self) -> Sequence[McpToolSpec]:
        offered = {spec.name for spec in self.offered()}
        return [spec for spec in self._known().values() if spec.name not in offered]

    def states(self) -> Sequence[McpServerState]:
        return [
            McpServerState(
                name=server.config.name,
                status=server.status,
                instructions=server.instructions if server.usable else "",
                tools=len(server.tools),
            )
            for server in self._servers.listed()
        ]

    def prompts(self) -> Sequence[McpPrompt]:
        return [
            McpPrompt(
                server=server.config.name,
                name=str(prompt["name"]),
                command=tool_name(server.config.name, str(prompt["name"])),
                description=str(prompt.get("description") or prompt.get("title") or ""),
                arguments=tuple(prompt.get("arguments") or ()),
            )
            for server in self._servers.listed()
            for prompt in server.prompts
        ]

    def _known(self) -> dict[str, McpToolSpec]:
        found: dict[str, McpToolSpec] = {}
        for server in self._servers.listed():
            for spec in server.tools if server.usable else ():
                found.setdefault(spec.name, spec)  # a later server takes no name of an earlier one
        return found

    # --- search ------------------------------------------------------------------------------------------------------

    async def search(self, query: str, most: int) -> McpFound:
        exact = query.startswith("select:")
        wanted = [name.strip() for name in query.removeprefix("select:").split(",") if name.strip()] if exact else []
        there = exact and self._known().keys() >= set(wanted)  # then nobody has to be waited for
        connecting = await self._servers.settled(0 if there else WAIT_SECONDS)
        known = self._known()
        missing: list[str] = []
        if exact:
            found = [known[name] for name in wanted if name in known]
            missing = [name for name in wanted if name not in known]
        else:
            found = _matching(query, list(known.values()))[:most]
        for spec in found:
            if spec.name not in self._order:
                self._order.append(spec.name)
        left = len(known) - len({spec.name for spec in self.offered()})
        return McpFound(loaded=found, missing=missing, connecting=connecting, others=left)

    # --- use ---------------------------------------------------------------------------------------------------------

    async def call(self, spec: McpToolSpec, arguments: Json, call: McpCall) -> McpResult:
        server = self._server(spec.server)
        try:
            await server.connected()
            if server.holds_back(spec.tool):
                raise ToolError(
                    f"The MCP server {spec.server} changed the tool {spec.tool} since it was approved. "
                    "The user has to accept the change before it can be used."
                )
            if all(known.name != spec.name for known in server.tools):
                raise ToolError(f"The MCP server {spec.server} no longer has the tool {spec.tool}.")
            raw = await server.request(
                "call",
                tool=spec.tool,
                arguments=arguments,
                timeout=LONGEST_CALL,
                folder=call.spill_folder,
                file=_file_name(call.tool_use_id),
                answer=self._asking(call.elicit, server.config),
                progress=lambda event: call.progress(_progress(event)),
            )
        except WorkerError as error:
            raise _told(server, error, f"The call of {spec.tool}") from None
        return result_of(spec.server, raw)

    async def read_resource(self, server: str, uri: str, call: McpCall) -> McpResult:
        owner = self._server(server)
        try:
            raw = await owner.request(
                "read",
                uri=uri,
                timeout=60.0,
                folder=call.spill_folder,
                file=_file_name(call.tool_use_id),
                answer=self._asking(call.elicit, owner.config),
            )
        except WorkerError as error:
            raise _told(owner, error, f"Reading {uri[:200]}") from None
        return resource_of(server, raw)

    async def resources(self, server: str | None = None) -> Sequence[Json]:
        found: list[Json] = []
        for owner in self._servers.listed():
            if (server is not None and owner.config.name != server) or not owner.usable:
                continue
            if owner.known is not None and "resources" not in owner.known.capabilities:
                continue
            try:
                items = await owner.request("list", kind="resources")
            except WorkerError as error:
                if server is not None:
                    raise _told(owner, error, "Listing the resources") from None
                continue
            found += [{"server": owner.config.name, **item} for item in items]
        return found

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> str:
        owner = self._server(server)
        try:
            raw = await owner.request("prompt", name=name, arguments=dict(arguments), timeout=60.0)
        except WorkerError as error:
            raise _told(owner, error, f"The prompt {name}") from None
        return prompt_text(raw)

    def _asking(self, elicit: HandleElicitation | None, config: ServerConfig) -> Answer:
        """Who answers the server's questions during one call: people, and the model where the user allowed it."""
        left = MOST_SAMPLES if config.sampling else 0

        async def answer(message: Json) -> Json:
            nonlocal left
            if message["kind"] != "sample":
                return await answered(message, elicit, config.name)
            if self._sample is None or left <= 0:
                return {"error": "declined: sampling is not allowed for this server, or it asked too often"}
            left -= 1
            return await self._sample(message["params"])

        return answer

    def _server(self, name: str) -> Server:
        try:
            return self._servers.named(name)
        except ProtocolError:
            raise ToolError(f"There is no MCP server {name}.") from None


def _told(server: Server, error: WorkerError, what: str) -> ToolError:
    name = server.config.name
    if error.kind == "needsAuth":
        how = f"The user can do it with /mcp or `assent mcp sign-in {name}`."
        return ToolError(f"The MCP server {name} needs a sign-in. {how}")
    if error.kind == "needsMore":
        return ToolError(f"The MCP server {name}: {error}. The user can do that with `/mcp sign-in {name}`.")
    tail = (error.stderr or "").strip().splitlines()
    last = f" Its last words: {tail[-1][:300]}" if tail else ""
    log = f"`/mcp show {name}` shows the user its log"
    how = {
        "refused": f"Check what was asked for; ToolSearch finds the tools that the server has now, and {log}.",
        "invalid": f"That is a fault of the server; {log}.",
    }.get(error.kind, f"The user can start it again with `/mcp restart {name}`; {log}.")
    return ToolError(f"{what} failed at the MCP server {name}: {str(error).rstrip('.')}.{last} {how}")


def _progress(event: Json) -> str:
    words = str(event.get("message") or "").strip()
    total = event.get("total")
    if "progress" not in event:
        return words  # a task's
    share = f"{event['progress']:g}/{total:g}" if isinstance(total, int | float) else f"{event['progress']:g}"
    return f"{share} {words}".strip()


def _file_name(tool_use_id: str) -> str:
    return "mcp-" + (re.sub(r"[^A-Za-z0-9_-]", "_", tool_use_id)[:60] or "result")


def _matching(query: str, specs: Sequence[McpToolSpec]) -> list[McpToolSpec]:
    """Those that hold the query's words, best first: a word in a name counts more than one in a description."""
    words = [word for word in re.split(r"[^a-z0-9]+", query.lower()) if len(word) > 1]
    if not words:
        return []
    ranked: list[tuple[float, int, McpToolSpec]] = []
    for place, spec in enumerate(specs):
        name, text = spec.name.lower(), f"{spec.title} {spec.description}".lower()
        score = sum(3.0 * (word in name) + 1.0 * (word in text) for word in words)
        if score:
            ranked.append((-score, place, spec))
    return [spec for _, _, spec in sorted(ranked, key=lambda row: row[:2])]
