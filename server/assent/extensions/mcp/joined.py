"""Two groups of servers as one: those of a session, and those that one of its agents brings.

The agent's come first where both have a server of one name. Nothing is connected here.
"""

from collections.abc import Mapping, Sequence

from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.mcp import McpAccess, McpCall, McpFound, McpResult, McpServerState, McpToolSpec


class Joined:
    """`own` are the agent's."""

    def __init__(self, own: McpAccess, others: McpAccess) -> None:
        self._own = own
        self._others = others

    def offered(self) -> Sequence[McpToolSpec]:
        return [*self._others_only(self._others.offered()), *self._own.offered()]

    def deferred(self) -> Sequence[McpToolSpec]:
        return [*self._own.deferred(), *self._others_only(self._others.deferred())]

    def states(self) -> Sequence[McpServerState]:
        own = self._own.states()
        names = {state.name for state in own}
        return [*own, *(state for state in self._others.states() if state.name not in names)]

    async def search(self, query: str, most: int) -> McpFound:
        own = await self._own.search(query, most)
        others = await self._others.search(query, most)
        loaded = [*own.loaded, *self._others_only(others.loaded)]
        found = {spec.name for spec in loaded}
        unknown = dict.fromkeys((*own.missing, *others.missing))
        return McpFound(
            loaded=loaded if query.startswith("select:") else loaded[:most],
            missing=[name for name in unknown if name not in found],
            connecting=[*own.connecting, *others.connecting],
            others=own.others + others.others,
        )

    async def call(self, spec: McpToolSpec, arguments: Json, call: McpCall) -> McpResult:
        return await self._of(spec.server).call(spec, arguments, call)

    async def read_resource(self, server: str, uri: str, call: McpCall) -> McpResult:
        return await self._of(server).read_resource(server, uri, call)

    async def resources(self, server: str | None = None) -> Sequence[Json]:
        if server is not None:
            return await self._of(server).resources(server)
        names = self._names()
        others = [item for item in await self._others.resources() if item["server"] not in names]
        return [*await self._own.resources(), *others]

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> str:
        raise ToolError("An agent uses no prompts of servers.")

    def _names(self) -> set[str]:
        return {state.name for state in self._own.states()}

    def _of(self, server: str) -> McpAccess:
        return self._own if server in self._names() else self._others

    def _others_only(self, specs: Sequence[McpToolSpec]) -> list[McpToolSpec]:
        names = self._names()
        return [spec for spec in specs if spec.server not in names]
