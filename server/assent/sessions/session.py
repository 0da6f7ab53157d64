"""One conversation while it lives: its inbox, its running turn, its questions, its events, its file.

Everything a client can do to a session starts here; what a turn is inside is the engine's. Not aware of wires or
editors: clients are fronts, answers are JSON as in protocol.md.
"""

import logging
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Literal, cast

import anyio
import anyio.to_thread

from assent.editor.proposals import Origin, Review
from assent.engine.abort import Abort
from assent.sessions.asks import Asks
from assent.sessions.deps import Engine, EngineOptions, EngineSpec, Judgement, SessionDeps
from assent.sessions.events import Delta, Translator, parent_of, turn_started, wire_result
from assent.sessions.front import Call, Front
from assent.sessions.gate import Gate
from assent.sessions.inbox import Inbox, Steered, Turn, prompt_blocks
from assent.sessions.record import Record
from assent.sessions.ring import EventLog
from assent.storage import transcript
from assent.storage.settings import Settings, SourcedRule
from assent.storage.spill import SpillFolder
from assent.tools.tool import AnyTool, Jobs, SessionState
from assent.types.blocks import Json, text_of
from assent.types.errors import ProtocolError
from assent.types.ids import new_id
from assent.types.messages import Message, Result, StreamEvent, SystemInit, UserMessage
from assent.types.permissions import Verdict
from assent.types.ports import Elicitation, ElicitationAnswer, ToolCall

log = logging.getLogger(__name__)
Spawn = Callable[[Callable[[], Coroutine[Any, Any, None]]], None]
TITLE_LENGTH = 80


