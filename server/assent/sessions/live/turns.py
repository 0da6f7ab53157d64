"""The turns of one session: what waits, what runs, and the engine that runs it.

    a message arrives → the inbox and the file → a turn of its own, or steered into the running one → its result

Per turn clients see turnStarted … turnFinished, then a status; only then does a waiting send answer.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import aclosing, contextmanager

import anyio
import anyio.lowlevel
import anyio.to_thread

from assent.engine.abort import Abort
from assent.engine.query_engine import QueryEngine
from assent.sessions.live.engine_output import EngineOutput
from assent.sessions.live.inbox import Inbox, QueuedTurn, Steered, prompt_blocks
from assent.sessions.live.owning_session import OwningSession
from assent.sessions.live.session_engine import SessionEngine
from assent.sessions.stream.front import Call
from assent.sessions.stream.translate import failed_result, turn_started, wire_result
from assent.storage import transcript
from assent.storage.turn_slots import TurnSlot
from assent.text.attached import own_words
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ids import new_id
from assent.types.messages import Result, SystemInit, UserMessage
from assent.types.usage import Usage
from assent.wire.events import Completed, Dequeued, MessageUnqueued, Queued, Status, TurnFinished
from assent.wire.requests import SessionSend
from assent.wire.results import Interrupted, Sent, Unqueued
from assent.wire.shapes import TurnResult

log = logging.getLogger(__name__)

COMMAND_SECONDS = 10.0  # for a disk that is slow: "there is no such command" must be true


class SessionTurns:
    def __init__(self, session: OwningSession, *, reopened: bool) -> None:
        self.inbox = Inbox()
        self.current: QueuedTurn | None = None
        self.last_result: Result | None = None
        self.count = 0
        self._session = session
        self.output = EngineOutput(session, lambda: self.current)
        self.engine = SessionEngine(session, self.output, reopened=reopened)
        self._reopened = reopened
        self._running = False
        self._held = False
        self._slot: TurnSlot | None = None
        self.waits_for_room = False  # as many turns run as may, and none of ours
        self.abort_signal = Abort()
        self._model_then = ""  # at the beginning of the turn

    @property
    def busy(self) -> bool:
        """A turn is running or about to, or the conversation is being changed."""
        return self.current is not None or self._running or self._held

    @property
    def cost_usd(self) -> float:
        """Of every call that is finished, also in the turn that runs."""
        return max(self._session.cost_usd, self.output.total_cost)

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

    async def send(self, params: SessionSend, call: Call) -> Sent:
        session, client_id = self._session, params.client_message_id
        known = self.inbox.known(client_id) or await self._known_from_file(client_id)
        if known is None:
            known = self._accept(params)
            saved = await session.record.durable()
        else:
            saved = session.record.saved
        turn, queued = known
        if self.inbox.send_kept(turn):  # the sender wants it said after all
            session.publish(Queued(turn.client_id))
            session.save_state()
        self._kick()
        if params.wait:
            result = await self._finished(turn, call)
            return Sent(turn.runs_in, result=result)
        return Sent(turn.runs_in, queued=queued, saved=None if saved else False)

    async def again(self, content: list[Json]) -> Sent:
        """Play a prompt once more, before anything that waits."""
        uuid = new_id("u")
        turn = QueuedTurn(id=new_id("t"), uuid=uuid, content=content, client_id=uuid)
        self.inbox.waiting.appendleft(turn)
        self.inbox.remember(uuid, turn, queued=False)
        self._session.save_state()
        await self._session.record.durable()
        self._kick()
        return Sent(turn.id, queued=False)

    async def interrupt(self) -> Interrupted:
        """Ends the running turn and answers after its turnFinished; what waits is kept, and starts only when it is sent
        again."""
        if self.waits_for_room:
            self._keep_waiting()
            return Interrupted(interrupted=False, queued=self.inbox.ids())
        while self._running and self.current is None:
            await anyio.lowlevel.checkpoint()  # its first turn is about to begin
        turn = self.current
        if turn is None:
            return Interrupted(interrupted=False, queued=self.inbox.ids())
        self.abort()
        await turn.done.wait()
        return Interrupted(interrupted=True, queued=self.inbox.ids())

    async def unqueue(self, client_id: str) -> Unqueued:
        """Withdraw a message before its turn begins; a send that waits for that turn gets an answer."""
        turn = self.inbox.withdraw(client_id)
        if turn is None:
            return Unqueued(unqueued=False)
        prompt = turn.prompt
        self._withdrawn(turn, "Withdrawn before its turn came")
        await self._session.record.durable()
        return Unqueued(unqueued=True, prompt=prompt)

    def abort(self, *, why: str = "") -> None:
        self._keep_waiting()
        self.abort_signal.abort(why=why)

    def _keep_waiting(self) -> None:
        """What waits starts only when it is sent again."""
        for turn in self.inbox.keep():
            self._session.publish(Queued(turn.client_id, kept=True))

    def make_room(self) -> None:
        """The turn waits for a person: another one may run meanwhile. Once answered it goes on at once."""
        if self._slot is not None:
            self._slot.release()

    async def ready_engine(self) -> QueryEngine:
        """The engine as it is; one is built if there is none. A running turn keeps its configuration."""
        running = self.current is not None
        return await self.engine.get(in_turn=running, played=self.count > running)

    def book(self, model: str, usage: Usage, cost_usd: float, opened: int) -> None:
        """Count a call made beside the conversation as this session's, also before its first turn (Q9)."""
        if self.engine.current is not None:
            self.engine.current.book(model, usage, cost_usd, opened)
            return

        async def book_in_the_first() -> None:
            (await self.ready_engine()).book(model, usage, cost_usd, opened)

        self._session.spawn(book_in_the_first)

    async def announce(self) -> None:
        """A question is about to be asked: publish turnStarted first, even while the prompt is still being read."""
        turn, engine = self.current, self.engine.current
        if turn is not None and engine is not None and not turn.started.is_set():
            await engine.announce()
            await turn.started.wait()

    async def aclose(self) -> None:
        """The session ends: messages that wait stay in the file, and every waiting send gets an answer."""
        for turn in (*self.inbox.kept, *self.inbox.waiting):
            turn.result = failed_result(self._session.id, "Aborted", self.last_result)
            turn.done.set()
        await self.engine.aclose()

    # --- a message comes in ------------------------------------------------------------------------------------------

    def _accept(self, params: SessionSend) -> tuple[QueuedTurn, bool]:
        """Put a message into the inbox and into the file."""
        session = self._session
        if session.closed:
            raise ProtocolError("unknownSession", "This session is closed", hint="Attach to it again.")
        content = prompt_blocks(params.prompt, params.mentions or ())
        when_busy = params.when_busy or "queue"
        if self.busy and when_busy == "refuse":
            hint = "Wait for it, interrupt it, or send with queue or steer."
            raise ProtocolError("busy", "A turn is running", hint=hint)
        uuid = new_id("u")
        turn = QueuedTurn(
            id=new_id("t"),
            uuid=uuid,
            content=content,
            client_id=params.client_message_id or uuid,
            spoken=isinstance(params.prompt, str),
            token_budget=params.token_budget,
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

    async def _known_from_file(self, client_id: str | None) -> tuple[QueuedTurn, bool] | None:
        """The turn of a send that an earlier process took in: a client may repeat it after a restart."""
        if client_id is None or not self._reopened:
            return None
        waiting = next((turn for turn in self.inbox.kept if turn.client_id == client_id), None)
        if waiting is not None:
            self.inbox.remember(client_id, waiting, queued=True)
            return waiting, True
        found = await anyio.to_thread.run_sync(transcript.find_turn, self._session.record.path, client_id)
        if found is None:
            return None
        turn = QueuedTurn.from_json(found)
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
                self._slot = await self._room()
                try:
                    await self._session.deps.turnstile.pass_through()
                    if self.inbox.waiting:  # not taken back meanwhile
                        await self._take(self.inbox.waiting.popleft())
                finally:
                    self._slot.release()
        finally:
            self._running = False

    async def _room(self) -> TurnSlot:
        """Waits where as many turns run as the user allows; that shows as a queued message."""
        session, slots = self._session, self._session.deps.turn_slots
        if (slot := slots.try_take()) is not None:
            return slot
        turn = self.inbox.waiting[0]
        if not turn.queued:
            turn.queued = True
            session.publish(Queued(turn.client_id))
        session.notice("info", f"Waits for another turn to end: at most {slots.limit} run at once (maxRunningTurns).")
        self.waits_for_room = True
        session.on_roster()
        try:
            return await slots.take()
        finally:
            self.waits_for_room = False
            session.on_roster()

    async def _take(self, turn: QueuedTurn) -> None:
        session = self._session
        self.current = turn
        session.record.busy(True)
        self.count += 1
        self.abort_signal.reset()
        session.events.turn_id = turn.id
        self.output.begin_turn()
        if turn.queued:
            session.publish(Dequeued(turn.client_id))
        session.settings_changed()
        session.turn_begins(turn)
        self._finish(turn, await self._play(turn))

    async def _play(self, turn: QueuedTurn) -> Result:
        """Run the engine on one prompt. Whatever breaks, the turn has a result and the session survives."""
        session = self._session
        result: Result | None = None
        started = False
        error = "The turn ended without a result."
        try:
            named = own_words(turn.content).lstrip().startswith("/")  # a command, which a file may define
            await session.refresh_definitions(most=COMMAND_SECONDS if named else 0.0)
            engine = await self.engine.for_turn(played=self.count > 1)
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
                        await self.output.take(message)
        except Exception as problem:
            log.exception("turn %s of session %s broke", turn.id, session.id)
            error = f"Something broke inside Assent: {problem}"
            self.engine.forget()
        if not started:
            session.publish(turn_started(None, turn.prompt, message_id=turn.uuid))
        if result is None:
            result = failed_result(session.id, error, self.last_result)
            session.record.append(result)
        return result

    def _finish(self, turn: QueuedTurn, result: Result) -> None:
        session = self._session
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
        self.output.unshown.clear()
        engine = self.engine.current
        if engine is not None and engine.model != self._model_then:
            session.chose_model(engine.model)  # by a command
        session.events.turn_ended()
        session.turn_ended(result)
        for message in answered:
            message.result = result
            message.content = []  # remembered by its id for a while; its words are in the file
            message.done.set()

    def _withdrawn(self, turn: QueuedTurn, why: str) -> None:
        if turn.queued:
            self._session.publish(MessageUnqueued(turn.client_id))
        self._session.save_state()
        turn.result = failed_result(self._session.id, why, self.last_result)
        turn.done.set()

    async def _finished(self, turn: QueuedTurn, call: Call) -> TurnResult:
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
