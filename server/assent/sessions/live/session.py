"""One conversation while it lives: its settings, its questions, its events, its file. Its turns are in `turns`.

Everything a client can do to a session starts here. Not aware of wires or editors: clients are fronts, answers are
JSON as in protocol.md.
"""

import time
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

import anyio
import msgspec

from assent.editor.proposals import Origin, Review
from assent.engine.config import EngineConfig
from assent.engine.services import McpClient, Services
from assent.extensions.commands import Command
from assent.extensions.hooks.exported import with_exported
from assent.sessions.asking.answers import LastingRules
from assent.sessions.asking.asks import Asks, elicited
from assent.sessions.asking.gate import Gate
from assent.sessions.asking.orphans import Orphans
from assent.sessions.deps import EngineOptions, Judgement, SessionDeps
from assent.sessions.live.inbox import Inbox, Turn
from assent.sessions.live.late_decisions import LateDecisions
from assent.sessions.live.options import options_json
from assent.sessions.live.own_commands import run_unasked
from assent.sessions.live.record import Record
from assent.sessions.live.repository import RepositorySnapshot
from assent.sessions.live.saved_proposals import SavedProposals
from assent.sessions.live.snips import Snips
from assent.sessions.live.tracked import TrackedWorkspace
from assent.sessions.live.turns import Turns
from assent.sessions.mcp import SessionServers, read_mention
from assent.sessions.slash.commands import session_commands
from assent.sessions.slash.skills import SessionSkills
from assent.sessions.stream.event_log import EventLog
from assent.sessions.stream.front import Call, Front
from assent.sessions.stream.moves import ProposalMoves
from assent.sessions.stream.shown import keeper
from assent.sessions.stream.translate import title_of, wire_todos
from assent.storage import transcript
from assent.storage.files import SavedList
from assent.storage.history import FileHistory
from assent.storage.settings import Settings, SourcedRule
from assent.storage.spill import SpillFolder
from assent.tools.process.jobs import ShellJobs
from assent.tools.skill import Skill
from assent.tools.tool import AnyTool, Jobs, Mine, SessionState, ToolContext, ToolServices
from assent.types.blocks import Json, text_of
from assent.types.errors import ProtocolError
from assent.types.messages import Attachment, Message, Result, Spent
from assent.types.ports import Elicitation, ElicitationAnswer, FileText, ToolCall
from assent.wire.events import AnyEvent, Job, Notice, PlanProposed, ReviewPending, Status, Todos
from assent.wire.results import Interrupted, Sent, WaitingReview
from assent.wire.shapes import Level

