"""All sessions of one process: the requests of protocol.md, one method each.

Each method takes the struct of its parameters and answers the struct of its result, or raises `ProtocolError`;
`request` is the way in for fronts that hold plain JSON. The hub owns the tasks: leave it (`async with`) and every
turn, job and file is closed within 2 s.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.to_thread
import msgspec

from assent.editor.news import ProposalEvent
from assent.editor.proposal import EditOrigin
from assent.extensions.hooks.handlers import LONGEST_END
from assent.sessions.deps import SessionDeps
from assent.sessions.history_requests import HistoryRequests
from assent.sessions.library import catalogue as library
from assent.sessions.library.stored import StoredSessions
from assent.sessions.library.summaries import summary_of
from assent.sessions.listings import Listings
from assent.sessions.live import closing, model_switch, opening
from assent.sessions.live.background_tasks import BackgroundTasks, Work
from assent.sessions.live.configure import configure
from assent.sessions.live.session import Session
from assent.sessions.roster import RosterBoard
from assent.sessions.settings_watch import SettingsWatch
from assent.sessions.stream import snapshot
from assent.sessions.stream.front import Call, Front
from assent.sessions.stream.proposal_events import publish_change
from assent.sessions.tool_requests import ToolRequests
from assent.storage.index import Index
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ids import new_id
from assent.types.ports import FileText
from assent.wire import CLIENT_REQUESTS, requests, results
from assent.wire.decoding import decoded
from assent.wire.roster import Roster, RosterRequest
from assent.wire.rules import PermissionReply
from assent.wire.shapes import AgentInfo, CommandInfo, Empty, McpServer, Wire

DEFINITIONS_SECONDS = 1.0
SHUTDOWN_HOOKS = 0.8  # seconds that hooks of SessionEnd get when the whole program ends
Method = Callable[[Any, Call], Awaitable[Wire]]


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
        self.settings_watch = SettingsWatch(deps, self.live)
        self._tasks = BackgroundTasks()
        self.roster = RosterBoard(lambda: [each for each in self.live.values() if each is not self._scratch])
        self.history = HistoryRequests(self.session)
        self.tools = ToolRequests(deps, live=self.live, find=self.session, unlisted=self._unlisted)
        self.stored = StoredSessions(deps, self.index, live=self.live, closing=lambda: self._ending)
        self.deps_of: Callable[[Call | None], SessionDeps] = lambda _call: self.deps
        """What a session gets that this caller begins or opens; where clients differ, so do their sessions."""
        self.on_attached: Callable[[Session, Call], None] = lambda _session, _call: None
        self.methods: dict[str, Method] = {
            "assent/session/new": self.new,
            "assent/session/send": self.send,
            "assent/session/interrupt": self.interrupt,
            "assent/session/unqueue": self.unqueue,
            "assent/session/list": self.stored.list,
            "assent/session/search": self.stored.list,
            "assent/session/attach": self.attach,
            "assent/session/rename": self.rename,
            "assent/session/close": self.close,
            "assent/session/configure": self.configure,
            "assent/session/fork": self.stored.fork,
            "assent/session/delete": self.delete,
            "assent/session/export": self.stored.export,
            "assent/session/trace": self.stored.trace,
            "assent/session/roster": self.list_roster,
            "assent/permission/answer": self.answer,
            **self.history.methods,
            **self.tools.methods,
            **Listings(self).methods,
        }
        deps.request = self.request
        if deps.proposals is not None:
            deps.proposals.listen(self._proposal_changed)

    # --- life --------------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self.spawn(self.settings_watch.run)
        self.spawn(self.stored.keep_only_recent)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.settings_watch.stop()
        with anyio.CancelScope(shield=True):
            await self.shutdown()
        await self._tasks.__aexit__(kind, error, trace)

    async def shutdown(self) -> None:
        """Stop every turn and child, save everything. Bounded: what does not stop in time is cut off."""
        sessions = list(self.live.values())
        await self._ended(sessions, seconds=SHUTDOWN_HOOKS)
        for session in sessions:
            closing.stop(session)
        with anyio.move_on_after(1.2):
            for session in sessions:
                await closing.stopped(session)
        self._tasks.cancel()
        with anyio.move_on_after(0.5):
            for session in sessions:
                await closing.close_children(session)
        for session in sessions:
            closing.shut(session)
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
        checked = decoded(params or {}, CLIENT_REQUESTS[method].params)
        return msgspec.to_builtins(await handler(checked, call or Call()))

    def folders_added(self, folders: Iterable[str]) -> None:
        """The editor opened more folders in its window: DirectoryAdded."""
        for folder in folders:
            for session in self.live.values():
                session.folders.told(folder, "register_repo_root")

    def disconnect(self, front: Front) -> None:
        """The client is gone. Its turns go on; its questions stay open."""
        for session in self.live.values():
            session.events.unsubscribe(front)
            session.asks.detach(front)
        self.roster.changed()

    # --- requests ----------------------------------------------------------------------------------------------------

    async def new(self, params: requests.SessionNew, call: Call) -> results.NewSession:
        await self.deps.turnstile.pass_through()
        if params.cwd is not None:
            await anyio.to_thread.run_sync(opening.checked_cwd, params.cwd)
        await self._load_definitions(params.cwd)
        session = await opening.create(
            self.deps_of(call), params, epoch=self.epoch, spawn=self.spawn, on_change=self._summarise
        )
        self._adopt(session)
        session.events.join(call, session.spawn)
        self._started(session, "startup")
        self._summarise(session)
        for problem in session.settings.problems:
            session.notice("warning", str(problem))
        tools = [tool.name for tool in session.tools.all() if tool.enabled(session.state)]
        return results.NewSession(
            session_id=session.id,
            model=session.options.model,
            mode=session.state.mode,
            tools=[*tools, "StructuredOutput"] if session.options.json_schema is not None else tools,
            commands=msgspec.convert(self.deps.commands(session.cwd, session.trusted), list[CommandInfo]),
            agents=msgspec.convert(self.deps.agents(session.cwd, session.trusted), list[AgentInfo]),
            mcp_servers=msgspec.convert(self.deps.mcp_servers(session.cwd), list[McpServer]),
        )

    async def _load_definitions(self, cwd: str | None) -> None:
        """What files define, before a session names it; nobody waits long for a slow disk."""
        if self.deps.definitions is not None and cwd is not None:
            with anyio.move_on_after(DEFINITIONS_SECONDS):
                await self.deps.definitions.load(cwd)

    async def send(self, params: requests.SessionSend, call: Call) -> results.Sent:
        session = await self.session(params.session_id, call)
        self.on_attached(session, call)
        if not params.wait:
            session.events.join(call, session.spawn)
        elif call.front is not None:
            session.events.subscribe(call.front)
        return await session.turns.send(params, call)

    async def interrupt(self, params: requests.SessionRef, call: Call) -> results.Interrupted:
        return await (await self.session(params.session_id)).turns.interrupt()

    async def unqueue(self, params: requests.SessionUnqueue, call: Call) -> results.Unqueued:
        return await (await self.session(params.session_id)).turns.unqueue(params.client_message_id)

    async def attach(self, params: requests.SessionAttach, call: Call) -> results.Attached:
        try:
            session = await self.session(params.session_id, call)
        except ProtocolError as error:
            newer = isinstance(error, opening.NewerFormat)
            if not newer and (error.kind != "ownedElsewhere" or not params.read_only):
                raise
            paths = library.found(self.deps.data_dir, params.session_id)
            why = str(error) if newer else None
            return await anyio.to_thread.run_sync(
                lambda: snapshot.read_only(paths, params, self.deps.model_info, why=why)
            )
        self.on_attached(session, call)
        return snapshot.attach(session, params, call)

    async def list_roster(self, params: RosterRequest, call: Call) -> Roster:
        return self.roster.current(params.cwd)

    async def answer(self, params: PermissionReply, call: Call) -> Empty:
        """An ask, answered by a client that may not have been asked itself."""
        self.roster.answer(params, who=call.front.flags.name if call.front is not None else "")
        return Empty()

    async def rename(self, params: requests.SessionRename, call: Call) -> Empty:
        if not params.title.strip():
            raise ProtocolError("invalidParams", "title must be a text", data={"path": "$.title"})
        (await self.session(params.session_id)).rename(params.title)
        return Empty()

    async def configure(self, params: requests.SessionConfigure, call: Call) -> results.Configured:
        session = await self.session(params.session_id)
        before = session.options.model
        wanted = session.deps.require_model(params.model) if params.model else before
        if wanted != before and (refused := await model_switch.refused(session, wanted)):
            raise ProtocolError("permissionDenied", refused)
        answer = configure(session, params)
        model_switch.told(session, before)
        return answer

    async def close(self, params: requests.SessionRef, call: Call) -> Empty:
        """Let go of a session: its turn is stopped, its file is free for another process."""
        session_id = params.session_id
        async with self._leaving(session_id):
            session = self.live.pop(session_id, None)
            if session is None:
                library.found(self.deps.data_dir, session_id)  # raises unknownSession
            else:
                await self._shut(session)
                self._summarise(session)
                self._last_seqs[session_id] = session.events.last_seq
                self.roster.changed()
        return Empty()

    async def delete(self, params: requests.SessionRef, call: Call) -> Empty:
        async with self._leaving(params.session_id):
            paths = library.found(self.deps.data_dir, params.session_id)
            session = self.live.get(paths.session_id)
            if session is not None:
                closing.stop(session)
                if self.deps.proposals is not None:  # while its events still reach those who show the hunks
                    for proposal in self.deps.proposals.list(paths.session_id):
                        self.deps.proposals.withdraw(proposal["proposalId"])
                del self.live[paths.session_id]
                self.roster.changed()
                await self._shut(session)
            await anyio.to_thread.run_sync(library.delete, paths, self.index)
            if self.deps.proposals is not None:
                self.deps.proposals.drop_session(paths.session_id)
        return Empty()

    def traced(self, session_id: str, record: Json) -> None:
        """One model call has ended."""
        session = self.live.get(session_id)
        if session is not None and not session.closed:
            session.traces.write(record)

    async def get(self, params: Json) -> Session:
        """The session that a request in plain JSON names."""
        return await self.session(decoded(params, requests.SessionRef).session_id)

    async def session(self, session_id: str, call: Call | None = None) -> Session:
        """A session by its id: live, or opened from its file, for whoever asks."""
        await self._left(session_id)
        async with self._opening:
            if session_id in self.live:
                return self.live[session_id]
            paths = library.found(self.deps.data_dir, session_id)
            session = await opening.reopen(
                self.deps_of(call), paths, epoch=self.epoch, spawn=self.spawn, on_change=self._summarise
            )
            known = self.index.get(session_id)
            session.prompts = [known.text] if known and known.text else []
            session.events.go_on_from(self._last_seqs.pop(session_id, 0))
            self._adopt(session)
            self._started(session, "fork" if session_id in self.stored.forked else "resume")
            self.stored.forked.discard(session_id)
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

    def _started(self, session: Session, source: str) -> None:
        if self.deps.session_hooks is not None:
            self.deps.session_hooks.started(session, source)

    async def _ended(self, sessions: Iterable[Session], *, seconds: float) -> None:
        """SessionEnd hooks of all of them at once; what takes longer is cut off."""
        hooks = self.deps.session_hooks
        if hooks is None:
            return
        if not hooks.hooks.wants("SessionEnd"):
            for session in sessions:
                hooks.forget(session.id)
            return
        with anyio.move_on_after(seconds):
            async with anyio.create_task_group() as group:
                for session in sessions:
                    group.start_soon(hooks.ended, session, "other")

    def _adopt(self, session: Session) -> None:
        self.live[session.id] = session
        session.on_roster = self.roster.changed
        self.roster.changed()
        self.settings_watch.look_again()

    async def _unlisted(self) -> Session:
        """The session that only exists to run tools in, and leaves nothing behind."""
        async with self._opening:
            if self._scratch is None:
                await anyio.to_thread.run_sync(library.sweep, self.deps.data_dir / "scratch")
                self._scratch = await opening.create(
                    self.deps,
                    requests.SessionNew(),
                    epoch=self.epoch,
                    spawn=self.spawn,
                    on_change=lambda _session: None,
                    data=self.deps.data_dir / "scratch",
                )
                self.live[self._scratch.id] = self._scratch
            return self._scratch

    async def _shut(self, session: Session) -> None:
        self.live.setdefault(session.id, session)  # its hooks still find it
        await self._ended([session], seconds=LONGEST_END)
        self.live.pop(session.id, None)
        closing.stop(session)
        with anyio.move_on_after(2):
            await closing.stopped(session)
        await closing.close_children(session)
        closing.shut(session)

    def _summarise(self, session: Session) -> None:
        self.index.put(summary_of(session))

    # --- proposals ---------------------------------------------------------------------------------------------------

    async def snapshot(self, origin: EditOrigin, path: str, before: FileText | None) -> None:
        """For the editor, which calls it before a hunk lands: file history starts with what was there (S3)."""
        session = self.live.get(origin.session_id)
        if session is not None:
            session.snapshot(path, before)

    def _proposal_changed(self, event: ProposalEvent) -> None:
        session = self.live.get(event.session_id)
        if session is not None:
            publish_change(session, event)
