"""One conversation while it lives: its settings, its questions, its events, its file. Its turns are in `turns`.

Everything a client can do to a session starts here. Not aware of wires or editors: clients are fronts. What its engine
works with is in `session_services`, what is saved of it in `stored_state`.
"""

from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from assent.editor.proposal import EditOrigin
from assent.engine.config import EngineConfig
from assent.engine.eliciting import elicit_with_hooks
from assent.engine.services import Services
from assent.sessions.asking.ask_answers import LastingRules
from assent.sessions.asking.asks import Asks, elicited
from assent.sessions.asking.gate import Gate
from assent.sessions.asking.orphans import Orphans
from assent.sessions.asking.permission_hooks import PermissionHooks
from assent.sessions.asking.review import EditReview
from assent.sessions.asking.review_time import ReviewTime
from assent.sessions.deps import EngineOptions, PermissionFacts, SessionDeps
from assent.sessions.files.added_folders import Folders
from assent.sessions.files.agent_places import Scratchpad
from assent.sessions.files.repository import RepositorySnapshot
from assent.sessions.files.session_files import SessionFiles
from assent.sessions.hooks import hook_handlers
from assent.sessions.live import model_switch
from assent.sessions.live.background_jobs import BackgroundJobs
from assent.sessions.live.change_news import ChangeNews
from assent.sessions.live.inbox import Inbox, QueuedTurn
from assent.sessions.live.late_decisions import LateDecisions
from assent.sessions.live.own_commands import run_in_session
from assent.sessions.live.problem_notices import ProblemNotices
from assent.sessions.live.promised import Promised
from assent.sessions.live.record import Record
from assent.sessions.live.session_snips import Snips
from assent.sessions.live.session_tools import SessionTools
from assent.sessions.live.trace_records import Traces
from assent.sessions.live.turns import SessionTurns
from assent.sessions.live.waiting import WaitingState
from assent.sessions.slash.commands import SessionCommands
from assent.sessions.slash.skills import SessionSkills
from assent.sessions.stream.event_log import EventLog
from assent.sessions.stream.front import Call
from assent.sessions.stream.moves import ProposalMoves
from assent.sessions.stream.shown import keeper
from assent.sessions.stream.translate import says_little, title_of
from assent.storage.agent_logs import AgentLogs
from assent.storage.settings import Settings, SourcedRule
from assent.storage.spill import SpillFolder
from assent.text.attached import own_words
from assent.tools.skill import Skill
from assent.tools.task_list import TaskBoard
from assent.tools.tool import AnyTool, SessionState
from assent.types.blocks import Json
from assent.types.hooks import HookEvent, HookOutcome
from assent.types.messages import Message, RequestStart, Result, Spent, ToolFinished
from assent.types.permissions import Mode
from assent.types.ports import Elicitation, ElicitationAnswer, FileText, ToolCall
from assent.types.usage import Usage
from assent.wire.asks import PendingAsk
from assent.wire.events import AnyEvent, Notice, Status
from assent.wire.requests import SessionSend
from assent.wire.shapes import Level

