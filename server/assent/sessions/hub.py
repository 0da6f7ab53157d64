"""All sessions of one process: the requests of protocol.md, one method each.

Each method takes the struct of its parameters and answers the struct of its result, or raises `ProtocolError`;
`request` is the way in for fronts that hold plain JSON. The hub owns the tasks: leave it (`async with`) and every
turn, job and file is closed within 2 s.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.to_thread
import msgspec

from assent.editor.proposals import Origin, ProposalEvent
from assent.extensions.hooks.handlers import LONGEST_END
from assent.sessions import tool_run
from assent.sessions.complete import Completion
from assent.sessions.deps import SessionDeps
from assent.sessions.library import catalogue as library
from assent.sessions.library import reports
from assent.sessions.library.export import export
from assent.sessions.library.summaries import listed, summary_of
from assent.sessions.listings import Listings
from assent.sessions.live import opening, rewind
from assent.sessions.live.configure import configure
from assent.sessions.live.session import Session
from assent.sessions.live.tasks import Tasks, Work
from assent.sessions.roster import RosterBoard
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
from assent.wire import CLIENT_REQUESTS, requests, results
from assent.wire.decoding import decoded
from assent.wire.events import EditProposed, EditResolved, ToldDecision
from assent.wire.roster import Roster, RosterRequest
from assent.wire.rules import PermissionReply
from assent.wire.shapes import AgentInfo, CommandInfo, Empty, McpServer, Proposal, Wire

DEFINITIONS_SECONDS = 1.0

CompletionItems = list[results.CompletionItem]
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
        self._completion = Completion()
        self._watch = SettingsWatch(self._settings_files)
        self.on_settings: list[Callable[[], None]] = []  # told after settings files changed on disk
        self._tasks = Tasks()
        self.roster = RosterBoard(lambda: [each for each in self.live.values() if each is not self._scratch])
        self._forked: set[str] = set()
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
            "assent/session/snip": self.snip,
            "assent/session/unsnip": self.unsnip,
            "assent/session/retry": self.retry,
            "assent/session/context": self.context,
            "assent/session/cost": self.cost,
            "assent/tool/list": self.list_tools,
            "assent/tool/run": self.run_tool,
            "assent/session/roster": self.list_roster,
            "assent/permission/answer": self.answer,
            "assent/complete": self.complete,
            **Listings(self).methods,
        }
        deps.request = self.request
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
        await self._ended(sessions, seconds=SHUTDOWN_HOOKS)
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
        checked = decoded(params or {}, CLIENT_REQUESTS[method].params)
        return msgspec.to_builtins(await handler(checked, call or Call()))

    def disconnect(self, front: Front) -> None:
        """The client is gone. Its turns go on; its questions stay open."""
        for session in self.live.values():
            session.leave(front)

    # --- requests ----------------------------------------------------------------------------------------------------

    async def new(self, params: requests.SessionNew, call: Call) -> results.NewSession:
        await self._load_definitions(params.cwd)
        session = await opening.create(
            self.deps, _json(params), epoch=self.epoch, spawn=self.spawn, on_change=self._summarise
        )
        self._adopt(session)
        session.join(call)
        self._started(session, "startup")
        self._summarise(session)
        for problem in session.settings.problems:
            session.notice("warning", str(problem))
        tools = [tool.name for tool in session.tools() if tool.enabled(session.state)]
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
        session = await self.session(params.session_id)
        if not params.wait:
            session.join(call)
        elif call.front is not None:
            session.events.subscribe(call.front)
        return await session.send(_json(params), call)

    async def interrupt(self, params: requests.SessionRef, call: Call) -> results.Interrupted:
        return await (await self.session(params.session_id)).interrupt()

    async def unqueue(self, params: requests.SessionUnqueue, call: Call) -> results.Unqueued:
        return await (await self.session(params.session_id)).turns.unqueue(params.client_message_id)

    async def list(self, params: requests.SessionList, call: Call) -> results.Sessions:
        wanted = _json(params)
        summaries, cursor = await anyio.to_thread.run_sync(library.page, self.index, self.deps.data_dir, wanted)
        others = [summary for summary in summaries if summary.session_id not in self.live]
        elsewhere = await anyio.to_thread.run_sync(library.running, self.deps.data_dir, others)
        running = {*elsewhere, *(session.id for session in self.live.values() if session.running)}
        found = [listed(each, running=each.session_id in running) for each in summaries]
        return results.Sessions(found, next_cursor=cursor)

    async def attach(self, params: requests.SessionAttach, call: Call) -> results.Attached:
        try:
            session = await self.session(params.session_id)
        except ProtocolError as error:
            if error.kind != "ownedElsewhere" or not params.read_only:
                raise
            paths = library.found(self.deps.data_dir, params.session_id)
            return await anyio.to_thread.run_sync(snapshot.read_only, paths, params)
        return snapshot.attach(session, params, call)

    async def list_roster(self, params: RosterRequest, call: Call) -> Roster:
        return self.roster.current(params.cwd)

    async def answer(self, params: PermissionReply, call: Call) -> Empty:
        """An ask, answered by a client that may not have been asked itself."""
        self.roster.answer(params)
        return Empty()

    async def rename(self, params: requests.SessionRename, call: Call) -> Empty:
        if not params.title.strip():
            raise ProtocolError("invalidParams", "title must be a text", data={"path": "$.title"})
        (await self.session(params.session_id)).rename(params.title)
        return Empty()

    async def configure(self, params: requests.SessionConfigure, call: Call) -> results.Configured:
        session = await self.session(params.session_id)
        before = session.options.model
        if params.model and params.model != before:
            await self._may_switch(session, params.model)
        answer = msgspec.convert(configure(session, _json(params)), results.Configured)
        if session.options.model != before and self.deps.session_hooks is not None:
            data = {"old_model": before, "new_model": session.options.model}
            self.deps.session_hooks.tell(session, "PostModelSwitch", data, subject=session.options.model)
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

    async def fork(self, params: requests.SessionFork, call: Call) -> results.Forked:
        source = library.found(self.deps.data_dir, params.session_id)
        now = self.deps.clock()
        session_id = await anyio.to_thread.run_sync(
            lambda: library.fork(
                self.deps.data_dir, source, message_id=params.message_id, before=params.before is True, now=now
            )
        )
        self._forked.add(session_id)
        return results.Forked(session_id)

    async def delete(self, params: requests.SessionRef, call: Call) -> Empty:
        async with self._leaving(params.session_id):
            paths = library.found(self.deps.data_dir, params.session_id)
            session = self.live.get(paths.session_id)
            if session is not None:
                session.stop()
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

    async def export(self, params: requests.SessionExport, call: Call) -> results.Exported:
        paths = library.found(self.deps.data_dir, params.session_id)
        text = await anyio.to_thread.run_sync(lambda: redact(export(paths.transcript, format=params.format)))
        return results.Exported(text)

    async def rewind(self, params: requests.SessionRewind, call: Call) -> results.Rewound:
        session = await self.session(params.session_id)
        return msgspec.convert(await rewind.rewind(session, _json(params)), results.Rewound)

    async def snip(self, params: requests.SessionSnip, call: Call) -> results.Snip:
        session = await self.session(params.session_id)
        snip_id, freed = await session.snips.snip(params.message_ids, dry_run=bool(params.dry_run))
        return results.Snip(snip_id=snip_id, tokens_freed=freed)

    async def unsnip(self, params: requests.SessionUnsnip, call: Call) -> Empty:
        session = await self.session(params.session_id)
        await session.snips.unsnip(params.snip_id)
        return Empty()

    async def retry(self, params: requests.SessionRef, call: Call) -> results.Sent:
        """Play a turn again that a crash cut short (S4): back to before its prompt, and the same prompt once more."""
        session = await self.session(params.session_id)
        cut = session.interrupted
        if cut is None:
            raise ProtocolError("invalidRequest", "No turn of this session was cut short")
        with session.turns.held():
            session.join(call)
            await rewind.drop_turn(session, cut)
            return await session.turns.again(cut["prompt"])

    async def context(self, params: requests.SessionRef, call: Call) -> results.ContextUsage:
        return await reports.context(await self.session(params.session_id))

    async def cost(self, params: requests.SessionRef, call: Call) -> results.Cost:
        return reports.cost(await self.session(params.session_id))

    async def list_tools(self, params: requests.ToolList, call: Call) -> results.Tools:
        return msgspec.convert(tool_run.listed(await self._some_session(params.session_id)), results.Tools)

    async def run_tool(self, params: requests.ToolRun, call: Call) -> results.ToolRan:
        session = await self._some_session(params.session_id)
        if call.front is not None:
            session.events.subscribe(call.front)
        return msgspec.convert(await tool_run.run(session, _json(params), call), results.ToolRan)

    async def complete(self, params: requests.Complete, call: Call) -> results.Completions:
        session = self.live.get(params.session_id or "")
        if session is None and params.session_id:
            library.found(self.deps.data_dir, params.session_id)  # raises unknownSession
        own = (session.cwd,) if session else ()
        folders = list(dict.fromkeys((*own, *self.deps.roots())))
        first = next(iter(folders), "/")
        commands = self.deps.commands(first, self.deps.trust.trusted(first))
        found = await self._completion.complete(params.text, params.offset, folders=folders, commands=commands)
        return results.Completions(msgspec.convert(found, CompletionItems))

    async def get(self, params: Json) -> Session:
        """The session that a request in plain JSON names."""
        return await self.session(decoded(params, requests.SessionRef).session_id)

    async def session(self, session_id: str) -> Session:
        """A session by its id: live, or opened from its file."""
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
            self._started(session, "fork" if session_id in self._forked else "resume")
            self._forked.discard(session_id)
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

    async def _may_switch(self, session: Session, model: str) -> None:
        """PreModelSwitch; raises where a hook refuses."""
        if self.deps.session_hooks is None:
            return
        data = {"old_model": session.options.model, "new_model": model}
        for outcome in await self.deps.session_hooks.fire(session, "PreModelSwitch", data, subject=model):
            if outcome.refuses:
                why = outcome.text or "a hook refused it"
                raise ProtocolError("permissionDenied", f"The model was not changed: {why}")

    def _started(self, session: Session, source: str) -> None:
        if self.deps.session_hooks is not None:
            self.deps.session_hooks.started(session, source)

    async def _ended(self, sessions: Iterable[Session], *, seconds: float) -> None:
        """SessionEnd hooks of all of them at once; what takes longer is cut off."""
        hooks = self.deps.session_hooks
        if hooks is None or not hooks.hooks.wants("SessionEnd"):
            return
        with anyio.move_on_after(seconds):
            async with anyio.create_task_group() as group:
                for session in sessions:
                    group.start_soon(hooks.ended, session, "other")

    def _adopt(self, session: Session) -> None:
        self.live[session.id] = session
        session.on_roster = self.roster.changed
        self.roster.changed()
        self._watch.look_again()

    async def _some_session(self, session_id: str | None) -> Session:
        """The session named, else one that only exists to run tools in and leaves nothing behind."""
        if session_id:
            return await self.session(session_id)
        async with self._opening:
            if self._scratch is None:
                await anyio.to_thread.run_sync(library.sweep, self.deps.data_dir / "scratch")
                self._scratch = await opening.create(
                    self.deps,
                    {},
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
        proposal = msgspec.convert(event.proposal, Proposal)
        match event.kind:
            case "proposed":
                session.publish(EditProposed(proposal))
                session.moves.told(proposal)
                session.proposals.save_now()  # an ask that is left behind must find its proposal again (Q11)
            case "updated":
                session.moves.updated(proposal)
            case "resolved":
                decisions = msgspec.convert(event.decisions, list[ToldDecision])
                session.publish(EditResolved(proposal.proposal_id, decisions, proposal=proposal))
                session.moves.told(proposal)
                session.late.note(proposal.proposal_id, event.late, tool_use_id=proposal.tool_use_id or "")
                path = path_of(event.proposal["uri"])
                if path is not None and not session.closed:  # its turn will not go on: nobody reads what landed
                    self.spawn(partial(session.workspace.settled, path))
        session.proposals.changed()


def _json(params: Wire) -> Json:
    """Parameters as plain JSON, without the fields that were left out."""
    return msgspec.to_builtins(params)