Spawn = Callable[[Callable[[], Coroutine[Any, Any, None]]], None]
SHUT_DOWN = "Interrupted: the session was closed before this call finished. It may have run in part; check first."
HOLD_SECONDS = 30.0  # a front that died before its answer was written must not hold its events for ever


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
        self.spawn = spawn
        self.title = ""
        self.branch = ""
        self.spent: Spent | None = None  # session totals, as of the last call that was counted
        self.cost_usd = 0.0
        self.prompts: list[str] = []  # the beginnings, for search
        self.on_roster: Callable[[], None] = lambda: None  # called when state, title, cost or asks may have changed
        self.observers: list[Callable[[Message], None]] = []  # each gets every message of the engine, typed
        self.updated_at = deps.clock()
        self.interactive = deps.interactive
        self.rules: list[SourcedRule] = []  # what the user allowed for this session
        self.turn_rules: list[SourcedRule] = []  # what skills and commands in use allow until the turn ends
        self.interrupted: Json | None = None  # a turn that a crash cut short (S4)
        self.damage_told = False
        self.closed = False
        self._left_asks: list[Json] = []  # nobody had answered when we were told to end
        self._on_change = on_change
        self.chosen_review: Review | None = None
        self._restoring = False
        self._waited = 0.0  # seconds
        self._waiting_since: float | None = None
        self.pending_reviews: list[WaitingReview] = []  # edits that wait for their hunks without an ask
        self._tools: tuple[AnyTool, ...] | None = None
        self.events = EventLog(self.id, epoch)
        self.moves = ProposalMoves(self.events)
        self.events.on_event = keeper(lambda event: record.note("shown", event=event))
        self.asks = Asks(self.events, on_change=self._asks_changed)
        self.rules_kept = LastingRules(self, deps.settings, deps.trust, deps.parse_rule)
        self.late = LateDecisions(on_change=self.save_state)
        self.orphans = Orphans(self, deps.proposals)
        self.turns = Turns(self, reopened=reopened)
        self.snips = Snips(self)
        self.jobs: Jobs | None = deps.jobs(self.id, self._job_changed) if deps.jobs else None
        self.spill = SpillFolder(record.paths.spill)
        self.history = FileHistory(record.paths.history)
        self.proposals = SavedProposals(self.id, deps.proposals, SavedList(record.paths.folder / "proposals.json"))
        self.workspace = TrackedWorkspace(
            deps.workspace(cwd, self.origin, lambda: "off" if self._restoring else self.review),
            self.history,
            at=lambda: record.end,
            turn_id=lambda: self.turn_id,
        )
        provided = deps.services(self.id, cwd)
        self.gate = Gate(
            self,
            decide=deps.decide,
            hooks=provided.hooks,
            classify=deps.classify,
            proposals=deps.proposals,
        )
        self.skills = SessionSkills(self)
        self._told: set[str] = set()  # what is wrong with files that define something
        self.repository = RepositorySnapshot(self._run_unasked)
        self.services = self._services(provided)
        self._settings_seen = self.settings
        self._cwd_seen = state.cwd
        record.on_append = self.turns.written
        state.on_change = self._state_changed

    def _services(self, provided: Services) -> Services:
        """What the program provides, and what is this session's own."""
        return replace(
            provided,
            workspace=self.workspace,
            roots=self.roots,
            env=lambda: with_exported(self.settings.get("env", {}), self.record.paths.folder),
            editor=self.deps.editor,
            jobs=self.jobs,
            spill=self.spill,
            tools=self.tools,
            commands=self._commands,
            skill_text=self._skill_text,
            attachment_sources=(*provided.attachment_sources, self.skills.hits),
            mcp_clients=self._mcp_clients,
            mentioned=self._mentioned,
            can_use_tool=self.gate.can_use_tool,
            handle_elicitation=self.elicit,
            transcript=self.record,
            state=lambda: self.state,
            abort=self.turns.abort_signal,
            waited_seconds=self.waited_seconds,
            take_queued=self.turns.take_queued,
            take_decisions=self._late_decisions,
            publish=self.turns.show,
            system_context=self.repository.text,
        )

    def _skill_text(self, name: str) -> str:
        """For agents that begin with a skill."""
        known = self.deps.definitions.of(self.cwd).usable_skills if self.deps.definitions is not None else ()
        return next((skill.body for skill in known if skill.name == name and not skill.shell), "")

    def _late_decisions(self, mine: Mine) -> Sequence[Attachment]:
        return self.late.take(self.deps.clock(), mine)

    def configuration(self) -> EngineConfig:
        """What the engine reads when a turn begins: the user's choices over the settings over the program's."""
        config = EngineConfig(
            session_id=self.id,
            cwd=self.turns.home or self.state.cwd,
            model=self.options.model,
            interactive=self.interactive,
            include_partial_messages=True,
        )
        return self.deps.configured(self.options.applied_to(config), self.settings)

    # --- as it is now ------------------------------------------------------------------------------------------------

    @property
    def inbox(self) -> Inbox:
        return self.turns.inbox

    @property
    def turn(self) -> Turn | None:
        return self.turns.current

    @property
    def turn_id(self) -> str:
        return self.turn.id if self.turn else ""

    @property
    def running(self) -> bool:
        return self.turn is not None

    @property
    def status(self) -> Literal["idle", "running", "waiting"]:
        if self.asks or self.pending_reviews:
            return "waiting"
        return "running" if self.running else "idle"

    @property
    def trusted(self) -> bool:
        return self.deps.trust.trusted(self.cwd)

    @property
    def settings(self) -> Settings:
        return self.deps.settings.load(self.cwd, trust=self.deps.trust.of(self.cwd)).with_rules(
            (*self.rules, *self.turn_rules)
        )

    @property
    def review(self) -> Review:
        """before in default mode, after where edits need no asking; off when nobody could look at a proposal."""
        if self.deps.proposals is None:
            return "off"
        return self._set_review or ("before" if self.state.mode in ("default", "plan", "dontAsk") else "after")

    @property
    def allowed_edits_wait(self) -> bool:
        """Whether an edit that needs no asking waits for its review: only where someone said so."""
        return self.deps.proposals is not None and self._set_review == "before"

    @property
    def _set_review(self) -> Review | None:
        """When edits are reviewed, where someone set it: for this session, or in the settings."""
        chosen = self.chosen_review or self.settings.get("review")
        return chosen if chosen in ("before", "after", "off") else None

    @property
    def folder(self) -> Path:
        """Where everything of it that is not conversation lies."""
        return self.record.paths.folder

    @property
    def transcript(self) -> Path:
        return self.record.path

    @property
    def effort(self) -> str:
        return self.options.effort or ""

    async def start_turn(self, prompt: str) -> None:
        """A prompt that no client sent: in a running turn it arrives between two steps."""
        await self.turns.send({"sessionId": self.id, "prompt": prompt, "whenBusy": "steer"}, Call())

    def tools(self) -> tuple[AnyTool, ...]:
        """Made anew when the settings changed; in between they stay the same objects."""
        if self._tools is None:
            made = self.deps.tools(self.cwd, self.judgement)
            skills = (Skill(self.skills.port()),) if self.deps.definitions is not None else ()
            self._tools = (*made, *skills)
        servers = self.mcp
        return self._tools if servers is None else (*self._tools, *servers.tools())

    def tool(self, name: str) -> AnyTool | None:
        return next((tool for tool in self.tools() if tool.name == name), None)

    @property
    def mcp(self) -> SessionServers | None:
        """The MCP servers of its folder (T9); None in a program that has none."""
        return self.deps.mcp.session(self.id, self.cwd, self.elicit) if self.deps.mcp is not None else None

    def _commands(self) -> Sequence[Command]:
        return (*session_commands(self), *(self.mcp.commands() if self.mcp is not None else ()))

    def _mcp_clients(self) -> Sequence[McpClient]:
        return self.mcp.clients() if self.mcp is not None else ()

    async def _mentioned(self, mention: str) -> str | None:
        return await read_mention(self.mcp, mention) if self.mcp is not None else None

    def judgement(self) -> Judgement:
        tools, trust = self.tools(), self.deps.trust.of(self.cwd)
        return Judgement(
            cwd=self.state.cwd,
            roots=self.roots(),
            mode=self.state.mode,
            trusted=trust.trusted,
            settings=self.deps.settings.load(self.cwd, trust=trust).with_rules((*self.rules, *self.turn_rules)),
            tools=tuple(tool.name for tool in tools),
            enabled=tuple(tool.name for tool in tools if tool.enabled(self.state)),
            read_roots=(str(self.record.paths.folder),),
            interactive=self.interactive,
        )

    def judging(self, call: ToolCall) -> None:
        self.deps.judging(self.id, call)

    def roots(self) -> tuple[str, ...]:
        roots = self.deps.roots()
        return roots if self.cwd in roots else (self.cwd, *roots)

    def origin(self) -> Origin:
        turn = self.turn
        prompt = text_of(turn.content) if turn else ""
        return Origin(session_id=self.id, turn_id=self.turn_id, prompt=prompt)

    def ask_timeout(self) -> float | None:
        seconds = self.settings.get("permissions.askTimeoutSeconds")
        return float(seconds) if seconds else None

    async def _run_unasked(self, command: str) -> str:
        """For our own reading: judged by the session's rules, run by its tools, and nobody is asked about it."""
        judgement = replace(self.judgement(), mode="default", interactive=False)
        return await run_unasked(
            command,
            decide=lambda action: self.deps.decide(action, judgement),
            tools=self.tools(),
            context=ToolContext(
                session_id=self.id,
                tool_use_id="",
                state=self.state,
                services=ToolServices(roots=self.roots, jobs=self.jobs),  # nothing of the editor's is saved for it
            ),
        )

    # --- requests ----------------------------------------------------------------------------------------------------

    async def send(self, params: Json, call: Call) -> Sent:
        return await self.turns.send(params, call)

    async def interrupt(self) -> Interrupted:
        return await self.turns.interrupt()

    def chose_model(self, model: str) -> None:
        """A slash command changed the model: it stays changed."""
        if model != self.options.model:
            self.options = replace(self.options, model=model)
            self.publish(Status(self.status, model=model))

    def limit(self, *, max_turns: int | None, max_budget_usd: float | None, json_schema: Json | None) -> None:
        """Limits for the turns to come; None leaves one as it is."""
        given = {"max_turns": max_turns, "max_budget_usd": max_budget_usd, "json_schema": json_schema}
        self.options = replace(self.options, **{name: value for name, value in given.items() if value is not None})

    def move_to_background(self, tool_use_id: str) -> str:
        """A running command or agent goes on without its call; the id of the job. Its end is told to the model (S5)."""
        moved = self.jobs.move_to_background(tool_use_id) if isinstance(self.jobs, ShellJobs) else None
        if moved is None and self.turns.agents is not None:
            moved = self.turns.agents.move_to_background(tool_use_id)
        if moved is None:
            hint = "Only a running command or agent can be moved."
            raise ProtocolError("invalidRequest", "This call does not run in the foreground", hint=hint)
        return moved

    def rename(self, title: str) -> None:
        self.title = " ".join(title.split())[:200]
        self.save_state()
        self._on_change(self)
        self.on_roster()

    async def elicit(self, elicitation: Elicitation) -> ElicitationAnswer:
        """A question to the user; nobody to ask is a decline."""
        if not self.interactive:
            return ElicitationAnswer(action="decline")
        return await elicited(self.asks, self.id, elicitation)

    # --- fronts ------------------------------------------------------------------------------------------------------

    def join(self, call: Call) -> None:
        """The caller's front hears this session from now on, but nothing before its answer is written."""
        if call.front is None:
            return
        subscription = self.events.subscribe(call.front)
        if call.answered is None:
            return
        answered = call.answered
        subscription.hold()

        async def release() -> None:
            try:
                with anyio.move_on_after(HOLD_SECONDS):
                    await answered.wait()
            finally:
                subscription.release()

        self.spawn(release)

    def leave(self, front: Front) -> None:
        self.events.unsubscribe(front)
        self.asks.detach(front)

    def publish(self, event: AnyEvent) -> None:
        self.events.publish(event)
        if isinstance(event, Status):
            self.on_roster()

    async def announce(self) -> None:
        await self.turns.announce()

    def notice(self, level: Level, text: str) -> None:
        self.publish(Notice(level, text))

    # --- what happens to it ------------------------------------------------------------------------------------------

    def settings_changed(self) -> None:
        """Rules are read anew at every decision; anything else counts from the next turn on."""
        settings = self.settings
        if settings.values != self._settings_seen.values:
            self._tools = None
        told = {str(problem) for problem in self._settings_seen.problems}
        for problem in settings.problems:
            if str(problem) not in told:
                self.notice("warning", str(problem))
        self._settings_seen = settings

    def observed(self, message: Message) -> None:
        for observer in self.observers:
            observer(message)

    async def refresh_definitions(self) -> None:
        """Commands, skills and agents as their files are now; what is wrong with one is told once."""
        definitions = self.deps.definitions
        if definitions is None:
            return
        with anyio.move_on_after(self.services.source_seconds * 4):
            for problem in (await definitions.load(self.cwd)).notices:
                if str(problem) not in self._told:
                    self._told.add(str(problem))
                    self.notice("warning", str(problem))

    def turn_begins(self, turn: Turn) -> None:
        self.interrupted = None
        if not self.title:
            self.title = title_of(turn.content)
        self.prompts.append(text_of(turn.content)[:200])
        self.record.note("turn", **turn.to_json())
        self.save_state()

    def turn_ended(self, result: Result) -> None:
        self.turn_rules.clear()
        self.cost_usd = result.total_cost_usd
        self.updated_at = self.deps.clock()
        self.save_state()
        self._on_change(self)

    def snapshot(self, path: str, before: FileText | None) -> None:
        """The editor is about to land a hunk in this file (S3)."""
        self.gate.landing(path)
        self.proposals.changed()
        try:
            self.history.before(path, before, at=self.record.end, turn_id=self.turn_id)
        except OSError as error:
            self.notice("warning", f"{path} can not be rewound: its content could not be saved ({error.strerror}).")

    @contextmanager
    def restoring(self) -> Generator[None]:
        """Files are being put back: these edits are the user's own wish and are not up for review."""
        self._restoring = True
        try:
            yield
        finally:
            self._restoring = False

    @contextmanager
    def reviewing(self, waiting: Sequence[Json]) -> Generator[None]:
        """An edit waits until people have looked at it: nobody should take that for work."""
        reviews = msgspec.convert(waiting, list[WaitingReview])
        self.pending_reviews += reviews
        for each in reviews:
            self.publish(ReviewPending(each.proposal_id, each.tool_use_id, each.hunks))
        self._show_status()
        try:
            yield
        finally:
            self.pending_reviews = [each for each in self.pending_reviews if each not in reviews]
            self._show_status()

    def went_back(self, offset: int) -> None:
        """The conversation is another one now: the engine is built again, the todo list is the one of that time."""
        self.turns.forget_engine()
        self.interrupted = None
        self.orphans.drop()
        self.late.clear()
        self.state.read_files.clear()
        then = transcript.last_entry(self.record.path, "session/state", before=offset)
        self.state.todos = cast("list[Json]", then.record.get("todos") or []) if then else []
        self.publish(Todos(wire_todos(self.state.todos)))
        self.save_state()

    def save_state(self) -> None:
        self.record.state(
            {
                "model": self.options.model,
                "options": options_json(self.options),
                "mode": self.state.mode,
                "cwd": self.state.cwd,
                "title": self.title,
                "branch": self.branch,
                "todos": list(self.state.todos),
                "plan": self.state.plan,
                "review": self.chosen_review,
                "turns": self.turns.count,
                "rules": [rule.rule for rule in self.rules if rule.behaviour == "allow"],
                "restrictions": [[rule.behaviour, rule.rule] for rule in self.rules if rule.behaviour != "allow"],
                "queue": [turn.to_json() for turn in self.inbox.unsaid()],
                "asks": self._left_asks or self.asks.pending("permission"),
                "late": self.late.to_json(),
                "snips": self.snips.to_json(),
            }
        )

    def trouble(self, error: OSError | None) -> None:
        if error is None:
            self.notice("info", "The conversation is being saved again.")
        else:
            why = error.strerror or str(error)
            self.notice("error", f"The conversation cannot be saved ({why}). It is kept in memory and tried again.")

    # --- the end -----------------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Ask the turn to end; `stopped` waits for it. A turn that is cut off instead shows as interrupted later."""
        if self.turn is not None and not self.closed:
            # The next process asks once more (Q11), so the call must stay unanswered in the file.
            mine = [ask for ask in self.asks.pending("permission") if ask.get("turnId") == self.turn_id]
            self._left_asks = [ask for ask in mine if not ask.get("parentToolUseId")]
            self.record.unanswered = frozenset(str(ask["toolUseId"]) for ask in self._left_asks)
        self.closed = True
        self.turns.abort(why=SHUT_DOWN)

    async def stopped(self) -> None:
        if self.turn is not None:
            await self.turn.done.wait()

    async def close_children(self) -> None:
        self.repository.close()
        if self.deps.mcp is not None:
            self.deps.mcp.leave(self.id)
        await self.turns.close_engine()
        if self.jobs is not None:
            await self.jobs.close()

    def shut(self) -> bool:
        """Save what is left and free the file; False when the disk did not take everything."""
        self.closed = True
        self.moves.close()
        self.events.flush()
        self.proposals.save()
        self.history.close()
        return self.record.close()

    # --- what changed ------------------------------------------------------------------------------------------------

    def _asks_changed(self) -> None:
        self.on_roster()
        if not self.closed:
            self.save_state()
        self._show_status()

    def waited_seconds(self) -> float:
        """How long this session has waited for people so far."""
        return self._waited + (time.monotonic() - self._waiting_since if self._waiting_since is not None else 0.0)

    def _show_status(self) -> None:
        waiting = self.status == "waiting"
        if waiting and self._waiting_since is None:
            self._waiting_since = time.monotonic()
            self._notify_waiting()
        elif not waiting and self._waiting_since is not None:
            self._waited, self._waiting_since = self.waited_seconds(), None
        if self.turn is not None:
            self.publish(Status(self.status))

    def _notify_waiting(self) -> None:
        hooks = self.deps.session_hooks
        if hooks is None or self.closed:
            return
        asks = self.asks.pending("permission")
        if asks:
            hooks.notify(self, "permission_prompt", f"Assent needs your permission: {asks[-1].get('title', '')}")
        else:
            hooks.notify(self, "elicitation_dialog", "Assent has a question for you.")

    def _state_changed(self, what: str) -> None:
        if what == "cwd" and self.deps.session_hooks is not None and self.state.cwd != self._cwd_seen:
            data = {"old_cwd": self._cwd_seen, "new_cwd": self.state.cwd}
            self._cwd_seen = self.state.cwd
            self.deps.session_hooks.tell(self, "CwdChanged", data)
        match what:
            case "todos":
                self.publish(Todos(wire_todos(self.state.todos)))
            case "plan":
                self.publish(PlanProposed(self.state.plan))
            case "mode":
                self.publish(Status(self.status, mode=self.state.mode))
            case _:
                pass
        self.save_state()

    def _job_changed(self, job: Json) -> None:
        self.events.publish(msgspec.convert(job, Job), outside_turn=True)
