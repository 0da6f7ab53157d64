"""The turns of one session: what waits, what runs, and the engine that runs it.

    a message arrives → the inbox and the file → a turn of its own, or steered into the running one → its result

Per turn clients see turnStarted … turnFinished, then status idle; only then does a waiting send answer.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import aclosing, contextmanager
from typing import Protocol

import anyio
import anyio.lowlevel
import anyio.to_thread

from assent.engine.abort import Abort
from assent.engine.agent_runs import AgentRuns
from assent.engine.config import EngineConfig
from assent.engine.past import Past
from assent.engine.query_engine import QueryEngine
from assent.engine.services import Services
from assent.sessions.asking.asks import Asks
from assent.sessions.asking.orphans import Orphans
from assent.sessions.deps import EngineOptions, SessionDeps
from assent.sessions.live.inbox import Inbox, Steered, Turn, prompt_blocks
from assent.sessions.live.record import Record
from assent.sessions.live.tasks import Work
from assent.sessions.stream.event_log import EventLog
from assent.sessions.stream.front import Call
from assent.sessions.stream.translate import Delta, Translator, failed_result, parent_of, turn_started, wire_result
from assent.storage import transcript
from assent.tools.tool import SessionState
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ids import new_id
from assent.types.messages import Message, Result, Spent, StreamEvent, SystemInit, UserMessage
from assent.types.usage import Usage
from assent.wire.events import AnyEvent, Completed, Dequeued, MessageUnqueued, Queued, Status, TurnFinished
from assent.wire.results import Interrupted, Sent, Unqueued
from assent.wire.shapes import Level, TurnResult

log = logging.getLogger(__name__)


class OwningSession(Protocol):
    """What turns use of the session that owns them."""

    spent: Spent | None
    cost_usd: float

    @property
    def id(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    @property
    def deps(self) -> SessionDeps: ...
    @property
    def options(self) -> EngineOptions: ...
    @property
    def state(self) -> SessionState: ...
    @property
    def services(self) -> Services: ...
    @property
    def record(self) -> Record: ...
    @property
    def events(self) -> EventLog: ...
    @property
    def asks(self) -> Asks: ...
    @property
    def orphans(self) -> Orphans: ...

    def configuration(self) -> EngineConfig: ...
    def publish(self, event: AnyEvent) -> None: ...
    def notice(self, level: Level, text: str) -> None: ...
    def save_state(self) -> None: ...
    def settings_changed(self) -> None: ...
    def spawn(self, work: Work, /) -> None: ...
    def chose_model(self, model: str) -> None: ...
    async def refresh_definitions(self) -> None: ...
    def observed(self, message: Message) -> None: ...
    def turn_begins(self, turn: Turn) -> None: ...
    def turn_ended(self, result: Result) -> None: ...


class Turns:
    def __init__(self, session: OwningSession, *, reopened: bool) -> None:
        self.inbox = Inbox()
        self.current: Turn | None = None
        self.last_result: Result | None = None
        self.count = 0
        self.unshown: set[str] = set()  # written by the engine, on its way to us
        self._session = session
        self._reopened = reopened
        self._running = False
        self._held = False
        self._building = anyio.Lock()
        self._engine: QueryEngine | None = None
        self._stale = False
        self.abort_signal = Abort()
        self.home = ""  # where its turns begin, unless in a worktree
        self._model_then = ""  # at the beginning of the turn
        self._translator = Translator()

    @property
    def busy(self) -> bool:
        """A turn is running or about to, or the conversation is being changed."""
        return self.current is not None or self._running or self._held

    @property
    def cost_usd(self) -> float:
        """Of every call that is finished, also in the turn that runs."""
        return max(self._session.cost_usd, self._translator.total_cost)

    @contextmanager
    def held(self) -> Generator[None]:
        """The conversation itself is being changed: no turn starts meanwhile, and what is sent waits."""
        if self.busy:
            raise ProtocolError("busy", "A turn is running", hint="Interrupt it first.")
        self._held = True
        try:
            yield
        finally:
            self._held = False
            self._kick()

    # --- requests ----------------------------------------------------------------------------------------------------

    async def send(self, params: Json, call: Call) -> Sent:
        session = self._session
        client_id = params.get("clientMessageId")
        known = self.inbox.known(client_id) or await self._known_from_file(client_id)
        if known is None:
            known = self._accept(params, client_id)
            saved = await session.record.durable()
        else:
            saved = session.record.saved
        turn, queued = known
        if self.inbox.send_kept(turn):  # the sender wants it said after all
            session.publish(Queued(turn.client_id))
            session.save_state()
        self._kick()
        if params.get("wait"):
            result = await self._finished(turn, call)
            return Sent(turn.runs_in, result=result)
        return Sent(turn.runs_in, queued=queued, saved=None if saved else False)

    async def again(self, content: list[Json]) -> Sent:
        """Play a prompt once more, before anything that waits."""
        uuid = new_id("u")
        turn = Turn(id=new_id("t"), uuid=uuid, content=content, client_id=uuid)
        self.inbox.waiting.appendleft(turn)
        self.inbox.remember(uuid, turn, queued=False)
        self._session.save_state()
        await self._session.record.durable()
        self._kick()
        return Sent(turn.id, queued=False)

    async def interrupt(self) -> Interrupted:
        """Ends the running turn and answers after its turnFinished; what waits is kept, and starts only when it is sent
        again."""
        while self._running and self.current is None:
            await anyio.lowlevel.checkpoint()  # its first turn is about to begin
        turn = self.current
        if turn is None:
            return Interrupted(interrupted=False, queued=self.inbox.ids())
        self.abort()
        await turn.done.wait()
        return Interrupted(interrupted=True, queued=self.inbox.ids())

    async def unqueue(self, client_id: str) -> Unqueued:
        """Take a message back before its turn comes; whoever waits for that turn gets an answer."""
        turn = self.inbox.withdraw(client_id)
        if turn is None:
            return Unqueued(unqueued=False)
        prompt = turn.prompt
        self._withdrawn(turn, "Withdrawn before its turn came")
        await self._session.record.durable()
        return Unqueued(unqueued=True, prompt=prompt)

    def abort(self, *, why: str = "") -> None:
        for turn in self.inbox.keep():
            self._session.publish(Queued(turn.client_id, kept=True))
        self.abort_signal.abort(why=why)

    async def engine(self) -> QueryEngine:
        """The engine as it is; a turn that runs on it is never taken from under it."""
        async with self._building:
            if self._engine is not None and self.current is not None:
                return self._engine
            return await self._fresh_engine()

    async def _fresh_engine(self) -> QueryEngine:
        """The engine with the configuration as it is now; built from the transcript where there is none."""
        session = self._session
        if self._engine is None or self._stale:
            old, self._engine, self._stale = self._engine, None, False
            if old is not None:
                await old.aclose()
            loaded = transcript.Loaded()
            if self._reopened or self.count > (self.current is not None):
                loaded = await anyio.to_thread.run_sync(transcript.load, session.record.path)
            if loaded.damaged:
                session.notice("warning", f"{loaded.damaged} damaged lines in this conversation were left out.")
            self._translator = Translator(total_cost=session.cost_usd)
            self.home = session.state.cwd
            past = Past(
                messages=tuple(loaded.messages),
                snipped=frozenset(loaded.snipped),
                collapsed=tuple(loaded.collapsed),
                result=loaded.last_result,
                spent=session.spent,
                orphans=session.orphans.calls(),
            )
            self._engine = session.deps.engine(session.configuration(), session.services, past)
        else:
            self._engine.configure(session.configuration())
        self._translator.context_window = session.deps.model_info(session.options.model).context_window
        return self._engine

    @property
    def agents(self) -> AgentRuns | None:
        """The subagents of the engine, where there is one."""
        return self._engine.agents if self._engine is not None else None

    def book(self, model: str, usage: Usage, cost_usd: float) -> None:
        """Count a call made beside the conversation as this session's (Q9)."""
        if self._engine is not None:
            self._engine.book(model, usage, cost_usd)

    async def announce(self) -> None:
        """A question is about to be put: turnStarted comes before it, also while the prompt itself is being read."""
        turn = self.current
        if turn is not None and self._engine is not None and not turn.started.is_set():
            await self._engine.announce()
            await turn.started.wait()

    def forget_engine(self) -> None:
        """The next turn gets a new one: the conversation itself is another one."""
        self._stale = True

    async def close_engine(self) -> None:
        """The end here: what still waits is kept in the file, but whoever waits for it gets an answer now."""
        for turn in (*self.inbox.kept, *self.inbox.waiting):
            turn.result = failed_result(self._session.id, "Aborted", self.last_result)
            turn.done.set()
        if self._engine is not None:
            await self._engine.aclose()

    def show(self, message: Message) -> None:
        """One engine message as events."""
        events = self._session.events
        if isinstance(message, StreamEvent):
            piece = self._translator.delta(message)
            if isinstance(piece, Delta):
                events.delta(piece)
            elif piece is not None:
                events.publish(piece, parent=parent_of(message))
            return
        self.unshown.discard(getattr(message, "uuid", ""))
        parent = parent_of(message)
        for event in self._translator.events(message):
            events.step_id = self._translator.step_id
            events.publish(event, parent=parent)

    def written(self, message: Message) -> None:
        if isinstance(message, Spent):
            self._session.spent = message
            self._session.cost_usd = message.total_cost_usd
        uuid = getattr(message, "uuid", None)
        if uuid is not None and self.current is not None and uuid != self.current.uuid:
            self.unshown.add(uuid)

    # --- a message comes in ------------------------------------------------------------------------------------------

    def _accept(self, params: Json, client_id: str | None) -> tuple[Turn, bool]:
        """Take a message in; from here it is in the inbox and in the file."""
        session = self._session
        if session.closed:
            raise ProtocolError("unknownSession", "This session is closed", hint="Attach to it again.")
        content = prompt_blocks(params.get("prompt"), params.get("mentions") or ())
        when_busy = params.get("whenBusy") or "queue"
        if self.busy and when_busy == "refuse":
            hint = "Wait for it, interrupt it, or send with queue or steer."
            raise ProtocolError("busy", "A turn is running", hint=hint)
        uuid = new_id("u")
        turn = Turn(
            id=new_id("t"),
            uuid=uuid,
            content=content,
            client_id=client_id or uuid,
            spoken=isinstance(params.get("prompt"), str),
            token_budget=params.get("tokenBudget"),
            queued=self.busy or bool(self.inbox.waiting),
        )
        if when_busy == "steer" and self.current is not None:
            turn.into = self.current
            self.inbox.steering.append(Steered(message=turn))
        else:
            self.inbox.waiting.append(turn)
        if turn.queued:
            session.publish(Queued(turn.client_id))
        self.inbox.remember(turn.client_id, turn, queued=turn.queued)
        session.save_state()
        return turn, turn.queued

    async def _known_from_file(self, client_id: str | None) -> tuple[Turn, bool] | None:
        """A client may repeat a send after our restart, not knowing whether it arrived."""
        if client_id is None or not self._reopened:
            return None
        waiting = next((turn for turn in self.inbox.kept if turn.client_id == client_id), None)
        if waiting is not None:
            self.inbox.remember(client_id, waiting, queued=True)
            return waiting, True
        found = await anyio.to_thread.run_sync(transcript.find_turn, self._session.record.path, client_id)
        if found is None:
            return None
        turn = Turn.from_json(found)
        turn.result = self.last_result or failed_result(self._session.id, "The turn was cut off.", None)
        turn.done.set()
        self.inbox.remember(client_id, turn, queued=False)
        return turn, False

    # --- a turn runs -------------------------------------------------------------------------------------------------

    def _kick(self) -> None:
        if not self._running and not self._held and self.inbox.waiting and not self._session.closed:
            self._running = True
            self._session.spawn(self._run)

    async def _run(self) -> None:
        try:
            while self.inbox.waiting and not self._session.closed:
                await self._take(self.inbox.waiting.popleft())
        finally:
            self._running = False

    async def _take(self, turn: Turn) -> None:
        session = self._session
        self.current = turn
        session.record.busy(True)
        self.count += 1
        self.abort_signal.reset()
        session.events.turn_id = turn.id
        session.events.step_id = self._translator.step_id = None
        if turn.queued:
            session.publish(Dequeued(turn.client_id))
        session.settings_changed()
        session.turn_begins(turn)
        self._finish(turn, await self._play(turn))

    async def _play(self, turn: Turn) -> Result:
        """Run the engine on one prompt. Whatever breaks, the turn has a result and the session survives."""
        session = self._session
        result: Result | None = None
        started = False
        error = "The turn ended without a result."
        try:
            await session.refresh_definitions()
            async with self._building:
                engine = await self._fresh_engine()
            self._model_then = engine.model
            submitted = engine.submit(turn.content, uuid=turn.uuid, token_budget=turn.token_budget)
            async with aclosing(submitted) as messages:
                async for message in messages:
                    if not isinstance(message, Result):
                        session.observed(message)
                    if isinstance(message, SystemInit):
                        started = True
                        session.publish(turn_started(message, turn.prompt, message_id=turn.uuid))
                        session.publish(Status("running"))
                        turn.started.set()
                    elif isinstance(message, Result):
                        result = message
                    else:
                        self.show(message)
        except Exception as problem:
            log.exception("turn %s of session %s broke", turn.id, session.id)
            error = f"Something broke inside Assent: {problem}"
            self._stale = True
        if not started:
            session.publish(turn_started(None, turn.prompt, message_id=turn.uuid))
        if result is None:
            result = failed_result(session.id, error, self.last_result)
            session.record.append(result)
        return result

    def _finish(self, turn: Turn, result: Result) -> None:
        session = self._session
        session.asks.withdraw_all(by="turnFinished")
        self.last_result = result
        if session.closed:
            session.record.note("cut", turnId=turn.id)  # we were told to end, the user was not done
        answered = [*self.inbox.end_steering(), turn]
        for message in answered:
            session.publish(Completed(message.client_id))
        session.publish(TurnFinished(wire_result(result)))
        session.observed(result)
        self.current = None
        session.record.busy(False)
        self.unshown.clear()
        if self._engine is not None and self._engine.model != self._model_then:
            session.chose_model(self._engine.model)  # by a command
        session.events.turn_ended()
        session.turn_ended(result)
        session.publish(Status("idle"))
        for message in answered:
            message.result = result
            message.content = []  # remembered by its id for a while; its words are in the file
            message.done.set()

    def _withdrawn(self, turn: Turn, why: str) -> None:
        if turn.queued:
            self._session.publish(MessageUnqueued(turn.client_id))
        self._session.save_state()
        turn.result = failed_result(self._session.id, why, self.last_result)
        turn.done.set()

    async def _finished(self, turn: Turn, call: Call) -> TurnResult:
        """The result of a turn, for a waiting send; cancelling the request interrupts and still gives the result."""

        async def watch() -> None:
            await call.cancelled.wait()
            if self.inbox.drop(turn):
                self._withdrawn(turn, "Aborted")
            elif self.current is not None and self.current.id == turn.runs_in:
                self.abort()

        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            await turn.done.wait()
            group.cancel_scope.cancel()
        assert turn.result is not None
        return wire_result(turn.result)

    def take_queued(self) -> list[UserMessage]:
        """What the user steered into this turn, each handed out once (L11)."""
        session = self._session
        taken = self.inbox.take_steered()
        for message in taken:
            session.publish(Dequeued(message.client_id))
        # The file still has them waiting until the engine has written them: better said twice than lost.
        now = session.deps.clock()
        return [UserMessage(uuid=m.uuid, content=tuple(m.content), timestamp=now) for m in taken]
