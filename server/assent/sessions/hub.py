"""All sessions of one process: the requests of protocol.md, one method each.

`request` is the one way in for a wire; each method takes the request's params and answers its result, or raises
`ProtocolError`. The hub owns the tasks: leave it (`async with`) and every turn, job and file is closed within 2 s.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio
import anyio.to_thread

from assent.editor.proposals import Origin, ProposalEvent
from assent.sessions import tool_run
from assent.sessions.complete import Completion
from assent.sessions.deps import SessionDeps
from assent.sessions.library import catalogue as library
from assent.sessions.library import reports
from assent.sessions.library.export import export
from assent.sessions.library.summaries import listed, summary_of
from assent.sessions.live import opening, rewind
from assent.sessions.live.options import configure
from assent.sessions.live.session import Session
from assent.sessions.live.tasks import Tasks, Work
from assent.sessions.stream import snapshot
from assent.sessions.stream.front import Call, Front
from assent.storage.index import Index
from assent.storage.watch import SettingsWatch
from assent.text.uris import path_of
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ids import new_id
from assent.types.ports import FileText
from assent.types.redaction import redact

Method = Callable[[Json, Call], Awaitable[Json]]


class Sessions:
    def __init__(self, deps: SessionDeps) -> None:
        self.deps = deps
        self.epoch = new_id()
        self.index = Index(deps.data_dir)
        self.live: dict[str, Session] = {}
        self._opening = anyio.Lock()
        self._ending: dict[str, anyio.Event] = {}  # sessions being closed or deleted
        self._last_seqs: dict[str, int] = {}  # of closed ones: opened again, their numbers go on
        self._scratch: Session | None = None
        self._completion = Completion()
        self._watch = SettingsWatch(self._settings_files)
        self.on_settings: list[Callable[[], None]] = []  # told after settings files changed on disk
        self._tasks = Tasks()
        self.methods: dict[str, Method] = {
            "assent/session/new": self.new,
            "assent/session/send": self.send,
            "assent/session/interrupt": self.interrupt,
            "assent/session/unqueue": self.unqueue,
            "assent/session/list": self.list,
            "assent/session/search": self.list,
            "assent/session/attach": self.attach,
            "assent/session/rename": self.rename,
            "assent/session/close": self.close,
            "assent/session/configure": self.configure,
            "assent/session/fork": self.fork,
            "assent/session/delete": self.delete,
            "assent/session/export": self.export,
            "assent/session/rewind": self.rewind,
            "assent/session/retry": self.retry,
            "assent/session/context": self.context,
            "assent/session/cost": self.cost,
            "assent/tool/list": self.list_tools,
            "assent/tool/run": self.run_tool,
            "assent/complete": self.complete,
        }
        if deps.proposals is not None:
            deps.proposals.listen(self._proposal_changed)

    # --- life --------------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self.spawn(partial(self._watch.run, self._settings_changed))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watch.stop()
        with anyio.CancelScope(shield=True):
            await self.shutdown()
        await self._tasks.__aexit__(kind, error, trace)

    async def shutdown(self) -> None:
        """Stop every turn and child, save everything. Bounded: what does not stop in time is cut off."""
        sessions = list(self.live.values())
        for session in sessions:
            session.stop()
        with anyio.move_on_after(1.2):
            for session in sessions:
                await session.stopped()
        self._tasks.cancel()
        with anyio.move_on_after(0.5):
            for session in sessions:
                await session.close_children()
        for session in sessions:
            session.shut()
            if session is self._scratch:
                library.delete(session.record.paths, None)
            else:
                self._summarise(session)
        self.live.clear()

    def spawn(self, work: Work) -> None:
        self._tasks.start(work)

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
        self._adopt(session)
        session.join(call)
        self._summarise(session)
        for problem in session.settings.problems:
            session.notice("warning", str(problem))
        tools = [tool.name for tool in session.tools() if tool.enabled(session.state)]
        return {
            "sessionId": session.id,
            "model": session.options.model,
            "mode": session.state.mode,
            "tools": [*tools, "StructuredOutput"] if session.options.json_schema is not None else tools,
            "commands": list(self.deps.commands(session.cwd, session.trusted)),
            "agents": list(self.deps.agents(session.cwd, session.trusted)),
            "mcpServers": list(self.deps.mcp_servers(session.cwd)),
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

    async def unqueue(self, params: Json, call: Call) -> Json:
        return await (await self.get(params)).turns.unqueue(str(params.get("clientMessageId")))

    async def list(self, params: Json, call: Call) -> Json:
        summaries, cursor = await anyio.to_thread.run_sync(library.page, self.index, self.deps.data_dir, params)
        others = [summary for summary in summaries if summary.session_id not in self.live]
        elsewhere = await anyio.to_thread.run_sync(library.running, self.deps.data_dir, others)
        running = {*elsewhere, *(session.id for session in self.live.values() if session.running)}
        answer: Json = {"sessions": [listed(each, running=each.session_id in running) for each in summaries]}
        return answer if cursor is None else {**answer, "nextCursor": cursor}

    async def attach(self, params: Json, call: Call) -> Json:
        try:
            session = await self.get(params)
        except ProtocolError as error:
            if error.kind != "ownedElsewhere" or not params.get("readOnly"):
                raise
            paths = library.found(self.deps.data_dir, params.get("sessionId"))
            return await anyio.to_thread.run_sync(snapshot.read_only, paths, params)
        return snapshot.attach(session, params, call)

    async def rename(self, params: Json, call: Call) -> Json:
        title = params.get("title")
        if not isinstance(title, str) or not title.strip():
            raise ProtocolError("invalidParams", "title must be a text")
        (await self.get(params)).rename(title)
        return {}

    async def configure(self, params: Json, call: Call) -> Json:
        return configure(await self.get(params), params)

    async def close(self, params: Json, call: Call) -> Json:
        """Let go of a session: its turn is stopped, its file is free for another process."""
        session_id = str(params.get("sessionId"))
        async with self._leaving(session_id):
            session = self.live.pop(session_id, None)
            if session is None:
                library.found(self.deps.data_dir, params.get("sessionId"))  # raises unknownSession
            else:
                await self._shut(session)
                self._summarise(session)
                self._last_seqs[session_id] = session.events.last_seq
        return {}

    async def fork(self, params: Json, call: Call) -> Json:
        source = library.found(self.deps.data_dir, params.get("sessionId"))
        message_id, now = params.get("messageId"), self.deps.clock()
        session_id = await anyio.to_thread.run_sync(
            lambda: library.fork(
                self.deps.data_dir, source, message_id=message_id, before=params.get("before") is True, now=now
            )
        )
        return {"sessionId": session_id}

    async def delete(self, params: Json, call: Call) -> Json:
        async with self._leaving(str(params.get("sessionId"))):
            paths = library.found(self.deps.data_dir, params.get("sessionId"))
            session = self.live.get(paths.session_id)
            if session is not None:
                session.stop()
                if self.deps.proposals is not None:  # while its events still reach those who show the hunks
                    for proposal in self.deps.proposals.list(paths.session_id):
                        self.deps.proposals.withdraw(proposal["proposalId"])
                del self.live[paths.session_id]
                await self._shut(session)
            await anyio.to_thread.run_sync(library.delete, paths, self.index)
            if self.deps.proposals is not None:
                self.deps.proposals.drop_session(paths.session_id)
        return {}

    async def export(self, params: Json, call: Call) -> Json:
        paths = library.found(self.deps.data_dir, params.get("sessionId"))
        format = params.get("format") or "markdown"
        return {"text": await anyio.to_thread.run_sync(lambda: redact(export(paths.transcript, format=format)))}

    async def rewind(self, params: Json, call: Call) -> Json:
        return await rewind.rewind(await self.get(params), params)

    async def retry(self, params: Json, call: Call) -> Json:
        """Play a turn again that a crash cut short (S4): back to before its prompt, and the same prompt once more."""
        session = await self.get(params)
        cut = session.interrupted
        if cut is None:
            raise ProtocolError("invalidRequest", "No turn of this session was cut short")
        with session.turns.held():
            session.join(call)
            await rewind.drop_turn(session, cut)
            return await session.turns.again(cut["prompt"])

    async def context(self, params: Json, call: Call) -> Json:
        return await reports.context(await self.get(params))

    async def cost(self, params: Json, call: Call) -> Json:
        return reports.cost(await self.get(params))

    async def list_tools(self, params: Json, call: Call) -> Json:
        return tool_run.listed(await self._some_session(params))

    async def run_tool(self, params: Json, call: Call) -> Json:
        session = await self._some_session(params)
        if call.front is not None:
            session.events.subscribe(call.front)
        return await tool_run.run(session, params, call)

    async def complete(self, params: Json, call: Call) -> Json:
        text, offset = params.get("text"), params.get("offset")
        if not isinstance(text, str) or not isinstance(offset, int):
            raise ProtocolError("invalidParams", "text must be a string and offset a number")
        session = self.live.get(str(params.get("sessionId")))
        if session is None and params.get("sessionId"):
            library.found(self.deps.data_dir, params["sessionId"])  # raises unknownSession
        own = (session.cwd,) if session else ()
        folders = list(dict.fromkeys((*own, *self.deps.roots())))
        first = next(iter(folders), "/")
        commands = self.deps.commands(first, self.deps.trust.trusted(first))
        return {"items": await self._completion.complete(text, offset, folders=folders, commands=commands)}

    async def get(self, params: Json) -> Session:
        """The session a request names: live, or opened from its file."""
        session_id = params.get("sessionId")
        if not isinstance(session_id, str):
            raise ProtocolError("invalidParams", "sessionId must be a string")
        await self._left(session_id)
        async with self._opening:
            if session_id in self.live:
                return self.live[session_id]
            paths = library.found(self.deps.data_dir, session_id)
            session = await opening.reopen(
                self.deps, paths, epoch=self.epoch, spawn=self.spawn, on_change=self._summarise
            )
            known = self.index.get(session_id)
            session.prompts = [known.text] if known and known.text else []
            session.events.go_on_from(self._last_seqs.pop(session_id, 0))
            self._adopt(session)
            return session

    @asynccontextmanager
    async def _leaving(self, session_id: str) -> AsyncGenerator[None]:
        """Whoever asks for this session meanwhile waits: its file is ours until the end."""
        await self._left(session_id)
        left = self._ending[session_id] = anyio.Event()
        try:
            yield
        finally:
            del self._ending[session_id]
            left.set()

    async def _left(self, session_id: str) -> None:
        while session_id in self._ending:
            await self._ending[session_id].wait()

    def _adopt(self, session: Session) -> None:
        self.live[session.id] = session
        self._watch.look_again()

    async def _some_session(self, params: Json) -> Session:
        """The session named, else one that only exists to run tools in and leaves nothing behind."""
        if params.get("sessionId"):
            return await self.get(params)
        async with self._opening:
            if self._scratch is None:
                await anyio.to_thread.run_sync(library.sweep, self.deps.data_dir / "scratch")
                self._scratch = await opening.create(
                    self.deps,
                    params,
                    epoch=self.epoch,
                    spawn=self.spawn,
                    on_change=lambda _session: None,
                    data=self.deps.data_dir / "scratch",
                )
                self.live[self._scratch.id] = self._scratch
            return self._scratch

    async def _shut(self, session: Session) -> None:
        session.stop()
        with anyio.move_on_after(2):
            await session.stopped()
        await session.close_children()
        session.shut()

    def _summarise(self, session: Session) -> None:
        self.index.put(summary_of(session))

    # --- settings ----------------------------------------------------------------------------------------------------

    def _settings_files(self) -> set[Path]:
        cwds = {*self.deps.roots(), *(session.cwd for session in self.live.values())}
        return {file for cwd in cwds for file in self.deps.settings.files(cwd)}

    def _settings_changed(self) -> None:
        for session in self.live.values():
            session.settings_changed()
        for listener in self.on_settings:
            listener()

    # --- proposals ---------------------------------------------------------------------------------------------------

    async def snapshot(self, origin: Origin, path: str, before: FileText | None) -> None:
        """For the editor, which calls it before a hunk lands: file history starts with what was there (S3)."""
        session = self.live.get(origin.session_id)
        if session is not None:
            session.snapshot(path, before)

    def _proposal_changed(self, event: ProposalEvent) -> None:
        session = self.live.get(event.session_id)
        if session is None:
            return
        match event.kind:
            case "proposed":
                session.publish({"type": "editProposed", "proposal": event.proposal})
                session.proposals.save_now()  # an ask that is left behind must find its proposal again (Q11)
            case "updated":
                session.publish({"type": "editUpdated", "proposal": event.proposal})
            case "resolved":
                proposal_id = event.proposal["proposalId"]
                session.publish({"type": "editResolved", "proposalId": proposal_id, "decisions": list(event.decisions)})
                session.late.note(proposal_id, event.late, tool_use_id=str(event.proposal.get("toolUseId", "")))
                path = path_of(event.proposal["uri"])
                if path is not None and not session.closed:  # its turn will not go on: nobody reads what landed
                    self.spawn(partial(session.workspace.settled, path))
        session.proposals.changed()