class Session:
    def __init__(
        self,
        *,
        deps: SessionDeps,
        record: Record,
        epoch: str,
        cwd: str,
        options: EngineOptions,
        state: SessionState,
        spawn: Spawn,
        on_change: Callable[["Session"], None] = lambda _session: None,
        reopened: bool = False,
    ) -> None:
        self.id = record.paths.session_id
        self.deps = deps
        self.record = record
        self.cwd = cwd
        self.options = options
        self.state = state
        self.title = ""
        self.branch = ""
        self.turns = 0
        self.cost_usd = 0.0
        self.prompts: list[str] = []  # the beginnings, for search
        self.updated_at = deps.clock()
        self.interactive = deps.interactive
        self.rules: list[SourcedRule] = []
        self.interrupted: Json | None = None  # a turn that a crash cut short (S4)
        self.inbox = Inbox()
        self.events = EventLog(self.id, epoch)
        self.asks = Asks(self.events, on_change=self._asks_changed)
        self.turn: Turn | None = None
        self.last_result: Result | None = None
        self.closed = False
        self._spawn = spawn
        self._on_change = on_change
        self._reopened = reopened
        self._review: Review | None = None
        self._engine: Engine | None = None
        self._abort = Abort()
        self._running = False
        self._translator = Translator()
        self.jobs: Jobs | None = deps.jobs(self.id, self._job_changed) if deps.jobs else None
        self.spill = SpillFolder(record.paths.spill)
        self.workspace = deps.workspace(cwd, self.origin, lambda: self.review)
        self.gate = Gate(
            self,
            decide=deps.decide,
            settings=deps.settings,
            parse_rule=deps.parse_rule,
            hooks=deps.hooks,
            classify=deps.classify,
            proposals=deps.proposals,
        )
        self.unshown: set[str] = set()  # written by the engine, on its way to us
        record.on_append = self._written
        state.on_change = self._state_changed

    # --- what the gate and reports look at ---------------------------------------------------------------------------

    @property
    def turn_id(self) -> str:
        return self.turn.id if self.turn else ""

    @property
    def running(self) -> bool:
        return self.turn is not None

    @property
    def status(self) -> Literal["idle", "running", "waiting"]:
        if self.asks:
            return "waiting"
        return "running" if self.running else "idle"

    @property
    def trusted(self) -> bool:
        return self.deps.trust.trusted(self.cwd)

    @property
    def settings(self) -> Settings:
        return self.deps.settings.load(self.cwd, trusted=self.trusted).with_rules(self.rules)

    @property
    def review(self) -> Review:
        """before in default mode, after where edits need no asking; off when nobody could look at a proposal."""
        if self.deps.proposals is None:
            return "off"
        if self._review is not None:
            return self._review
        chosen = self.settings.get("review")
        if chosen in ("before", "after", "off"):
            return chosen
        return "before" if self.state.mode in ("default", "plan", "dontAsk") else "after"

    def tools(self) -> tuple[AnyTool, ...]:
        return tuple(self.deps.tools(self.cwd))

    def tool(self, name: str) -> AnyTool | None:
        return next((tool for tool in self.tools() if tool.name == name), None)

    def judgement(self) -> Judgement:
        tools = self.tools()
        return Judgement(
            cwd=self.state.cwd,
            roots=self.roots(),
            mode=self.state.mode,
            trusted=self.trusted,
            settings=self.settings,
            tools=tuple(tool.name for tool in tools),
            enabled=tuple(tool.name for tool in tools if tool.enabled(self.state)),
        )

    def roots(self) -> tuple[str, ...]:
        roots = self.deps.roots()
        return roots if self.cwd in roots else (self.cwd, *roots)

    def origin(self) -> Origin:
        turn = self.turn
        return Origin(session_id=self.id, turn_id=turn.id if turn else "", prompt=text_of(turn.content) if turn else "")

    def ask_timeout(self) -> float | None:
        seconds = self.settings.get("permissions.askTimeoutSeconds")
        return float(seconds) if seconds else None

    # --- requests ----------------------------------------------------------------------------------------------------

    async def send(self, params: Json, call: Call) -> Json:
        client_id = params.get("clientMessageId")
        known = self.inbox.known(client_id) or await self._known_from_file(client_id)
        if known is None:
            known = self._accept(params, client_id)
            saved = await self.record.durable()
        else:
            saved = self.record.saved
        turn, queued = known
        self._kick()
        if params.get("wait"):
            return {"turnId": turn.id, "result": await self._finished(turn, call)}
        return {"turnId": turn.id, "queued": queued, **({} if saved else {"saved": False})}

    async def interrupt(self) -> Json:
        """Ends the running turn and answers after its turnFinished; what waits is kept until the next send."""
        turn = self.turn
        if turn is None:
            return {"interrupted": False, "queued": self.inbox.ids()}
        self.inbox.paused = True
        self._abort.abort()
        await turn.done.wait()
        return {"interrupted": True, "queued": self.inbox.ids()}

    def configure(self, params: Json) -> Json:
        changes: dict[str, Any] = {}
        for wire, name in (("model", "model"), ("thinking", "thinking"), ("effort", "effort")):
            if wire in params:
                changes[name] = thinking_config(params[wire]) if name == "thinking" else params[wire]
        if changes:
            self.options = replace(self.options, **changes)
            self._engine = None  # built again from the transcript for the next turn
        if params.get("mode"):
            self.set_mode(params["mode"])
        if params.get("review"):
            self._review = params["review"]
        self.save_state()
        self.publish({"type": "status", "state": self.status, "model": self.options.model, "mode": self.state.mode})
        return {
            "model": self.options.model,
            "mode": self.state.mode,
            "thinking": self.options.thinking,
            "effort": self.options.effort,
            "review": self.review,
        }

    def set_mode(self, mode: Any) -> None:
        if mode == "bypassPermissions" and self.settings.get("permissions.disableBypass"):
            raise ProtocolError("permissionDenied", "Policy does not allow the mode bypassPermissions")
        self.state.mode = mode

    def rename(self, title: str) -> None:
        self.title = title.strip()[:200]
        self.save_state()
        self._on_change(self)

    async def elicit(self, elicitation: Elicitation) -> ElicitationAnswer:
        """A question to the user; nobody to ask, or a turn that ends meanwhile, is a cancel."""
        if not self.interactive:
            return ElicitationAnswer(action="decline")
        elicit_id = new_id("e")
        params: Json = {"sessionId": self.id, "elicitId": elicit_id, "message": elicitation.message}
        if elicitation.questions:
            params["questions"] = list(elicitation.questions)
        elif elicitation.schema is not None:
            params["schema"] = elicitation.schema
        else:
            params["url"] = elicitation.url
        answer = await self.asks.wait(self.asks.open("elicitation", elicit_id, params))
        action = (answer or {}).get("action")
        if action not in ("accept", "decline", "cancel"):
            return ElicitationAnswer(action="cancel")
        content = (answer or {}).get("content")
        return ElicitationAnswer(action=action, content=cast("Json", content) if isinstance(content, dict) else {})

    async def can_use_tool(self, call: ToolCall) -> Verdict:
        return await self.gate.can_use_tool(call)

    # --- fronts ------------------------------------------------------------------------------------------------------

    def join(self, call: Call) -> None:
        """The caller's front hears this session from now on, but nothing before its answer is written."""
        if call.front is None:
            return
        subscription = self.events.subscribe(call.front)
        if call.answered is not None:
            answered = call.answered
            subscription.hold()

            async def release() -> None:
                with anyio.move_on_after(30):  # a front that died before its answer must not hold memory for ever
                    await answered.wait()
                subscription.release()

            self._spawn(release)

    def leave(self, front: Front) -> None:
        self.events.unsubscribe(front)
        self.asks.detach(front)

    def publish(self, event: Json) -> None:
        self.events.publish(event)

    def notice(self, level: str, text: str) -> None:
        self.publish({"type": "notice", "level": level, "text": text})

    # --- the turn ----------------------------------------------------------------------------------------------------

    def _accept(self, params: Json, client_id: str | None) -> tuple[Turn, bool]:
        """Take a message in; from here it is in the inbox and in the file."""
        if self.closed:
            raise ProtocolError("unknownSession", "This session is closed", hint="Attach to it again.")
        content = prompt_blocks(params.get("prompt"), params.get("mentions") or ())
        when_busy = params.get("whenBusy") or "queue"
        busy = self.running or self._running
        if busy and when_busy == "refuse":
            raise ProtocolError(
                "busy", "A turn is running", hint="Wait for it, interrupt it, or send with queue or steer."
            )
        uuid = new_id("u")
        turn = Turn(
            id=new_id("t"),
            uuid=uuid,
            content=content,
            client_id=client_id or uuid,
            token_budget=params.get("tokenBudget"),
            queued=busy or bool(self.inbox.waiting),
        )
        self.inbox.paused = False
        if when_busy == "steer" and self.turn is not None:
            self.inbox.steering.append(Steered(message=turn, into=self.turn))
            known = (self.turn, True)
        else:
            self.inbox.waiting.append(turn)
            known = (turn, turn.queued)
        if known[1]:
            self.publish({"type": "queued", "clientMessageId": turn.client_id})
        self.inbox.remember(turn.client_id, known[0], queued=known[1])
        self.save_state()
        return known

    async def _known_from_file(self, client_id: str | None) -> tuple[Turn, bool] | None:
        """A client may repeat a send after our restart, not knowing whether it arrived."""
        if client_id is None or not self._reopened:
            return None
        found = await anyio.to_thread.run_sync(transcript.find_turn, self.record.path, client_id)
        if found is None:
            return None
        turn = Turn.from_json(found)
        turn.result = self.last_result
        turn.done.set()
        self.inbox.remember(client_id, turn, queued=False)
        return turn, False

    def _kick(self) -> None:
        if not self._running and self.inbox.waiting and not self.inbox.paused and not self.closed:
            self._running = True
            self._spawn(self._run)

    async def _run(self) -> None:
        try:
            while self.inbox.waiting and not self.inbox.paused:
                await self._take(self.inbox.waiting.popleft())
        finally:
            self._running = False

    async def _take(self, turn: Turn) -> None:
        self.turn = turn
        self._abort.reset()
        self.interrupted = None
        self.turns += 1
        self.events.turn_id = turn.id
        self.events.step_id = self._translator.step_id = None
        if turn.queued:
            self.publish({"type": "dequeued", "clientMessageId": turn.client_id})
        if not self.title:
            self.title = title_of(turn.content)
        self.prompts.append(text_of(turn.content)[:200])
        self.record.note("turn", **turn.to_json())
        self.save_state()
        result = await self._play(turn)
        self._finish(turn, result)

    async def _play(self, turn: Turn) -> Result:
        """Run the engine on one prompt. Whatever breaks, the turn has a result and the session survives."""
        result: Result | None = None
        started = False
        error = "The turn ended without a result."
        try:
            engine = await self._ready()
            async with aclosing(
                engine.submit(turn.content, uuid=turn.uuid, token_budget=turn.token_budget)
            ) as messages:
                async for message in messages:
                    if isinstance(message, SystemInit):
                        started = True
                        self.publish(turn_started(message, turn.content, messageId=turn.uuid))
                        self.publish({"type": "status", "state": "running"})
                    elif isinstance(message, Result):
                        result = message
                    else:
                        self.show(message)
        except Exception as problem:
            log.exception("the turn %s of session %s broke", turn.id, self.id)
            error = f"Something broke inside Assent: {problem}"
            self._engine = None
        if not started:
            self.publish(turn_started(None, turn.content, messageId=turn.uuid))
        if result is None:
            result = failed_result(self.id, error, self.last_result)
            self.record.append(result)
        return result

    def show(self, message: Message) -> None:
        """One engine message as events."""
        if isinstance(message, StreamEvent):
            piece = self._translator.delta(message)
            if isinstance(piece, Delta):
                self.events.delta(piece)
            elif piece is not None:
                self.events.publish(piece, parent=parent_of(message))
            return
        parent = parent_of(message)
        self.unshown.discard(getattr(message, "uuid", ""))
        for event in self._translator.events(message):
            self.events.step_id = self._translator.step_id
            self.events.publish(event, parent=parent)

    def _finish(self, turn: Turn, result: Result) -> None:
        self.asks.withdraw_all(by="turnFinished")
        self.last_result = turn.result = result
        self.cost_usd = result.total_cost_usd
        self.updated_at = self.deps.clock()
        for steered in self.inbox.end_steering():
            self.publish({"type": "completed", "clientMessageId": steered.client_id})
        self.publish({"type": "completed", "clientMessageId": turn.client_id})
        self.publish({"type": "turnFinished", "result": wire_result(result)})
        self.turn = None
        self.events.turn_id = self.events.step_id = None
        self.events.forget_blocks()
        self.unshown.clear()
        self.save_state()
        self.publish({"type": "status", "state": "idle"})
        self._on_change(self)
        turn.done.set()

    async def _finished(self, turn: Turn, call: Call) -> Json:
        """The result of a turn, for a waiting send; cancelling the request interrupts and still gives the result."""

        async def watch() -> None:
            await call.cancelled.wait()
            if turn in self.inbox.waiting:
                self.inbox.waiting.remove(turn)
                turn.result = failed_result(self.id, "Aborted", self.last_result)
                self.save_state()
                turn.done.set()
            elif self.turn is turn:
                self.inbox.paused = True
                self._abort.abort()

        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            await turn.done.wait()
            group.cancel_scope.cancel()
        assert turn.result is not None
        return wire_result(turn.result)

    async def _ready(self) -> Engine:
        if self._engine is None:
            loaded = transcript.Loaded()
            if self._reopened or self.turns > 1:
                loaded = await anyio.to_thread.run_sync(transcript.load, self.record.path)
            self._translator = Translator(context_window=self.deps.model_info(self.options.model).context_window)
            self._translator.total_cost = self.cost_usd
            self._engine = self.deps.engine(self._spec(loaded))
        return self._engine

    def _spec(self, loaded: transcript.Loaded) -> EngineSpec:
        settings = self.settings
        return EngineSpec(
            session_id=self.id,
            options=self.options,
            state=self.state,
            roots=self.roots(),
            trusted=self.trusted,
            settings=settings,
            tools=self.tools(),
            workspace=self.workspace,
            spill=self.spill,
            jobs=self.jobs,
            editor=self.deps.editor,
            env=cast("dict[str, str]", settings.get("env", {})),
            can_use_tool=self.can_use_tool,
            handle_elicitation=self.elicit,
            initial_messages=tuple(loaded.messages),
            snipped=frozenset(loaded.snipped),
            restored=loaded.last_result,
            transcript=self.record,
            take_queued=self._take_queued,
            publish=self.show,
            abort=self._abort,
            interactive=self.interactive,
        )

    def _take_queued(self) -> list[UserMessage]:
        taken = self.inbox.take_steered()
        for message in taken:
            self.publish({"type": "dequeued", "clientMessageId": message.client_id})
        if taken:
            self.save_state()
        now = self.deps.clock()
        return [UserMessage(uuid=m.uuid, content=tuple(m.content), timestamp=now) for m in taken]

    # --- the end -----------------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Ask the turn to end; `stopped` waits for it. A turn that is cut off instead shows as interrupted later."""
        self.closed = True
        self._abort.abort()

    async def stopped(self) -> None:
        if self.turn is not None:
            await self.turn.done.wait()

    async def close_children(self) -> None:
        if self.jobs is not None:
            await self.jobs.close()

    def shut(self) -> bool:
        """Save what is left and free the file; False when the disk did not take everything."""
        self.closed = True
        self.events.flush()
        return self.record.close()

    def trouble(self, error: OSError | None) -> None:
        if error is None:
            self.notice("info", "The conversation is being saved again.")
        else:
            why = error.strerror or str(error)
            self.notice("error", f"The conversation cannot be saved ({why}). It is kept in memory and tried again.")

    # --- what changed ------------------------------------------------------------------------------------------------

    def save_state(self) -> None:
        steering = [item.message.to_json() for item in self.inbox.steering if not item.taken]
        self.record.state(
            {
                "model": self.options.model,
                "options": options_json(self.options),
                "mode": self.state.mode,
                "cwd": self.state.cwd,
                "title": self.title,
                "branch": self.branch,
                "todos": self.state.todos,
                "plan": self.state.plan,
                "review": self._review,
                "turns": self.turns,
                "queue": [*steering, *(turn.to_json() for turn in self.inbox.waiting)],
                "asks": self.asks.pending("permission"),
            }
        )

    def _written(self, message: Message) -> None:
        uuid = getattr(message, "uuid", None)
        if uuid is not None and self.turn is not None and uuid != self.turn.uuid:
            self.unshown.add(uuid)

    def _asks_changed(self) -> None:
        if not self.closed:
            self.save_state()
        if self.turn is not None:
            self.publish({"type": "status", "state": self.status})

    def _state_changed(self, what: str) -> None:
        match what:
            case "todos":
                self.publish({"type": "todos", "items": wire_todos(self.state.todos)})
            case "plan":
                self.publish({"type": "planProposed", "plan": self.state.plan})
            case "mode":
                self.publish({"type": "status", "state": self.status, "mode": self.state.mode})
            case _:
                pass
        self.save_state()

    def _job_changed(self, job: Json) -> None:
        self.events.publish({"type": "job", **job}, outside_turn=True)


