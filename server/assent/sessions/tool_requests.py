"""The requests that need no conversation: the list of tools, one call of a tool, and completion of a prompt.

Where no session is named, tools run in one that exists for this alone and leaves nothing behind.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from assent.sessions import tool_run
from assent.sessions.complete import Completion
from assent.sessions.deps import SessionDeps
from assent.sessions.library import catalogue
from assent.sessions.live.session import Session
from assent.sessions.stream.front import Call
from assent.wire import requests, results
from assent.wire.shapes import Wire

CompletionItems = list[results.CompletionItem]


class ToolRequests:
    def __init__(
        self,
        deps: SessionDeps,
        *,
        live: Mapping[str, Session],
        find: Callable[[str], Awaitable[Session]],
        unlisted: Callable[[], Awaitable[Session]],
    ) -> None:
        """`find` gives a session by its id, or raises `ProtocolError`; `unlisted` the one for tools alone."""
        self._deps = deps
        self._live = live
        self._find = find
        self._unlisted = unlisted
        self._completion = Completion()
        self.methods: dict[str, Callable[[Any, Call], Awaitable[Wire]]] = {
            "assent/tool/list": self.list,
            "assent/tool/run": self.run,
            "assent/complete": self.complete,
        }

    async def list(self, params: requests.ToolList, call: Call) -> results.Tools:
        return tool_run.listed(await self._named(params.session_id))

    async def run(self, params: requests.ToolRun, call: Call) -> results.ToolRan:
        session = await self._named(params.session_id)
        if call.front is not None:
            session.events.subscribe(call.front)
        return await tool_run.run(session, params, call)

    async def complete(self, params: requests.Complete, call: Call) -> results.Completions:
        session = self._live.get(params.session_id or "")
        if session is None and params.session_id:
            catalogue.found(self._deps.data_dir, params.session_id)  # raises unknownSession
        own = (session.cwd,) if session else ()
        folders = list(dict.fromkeys((*own, *self._deps.roots())))
        first = next(iter(folders), "/")
        commands = self._deps.commands(first, self._deps.trust.trusted(first))
        found = await self._completion.complete(params.text, params.offset, folders=folders, commands=commands)
        return results.Completions(msgspec.convert(found, CompletionItems))

    async def _named(self, session_id: str | None) -> Session:
        return await (self._find(session_id) if session_id else self._unlisted())
