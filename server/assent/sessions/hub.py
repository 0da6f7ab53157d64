"""All sessions of one process: the requests of protocol.md, one method each.

`request` is the one way in for a wire; each method takes the request's params and answers its result, or raises
`ProtocolError`. The hub owns the tasks: leave it (`async with`) and every turn, job and file is closed within 2 s.
"""

import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.abc
import anyio.to_thread

from assent.sessions import opening, snapshot
from assent.sessions.deps import SessionDeps
from assent.sessions.front import Call, Front
from assent.sessions.session import Session
from assent.storage.index import PAGE, Index, Summary
from assent.storage.paths import find_session
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ids import new_id

log = logging.getLogger(__name__)
Method = Callable[[Json, Call], Awaitable[Json]]


class Sessions:
    def __init__(self, deps: SessionDeps) -> None:
        self.deps = deps
        self.epoch = new_id()
        self.index = Index(deps.data_dir)
        self.live: dict[str, Session] = {}
        self._opening = anyio.Lock()
        self._group: anyio.abc.TaskGroup | None = None
        self.methods: dict[str, Method] = {
            "assent/session/new": self.new,
            "assent/session/send": self.send,
            "assent/session/interrupt": self.interrupt,
            "assent/session/list": self.list,
            "assent/session/search": self.list,
            "assent/session/attach": self.attach,
            "assent/session/rename": self.rename,
            "assent/session/close": self.close,
            "assent/session/configure": self.configure,
        }

    # --- life --------------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._group is not None
        with anyio.CancelScope(shield=True):
            await self.shutdown()
        # Our tasks never fail (see `_guarded`), so the caller's own error is not wrapped in a group with theirs.
        self._group.cancel_scope.cancel()
        await self._group.__aexit__(None, None, None)

    async def shutdown(self) -> None:
        """Stop every turn and child, save everything. Bounded: what does not stop in time is cut off."""
        sessions = list(self.live.values())
        for session in sessions:
            session.stop()
        with anyio.move_on_after(1.2):
            for session in sessions:
                await session.stopped()
        if self._group is not None:
            self._group.cancel_scope.cancel()
        with anyio.move_on_after(0.5):
            for session in sessions:
                await session.close_children()
        for session in sessions:
            self._summarise(session)
            session.shut()
        self.live.clear()

    def spawn(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if self._group is None:
            raise RuntimeError("enter the hub (async with) before using it")
        self._group.start_soon(_guarded, work)

    # --- the wire ----------------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Json | None = None, call: Call | None = None) -> Json:
        handler = self.methods.get(method)
        if handler is None:
            raise ProtocolError("methodNotFound", f"There is no method {method}")
        return await handler(params or {}, call or Call())

    def disconnect(self, front: Front) -> None:
        """The client is gone. Its turns go on; its questions stay open."""
        for session in self.live.values():
            session.leave(front)

    # --- requests ----------------------------------------------------------------------------------------------------

    async def new(self, params: Json, call: Call) -> Json:
        session = await opening.create(self.deps, params, epoch=self.epoch, spawn=self.spawn, on_change=self._summarise)
        self.live[session.id] = session
        session.join(call)
        self._summarise(session)
        for problem in session.settings.problems:
            session.notice("warning", str(problem))
        return {
            "sessionId": session.id,
            "model": session.options.model,
            "mode": session.state.mode,
            "tools": [tool.name for tool in session.tools() if tool.enabled(session.state)],
            "commands": list(self.deps.commands(session.cwd, session.trusted)),
            "agents": list(self.deps.agents(session.cwd, session.trusted)),
            "mcpServers": list(self.deps.mcp_servers()),
        }

    async def send(self, params: Json, call: Call) -> Json:
        session = await self.get(params)
        if not params.get("wait"):
            session.join(call)
        elif call.front is not None:
            session.events.subscribe(call.front)
        return await session.send(params, call)

    async def interrupt(self, params: Json, call: Call) -> Json:
        return await (await self.get(params)).interrupt()

    async def list(self, params: Json, call: Call) -> Json:
        cwd, query = params.get("cwd"), params.get("query")
        found = await anyio.to_thread.run_sync(
            lambda: self.index.search(query, cwd=cwd) if query else self.index.all(cwd=cwd)
        )
        try:
            start = int(params.get("cursor") or 0)
        except ValueError:
            raise ProtocolError("invalidParams", "the cursor is not one of ours") from None
        page = found[start : start + PAGE]
        answer: Json = {"sessions": [self._listed(summary) for summary in page]}
        if start + PAGE < len(found):
            answer["nextCursor"] = str(start + PAGE)
        return answer

    async def attach(self, params: Json, call: Call) -> Json:
        return snapshot.attach(await self.get(params), params, call)

    async def rename(self, params: Json, call: Call) -> Json:
        title = params.get("title")
        if not isinstance(title, str) or not title.strip():
            raise ProtocolError("invalidParams", "title must be a text")
        (await self.get(params)).rename(title)
        return {}

    async def configure(self, params: Json, call: Call) -> Json:
        return (await self.get(params)).configure(params)

    async def close(self, params: Json, call: Call) -> Json:
        """Let go of a session: its turn is stopped, its file is free for another process."""
        session = self.live.pop(str(params.get("sessionId")), None)
        if session is not None:
            session.stop()
            with anyio.move_on_after(2):
                await session.stopped()
            await session.close_children()
            self._summarise(session)
            session.shut()
        return {}

    async def get(self, params: Json) -> Session:
        """The session a request names: live, or opened from its file."""
        session_id = params.get("sessionId")
        if not isinstance(session_id, str):
            raise ProtocolError("invalidParams", "sessionId must be a string")
        async with self._opening:
            if session_id in self.live:
                return self.live[session_id]
            paths = find_session(self.deps.data_dir, session_id)
            if paths is None:
                raise ProtocolError(
                    "unknownSession", f"There is no session {session_id}", hint="List the sessions, or start a new one."
                )
            session = await opening.reopen(
                self.deps, paths, epoch=self.epoch, spawn=self.spawn, on_change=self._summarise
            )
            self.live[session_id] = session
            return session

    # --- the list ----------------------------------------------------------------------------------------------------

    def _summarise(self, session: Session) -> None:
        self.index.put(
            Summary(
                session_id=session.id,
                title=session.title,
                cwd=session.cwd,
                branch=session.branch,
                updated_at=session.updated_at,
                turns=session.turns.count,
                cost_usd=session.cost_usd,
                folder=session.record.path.parent.name,
                text="\n".join(session.prompts)[-2000:],
            )
        )

    def _listed(self, summary: Summary) -> Json:
        live = self.live.get(summary.session_id)
        return {
            "sessionId": summary.session_id,
            "title": summary.title,
            "updatedAt": summary.updated_at,
            "turns": summary.turns,
            "costUsd": summary.cost_usd,
            "cwd": summary.cwd,
            "branch": summary.branch,
            "running": bool(live and live.running),
        }


async def _guarded(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """A bug in one task must not take the hub, and with it every other session, down."""
    with contextlib.suppress(Exception):
        try:
            await work()
        except Exception:
            log.exception("a session task failed")
            raise