def failed_result(session_id: str, error: str, last: Result | None) -> Result:
    """A result for a turn the engine could not end itself; the session's totals stay what they were."""
    base = last or Result(
        subtype="error_during_execution", is_error=True, terminal="model_error", result="", session_id=session_id
    )
    return replace(
        base,
        subtype="error_during_execution",
        is_error=True,
        terminal="aborted_streaming" if error == "Aborted" else "model_error",
        result=error,
        structured_output=None,
        stop_reason=None,
        num_turns=0,
        duration_ms=0,
        duration_api_ms=0,
    )


def thinking_config(value: object) -> Json | None:
    """What clients send (a switch, a number of tokens, a name, or the API's own object) as the API takes it."""
    match value:
        case None:
            return None
        case bool():
            return {"type": "adaptive"} if value else {"type": "disabled"}
        case int():
            return {"type": "enabled", "budget_tokens": value} if value > 0 else {"type": "disabled"}
        case str():
            return {"type": value}
        case dict():
            return cast("Json", value)
        case _:
            raise ProtocolError("invalidParams", "thinking must be a boolean, a number of tokens or an object")


def title_of(content: list[Json]) -> str:
    first = " ".join(text_of(content).split())
    return first if len(first) <= TITLE_LENGTH else first[: TITLE_LENGTH - 1].rstrip() + "…"


def wire_todos(todos: list[Json]) -> list[Json]:
    return [
        {
            "id": str(item.get("id") or index + 1),
            "content": str(item.get("content", "")),
            "activeForm": str(item.get("activeForm") or item.get("active_form") or item.get("content", "")),
            "status": str(item.get("status", "pending")),
        }
        for index, item in enumerate(todos)
    ]


def options_json(options: EngineOptions) -> Json:
    return {name: getattr(options, name) for name in EngineOptions.__slots__ if getattr(options, name) is not None}
