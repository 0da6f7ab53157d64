"""What a server lists: all pages, bounded in number and size, without definitions that cannot be used."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

import anyio.to_thread
import mcp_types as types
from mcp.client.client import Client
from mcp.client.session import ClientSession

from assent.extensions.mcp.worker.encoded_lines import encoded
from assent.extensions.mcp.worker.failure import Failed
from assent.extensions.mcp.worker.schemas import mended
from assent.extensions.mcp.worker.stdio import ServerLog

Json = dict[str, Any]
Guarded = Callable[[Awaitable[Any], float], Awaitable[Any]]
"""Waits for an answer so many seconds at most. Raises Failed."""

MOST_PAGES = 200
MOST_ITEMS = 1000
LARGEST_ITEM = 256 * 1024  # bytes of JSON
LARGEST_LIST = 8 * 1024 * 1024
LONGEST_DESCRIPTION = 20_000  # more than the model is ever shown
_SECONDS = 30.0


class Listing:
    """The lists of one connection."""

    def __init__(self, log: ServerLog, guarded: Guarded) -> None:
        self._log = log
        self._guarded = guarded
        self.as_tasks: set[str] = set()  # tools that an older server wants called as tasks

    async def all(self, client: Client, kind: str) -> list[Json]:
        """A server that does not offer the kind has none. Raises Failed."""
        session = client.session
        if getattr(client.server_capabilities, "resources" if kind == "templates" else kind, None) is None:
            return []
        fetch: Any = {
            "tools": session.list_tools,
            "prompts": session.list_prompts,
            "resources": session.list_resources,
            "templates": session.list_resource_templates,
        }[kind]
        field = "resource_templates" if kind == "templates" else kind
        kept = _Kept(kind, self._log)
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(MOST_PAGES):
            try:
                page = await self._guarded(fetch(params=types.PaginatedRequestParams(cursor=cursor)), _SECONDS)
            except Failed as error:
                if error.kind != "invalid" or kind != "tools":
                    raise
                page = await self._guarded(self._lenient_page(session, cursor), _SECONDS)
            if kind == "tools":
                self._note_tasks(page.tools, first=cursor is None)
            items = [item.model_dump(by_alias=True, mode="json", exclude_none=True) for item in getattr(page, field)]
            if kind == "tools":
                await anyio.to_thread.run_sync(self._mend, items)
            for item in items:
                kept.add(item)
            cursor = page.next_cursor
            if cursor is None or cursor in seen or kept.full:
                break
            seen.add(cursor)
        kept.report()
        return kept.items

    def _mend(self, tools: list[Json]) -> None:
        for tool in tools[:MOST_ITEMS]:
            if len(encoded(schema := tool["inputSchema"])) > LARGEST_ITEM:
                continue  # it is left out
            if (better := mended(schema)) is not schema:
                tool["inputSchema"] = better
                self._log.add(f"[assent] parts of what {tool['name']} takes were left out: they are no JSON schema")

    def _note_tasks(self, tools: list[types.Tool], *, first: bool) -> None:
        if first:
            self.as_tasks.clear()
        self.as_tasks |= {tool.name for tool in tools if tool.execution and tool.execution.task_support == "required"}

    async def _lenient_page(self, session: ClientSession, cursor: str | None) -> types.ListToolsResult:
        """A page that holds tools the SDK does not accept: one bad definition must not cost all the others."""
        data: Json = {"method": "tools/list", "params": {"cursor": cursor} if cursor else {}}
        options: Any = {}
        session._stamp(data, options)
        raw = await session._dispatcher.send_raw_request("tools/list", data["params"], options)
        good: list[types.Tool] = []
        for item in cast("list[Any]", raw.get("tools") if isinstance(raw.get("tools"), list) else []):
            if isinstance(item, dict) and isinstance(cast("Json", item).get("inputSchema", {}), dict):
                definition = {**cast("Json", item)}
                definition["inputSchema"] = {**definition.get("inputSchema", {}), "type": "object"}
                try:
                    good.append(types.Tool.model_validate(definition, by_name=False))
                    continue
                except ValueError:
                    pass
            self._log.add(f"[assent] a tool was left out, its definition is not valid: {str(cast('Json', item))[:200]}")
        following = raw.get("nextCursor")
        page = types.ListToolsResult(tools=good, next_cursor=following if isinstance(following, str) else None)
        session._absorb_tool_listing(page, complete=False)
        return page


class _Kept:
    """The items of a list that count: a server that lists far too much is cut, and its log says so."""

    def __init__(self, kind: str, log: ServerLog) -> None:
        self.items: list[Json] = []
        self._kind, self._log = kind, log
        self._size = self._left_out = 0

    @property
    def full(self) -> bool:
        return len(self.items) >= MOST_ITEMS or self._size >= LARGEST_LIST

    def add(self, item: Json) -> None:
        description = item.get("description")
        if isinstance(description, str):
            item["description"] = description[:LONGEST_DESCRIPTION]
        size = len(encoded(item))
        if self.full or size > LARGEST_ITEM:
            self._left_out += 1
            return
        self._size += size
        self.items.append(item)

    def report(self) -> None:
        if self._left_out:
            self._log.add(f"[assent] {self._left_out} {self._kind} were left out: too many, or too large")