Spawn = Callable[[Callable[[], Coroutine[Any, Any, None]]], None]


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
        services: Callable[["Session", Services], Services],
        state_json: Callable[["Session"], Json],
        on_change: Callable[["Session"], None] = lambda _session: None,
        reopened: bool = False,
    ) -> None:
        """`services` adds what is the session's own to what the program provides; `state_json` gives what is saved."""
        self.id = record.paths.session_id
        self.deps = deps
        self.record = record
        self.cwd = cwd
        self.options = options
        self.state = state
        self.spawn = spawn
        self.title = ""
        self.passing_title = False  # taken from a prompt that says little; a later one may replace it
        self.branch = ""
        self.spent: Spent | None = None  # session totals, as of the last call that was counted
        self.cost_usd = 0.0
        self.prompts: list[str] = []  # the beginnings, for search
        self.on_roster: Callable[[], None] = lambda: None  # called when state, title, cost or asks may have changed
        self.observers: list[Callable[[Message], None]] = []  # each gets every message of the engine, typed
        self.updated_at = deps.clock()
        self.interactive = deps.interactive
        self.rules: list[SourcedRule] = []  # what the user allowed for this session
        self.more_roots: tuple[str, ...] = ()  # workspace folders that the client named for this session alone
        self.turn_rules: list[SourcedRule] = []  # what skills and commands in use allow until the turn ends
        self.interrupted: Json | None = None  # a turn that a crash cut short (S4)
        self.damage_told = False
        self.keeps_running = False  # its turn goes on when the last window has gone, where a host serves it
        self.closed = False
        self.left_asks: list[PendingAsk] = []  # asks that had no answer when the session was told to end
        self._on_change = on_change
        self._state_json = state_json
        self.review_time = ReviewTime(
            shown=deps.proposals is not None, settings=lambda: self.settings, mode=lambda: self.state.mode
        )
        self.events = EventLog(self.id, epoch)
        self.moves = ProposalMoves(self.events)
        self.events.on_event = keeper(lambda event: record.note("shown", event=event))
        self.asks = Asks(self.events, on_change=self._asks_changed)
        self.rules_kept = LastingRules(self, deps.settings, deps.trust, deps.parse_rule)
        self.late = LateDecisions(on_change=self.save_state)
        self.folders = Folders(self)
        provided = deps.services(self.id, cwd)
        self.hooks = provided.hooks
        permission_hooks = PermissionHooks(provided.hooks, session_id=self.id, cwd=lambda: self.permission_facts().cwd)
        self.edit_review = EditReview(self, deps.proposals, permission_hooks)
        self.orphans = Orphans(self, deps.proposals, self.edit_review)
        self.turns = SessionTurns(self, reopened=reopened)
        self.promised = Promised(jobs=lambda: self.jobs, engine=lambda: self.turns.engine.current)
        self._news = ChangeNews(self)
        self.waiting = WaitingState(self, self.turns, began=self._news.waiting_began)
        self.snips = Snips(self)
        self.traces = Traces(record, turn_id=lambda: self.turn_id, now=deps.clock)
        self.observers += (self.snips.observed, self.traces.observed)
        if deps.mcp is not None:
            self.observers.append(deps.mcp.observed(self.id))
        self.tasks = TaskBoard(on_change=self._news.tasks_changed)
        self.agent_logs = AgentLogs(record.paths.folder / "agents", secrets=deps.secrets)
        self.scratchpad = Scratchpad(self.id)
        self.spill = SpillFolder(record.paths.spill)
        self.files = SessionFiles(
            record,
            cwd=cwd,
            workspace=lambda review: deps.workspace(cwd, self.origin, review),
            review=lambda: self.review_time.now,
            proposals=deps.proposals,
            turn_id=lambda: self.turn_id,
            notice=self.notice,
        )
        self.background = BackgroundJobs(self, self.turns, self.files.history, self.start_turn)
        self.jobs = self.background.jobs
        self.gate = Gate(
            self, decide=deps.decide, hooks=permission_hooks, classify=deps.classify, review=self.edit_review
        )
        self.skills = SessionSkills(self)
        self.commands = SessionCommands(self)
        self.tools = SessionTools(self, make=self._own_tools, elicit=self._elicit_for_server)
        self.repository = RepositorySnapshot(partial(run_in_session, self, self.permission_facts))
        self.services = services(self, provided)
        self._problems = ProblemNotices(self.notice, self.settings)
        record.on_append = self.turns.output.written
        state.on_change = self._news.state_changed

    def configuration(self) -> EngineConfig:
        """What the engine reads when a turn begins: the user's choices over the settings over the program's."""
        config = EngineConfig(
            session_id=self.id,
            cwd=self.turns.engine.home or self.state.cwd,
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
    def turn(self) -> QueuedTurn | None:
        return self.turns.current

    @property
    def turn_id(self) -> str:
        return self.turn.id if self.turn else ""

    @property
    def running(self) -> bool:
        return self.turn is not None

    @property
    def trusted(self) -> bool:
        return self.deps.trust.trusted(self.cwd)

    @property
    def settings(self) -> Settings:
        return self.deps.settings.load(self.cwd, trust=self.deps.trust.of(self.cwd)).with_rules(
            (*self.rules, *self.turn_rules)
        )

    @property
    def folder(self) -> Path:
        """Where everything of it that is not conversation lies."""
        return self.record.paths.folder

    @property
    def transcript(self) -> Path:
        return self.record.path

    @property
    def model(self) -> str:
        return self.options.model

    @property
    def effort(self) -> str:
        return self.options.effort or ""

    async def start_turn(self, prompt: str) -> None:
        """A prompt that no client sent: in a running turn it arrives between two steps."""
        await self.turns.send(SessionSend(self.id, prompt, when_busy="steer"), Call())

    async def run_hook_agent(self, model: str, system: str, prompt: str) -> str:
        return await hook_handlers.run_agent(self, model, system, prompt)

    async def call_mcp(self, server: str, tool: str, given: Json) -> tuple[str, bool]:
        return await hook_handlers.call_mcp(self, server, tool, given)

    def book(self, model: str, usage: Usage, cost_usd: float, opened: int) -> None:
        """A call beside the conversation counts as this session's (Q9)."""
        self.turns.book(model, usage, cost_usd, opened)

    def _own_tools(self) -> Sequence[AnyTool]:
        skills = (Skill(self.skills.port()),) if self.deps.definitions is not None else ()
        return (*self.deps.tools(self.cwd, self.permission_facts), *skills)

    def permission_facts(self) -> PermissionFacts:
        tools, trust = self.tools.with_agents(), self.deps.trust.of(self.cwd)
        return PermissionFacts(
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
        roots = (*self.deps.roots(), *self.more_roots, *self.folders.added)
        roots = roots if self.cwd in roots else (self.cwd, *roots)
        return roots if self.scratchpad.path is None else (*roots, str(self.scratchpad.path))

    def origin(self) -> EditOrigin:
        turn = self.turn
        prompt = own_words(turn.content) if turn else ""
        return EditOrigin(session_id=self.id, turn_id=self.turn_id, prompt=prompt)

    def ask_timeout(self) -> float | None:
        seconds = self.settings.get("permissions.askTimeoutSeconds")
        return float(seconds) if seconds else None

    # --- requests ----------------------------------------------------------------------------------------------------

    def chose_model(self, model: str) -> None:
        """A slash command changed the model: it stays changed."""
        before = self.options.model
        if model != before:
            self.options = replace(self.options, model=model)
            self.publish(Status(self.waiting.status, model=model))
            model_switch.told(self, before)

    def set_mode(self, mode: Mode) -> None:
        self.state.mode = mode
        self.state.on_change("mode")

    def add_folder(self, folder: str) -> str:
        return self.folders.add(folder)

    def remove_folder(self, folder: str) -> None:
        self.folders.remove(folder)

    def limit(self, *, max_turns: int | None, max_budget_usd: float | None, json_schema: Json | None) -> None:
        """Limits for the turns to come; None leaves one as it is."""
        given = {"max_turns": max_turns, "max_budget_usd": max_budget_usd, "json_schema": json_schema}
        self.options = replace(self.options, **{name: value for name, value in given.items() if value is not None})

    def rename(self, title: str) -> None:
        self.title = " ".join(title.split())[:200]
        self.passing_title = False
        self.save_state()
        self._on_change(self)
        self.on_roster()

    async def elicit(self, elicitation: Elicitation) -> ElicitationAnswer:
        """Ask the user a question; without a user to ask, the answer is a decline."""
        if not self.interactive:
            return ElicitationAnswer(action="decline")
        return await elicited(self.asks, self.id, elicitation)

    async def _elicit_for_server(self, elicitation: Elicitation) -> ElicitationAnswer:
        """A question of a server that belongs to no call of a turn."""
        hooks = self.deps.session_hooks

        async def run_hooks(event: HookEvent, data: Json, server: str) -> list[HookOutcome]:
            return await hooks.fire(self, event, data, subject=server) if hooks is not None else []

        return await elicit_with_hooks(elicitation, run_hooks, lambda: self.elicit(elicitation))

    # --- fronts ------------------------------------------------------------------------------------------------------

    def publish(self, event: AnyEvent) -> None:
        self.events.publish(event)
        if isinstance(event, Status):
            self.on_roster()

    def reviewing(self, waiting: Sequence[Json]) -> AbstractContextManager[None]:
        return self.waiting.reviewing(waiting)

    async def announce(self) -> None:
        await self.turns.announce()

    def notice(self, level: Level, text: str) -> None:
        self.publish(Notice(level, text))

    # --- what happens to it ------------------------------------------------------------------------------------------

    def settings_changed(self) -> None:
        """Rules are read anew at every decision; anything else counts from the next turn on."""
        if self._problems.settings_changed(self.settings):
            self.tools.forget()

    def observed(self, message: Message) -> None:
        if isinstance(message, RequestStart) and not self.files.effects.prepared:
            self.spawn(self.files.effects.prepare)
        for observer in self.observers:
            observer(message)
        if isinstance(message, ToolFinished) and message.tool in ("Agent", "Skill"):
            self.save_state()  # it may go on in the background

    async def refresh_definitions(self, *, most: float = 0.0) -> None:
        """Load commands, skills and agents from their files; each problem is shown once. A slow disk gets `most` s."""
        definitions = self.deps.definitions
        if definitions is None:
            return
        with anyio.move_on_after(max(most, self.services.source_seconds * 4)):
            self._problems.definitions_loaded((await definitions.load(self.cwd)).notices)

    def turn_begins(self, turn: QueuedTurn) -> None:
        self.interrupted = None
        title = title_of(turn.content)
        if not self.title or (self.passing_title and not says_little(title)):
            self.title, self.passing_title = title, says_little(title)
        self.prompts.append(own_words(turn.content)[:200])
        self.record.note("turn", **turn.to_json())
        self.save_state()
        self._on_change(self)  # the list must know it by its title also if this turn is cut off

    def turn_ended(self, result: Result) -> None:
        self.turn_rules.clear()
        self.promised.turn_ended()
        self.cost_usd = result.total_cost_usd
        self.updated_at = self.deps.clock()
        self.save_state()
        self._on_change(self)
        self.background.report_ended()
        self.publish(Status(self.waiting.status))  # a background agent may still ask

    def snapshot(self, path: str, before: FileText | None) -> None:
        """The editor is about to land a hunk in this file (S3)."""
        self.edit_review.landing(path)
        self.files.before_landing(path, before)

    async def settled(self, path: str) -> None:
        """Hunks of this file were decided: file history notes what that left."""
        await self.files.workspace.settled(path)

    def save_state(self) -> None:
        self.record.state(self._state_json(self))

    # --- what changed ------------------------------------------------------------------------------------------------

    def _asks_changed(self) -> None:
        self.on_roster()
        if not self.closed:
            self.save_state()
        self.waiting.changed()
