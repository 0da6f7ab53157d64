"""The one place that wires concretes together: model, tools, permissions, storage, editor, sessions.

`build` is what the language server calls once a client has introduced itself; `headless` is for scripts, with nobody
to ask and no editor. Neither imports anything heavy: `App.warm_up` does that in the background.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self, cast

from assent.assembly.deciding import Deciding
from assent.assembly.defined_files import auto_memory_file, standard_definitions
from assent.assembly.engine_config import configured
from assent.assembly.model_access import ModelAccess, model_access
from assent.assembly.program_answers import ProgramAnswers
from assent.assembly.tool_set import tool_set
from assent.editor.client_edits import ClientEdits, NoClient
from assent.editor.editor import Editor
from assent.editor.proposal import EditOrigin
from assent.editor.proposal import Review as ReviewMode
from assent.engine.services import Services
from assent.engine.side_calls.server_sampling import ServerSampling
from assent.engine.side_calls.single_calls import SideCalls
from assent.extensions.auto_memory import AutoMemory
from assent.extensions.hooks import Hook, InProcessHooks
from assent.extensions.hooks.in_process import HookFunction
from assent.model.choice import Models
from assent.model.endpoint_findings import Findings
from assent.model.model_settings import model_settings
from assent.model.tracing import TraceFile
from assent.permissions.rules import parse_rule
from assent.sessions.deps import PermissionFacts, SessionDeps
from assent.sessions.hooks.hook_connections import HookConnections
from assent.sessions.hooks.session_hooks import SessionHooks
from assent.sessions.hub import Sessions
from assent.sessions.mcp import Mcp
from assent.sessions.mcp_news import McpNews
from assent.sessions.slash.commands import built_in_rows, file_rows, prompt_rows
from assent.sessions.turnstile import Turnstile
from assent.storage import paths
from assent.storage.files import write_atomically
from assent.storage.settings import SettingsFiles
from assent.storage.trust import UNTRUSTED, TrustStore
from assent.storage.turn_slots import TurnSlots
from assent.text.positions import Encoding
from assent.tools.builtin import builtin_tools
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.process import sandbox
from assent.tools.process.environment import user_environment
from assent.tools.process.jobs import ShellJobs
from assent.tools.tool import AnyTool, Summarise
from assent.tools.worktrees.worktree_records import sweep
from assent.types.blocks import Json
from assent.types.hooks import HookEvent
from assent.types.permissions import Ask
from assent.types.ports import FileText, ToolCall, Workspace
from assent.types.private_files import tighten
from assent.types.usage import Usage

if TYPE_CHECKING:
    from assent.acp.host import ClientAccess as AcpHost
    from assent.lsp.backend import Backend
    from assent.lsp.client import ConnectedClient


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line says about the whole program."""

    offline: bool = False
    interactive: bool = True
    settings: Json | None = None
    api_key: str | None = None  # handed over by the editor
    source_seconds: float = 0.25  # how long the first prompt of a session waits for memory
    context_seconds: float = 0.0  # and for git; what is later follows as an attachment
    record: Path | None = None  # write the model's traffic there
    trace: Path | None = None  # write a line for each model call there: chain, times, tokens
    replay: Path | None = None  # answer from such a file, without an endpoint
    bare: bool = False  # no work in the background after a turn (L13); everything else as always
    project_settings: bool = True  # False: a program that embeds us wants only the user's own
    tools: tuple[AnyTool, ...] = ()  # of a program that embeds us
    check_answer: Callable[[Json], None] | None = None  # the same program's word on structured output


def build(client: "ConnectedClient", editor: ClientEdits, *, options: Options) -> "Backend":
    """For the language server: `client` is what the editor said of itself, `editor` its side of documents."""
    from assent.lsp.backend import Backend

    key = client.options.api_key
    app = App(
        client=editor,
        roots=client.roots,
        encoding=cast("Encoding", client.encoding),
        options=replace(options, api_key=key) if key else options,
    )
    return Backend(
        sessions=app.sessions,
        editor=app.editor,
        settings=app.settings,
        trust=app.trust,
        status=app.status,
        explain=app.deciding.explain,
        check_key=partial(app.answers.check_key, app.access),
        offered_models=app.offered_models,
        mcp=app.mcp,
        running=app,
        warm_up=app.warm_up,
    )


def build_acp(host: "AcpHost", *, options: Options) -> "App":
    return App(client=NoClient(), roots=lambda: (), encoding="utf-16", options=options, acp=host)


def headless(options: Options) -> "App":
    return App(client=NoClient(), roots=lambda: (), encoding="utf-16", options=options)


class App:
    def __init__(
        self,
        *,
        client: ClientEdits,
        roots: Callable[[], tuple[str, ...]],
        encoding: Encoding,
        options: Options,
        acp: "AcpHost | None" = None,
        many: bool = False,
    ) -> None:
        """`many`: editors come and go, `client` speaks for all of them."""
        self._many = many
        self._home = str(Path.home())
        self._roots = roots
        self._client = client
        self._acp = acp
        self._options = options
        self._interactive = options.interactive
        self.settings = SettingsFiles.standard(
            cli=options.settings, parse_rule=parse_rule, project=options.project_settings
        )
        self.trust = TrustStore(paths.config_dir() / "trust.json")
        self.deciding = Deciding(self.settings, self.trust, roots)
        self.answers = ProgramAnswers(self.settings, self.trust, self.deciding.policy, roots)
        self.turn_slots = TurnSlots(paths.data_dir() / "turns", self._most_turns)
        self._trace_file = TraceFile(options.trace) if options.trace is not None else None
        self.access = self.access_for(api_key=options.api_key, offline=options.offline)
        self.models = self.access.models
        self.definitions = standard_definitions(
            home=self._home, trust=self.trust, plugin_settings=self._plugin_settings
        )
        self.settings.more_items = self.definitions.items
        self.hooks = InProcessHooks()  # for whoever embeds the program
        self.session_hooks = SessionHooks(
            HookConnections(
                settings=self.settings,
                trust=self.trust,
                live=lambda: self.sessions.live,
                call_model=self.access.call,
                small_model=lambda: self.models.small_model,
                written_model=self.models.written,
                book=self._book,
                secrets=self.models.secrets,
                matches_rule=self.deciding.matches_rule,
                of_plugins=self.definitions.plugin_hooks,
            ),
            in_process=self.hooks,
            told_file=paths.data_dir() / "told" / "other-tools-hooks",
        )
        self.disk = DiskWorkspace()
        self.mcp = Mcp(
            settings=self.settings,
            trust=self.trust,
            data_dir=paths.data_dir(),
            config_dir=paths.config_dir(),
            environment=lambda: user_environment(secrets=self.models.secrets()),
            roots=roots,
            plugins=self.definitions.plugin_servers,
            sample=ServerSampling(self.access.call, models=self._models_of, book=self._book),
            changed=McpNews(lambda cwd: self.mcp.list(cwd), lambda: self.sessions.live.values()).changed,
        )
        self._turnstile = Turnstile()  # of all sessions, however they reach their models
        self.editor = Editor(client, self.disk, encoding=encoding, snapshot=self._snapshot)
        self.sessions = Sessions(self.session_deps(self.access))
        self._watching: asyncio.Task[None] | None = None

    # --- life --------------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        await self.sessions.__aenter__()
        self._watching = asyncio.create_task(self.editor.watch(), name="watching files under review")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watching is not None:
            self._watching.cancel()
        await self.sessions.__aexit__(kind, error, trace)
        await self.session_hooks.aclose()
        await self.mcp.aclose()
        await self.models.aclose()

    def add_hook(self, event: HookEvent, run: HookFunction, *, matcher: str = "", timeout: float = 60.0) -> None:
        """A function of the program that embeds us, run at every such event."""
        self.hooks.add(Hook(event=event, run=run, matcher=matcher, timeout=timeout))

    def warm_up(self) -> None:
        """Load what the first turn needs: definitions, tools, the shell grammar, the model's SDK. Runs in a thread."""
        from assent.permissions.shell.syntax.grammar import warm_up as load_grammar

        import_module("assent.permissions.chain")  # its tables
        for root in self._roots():
            self.definitions.load_now(root)
            self.definitions.memory.load_now(root)
        for tool in builtin_tools(editor=True):
            tool.input_schema()
        load_grammar()
        tighten(paths.data_dir())
        sweep(paths.data_dir() / "worktrees")  # what a killed process left of its agents
        if self._roots():  # before a workspace is known, nobody can say that the fence's program is not one of its own
            sandbox.available()
        asyncio.run(self.models.warm_up())

    # --- what the wire asks of the program ---------------------------------------------------------------------------

    def status(self) -> Json:
        return self.answers.status(self.access)

    async def offered_models(self, cwd: str, refresh: bool) -> Json:
        return await self.answers.offered_models(self.access, cwd, refresh)

    def mcp_servers(self, cwd: str) -> list[Json]:
        """[{name, status}], as a new session lists them."""
        return [{"name": server["name"], "status": server["status"]} for server in self.mcp.list(cwd)]

    # --- wiring ------------------------------------------------------------------------------------------------------

    def access_for(self, *, api_key: str | None, offline: bool, env: Mapping[str, str] | None = None) -> ModelAccess:
        """How models are reached, and as whom. Only the user's own settings count; `SettingsFiles` drops what a project
        says. `env`: instead of our own environment."""
        own = model_settings(self.settings.load(self._home, trust=UNTRUSTED).values, api_key=api_key)
        if env is not None:
            own = replace(own, endpoint=replace(own.endpoint, env=env))
        models = Models(own, offline_only=offline, findings=Findings(paths.data_dir()))
        options = self._options
        return model_access(
            models,
            record=options.record,
            replay=options.replay,
            traced=self._traced,
            book=self._book,
        )

    def _plugin_settings(self) -> Json:
        """What the user's own settings say; a project has no say in plugins."""
        return self.settings.load(self._home, trust=UNTRUSTED).get("plugins", {})

    def _most_turns(self) -> int | None:
        most = self.settings.load(self._home, trust=UNTRUSTED).typed.max_running_turns
        return most if isinstance(most, int) else None

    def _nice(self) -> int:
        return self.settings.load(self._home, trust=UNTRUSTED).typed.host_nice

    def session_deps(self, access: ModelAccess) -> SessionDeps:
        """What sessions need that reach their models in this way."""
        models = access.models
        return SessionDeps(
            services=partial(self._services, access),
            configured=partial(configured, models=models, definitions=self.definitions, bare=self._options.bare),
            tools=partial(self._tools, models),
            decide=self.deciding.decide,
            workspace=self._workspace,
            settings=self.settings,
            trust=self.trust,
            data_dir=paths.data_dir(),
            default_model=models.default_model,
            choose_model=models.reachable,
            require_model=models.require,
            model_info=models.info,
            roots=self._roots,
            jobs=lambda _session, on_change: ShellJobs(on_change, nice=self._nice),
            turnstile=self._turnstile,
            proposals=self.editor.proposals if self._acp is None else None,  # ACP has no review of hunks
            editor=self._client if self._client.can_query or self._many else None,
            definitions=self.definitions,
            commands=lambda cwd, _trusted: [
                *built_in_rows(),
                *file_rows(self.definitions, cwd),
                *prompt_rows(self.mcp.prompts(cwd)),
            ],
            agents=lambda cwd, _trusted: [
                {"name": agent.name, "description": agent.description}
                for agent in self.definitions.of(cwd).usable_agents
            ],
            mcp_servers=self.mcp_servers,
            mcp=self.mcp,
            parse_rule=parse_rule,
            judging=self._judging,
            terminal=(lambda _session: None) if self._acp is None else self._acp.terminal,
            session_hooks=self.session_hooks,
            classify=partial(self._classify, access.side_calls),
            secrets=models.secrets,
            interactive=self._interactive,
            turn_slots=self.turn_slots,
        )

    def _services(self, access: ModelAccess, session_id: str, cwd: str) -> Services:
        """What the program provides to the engine of one session."""
        models = access.models
        return Services(
            call_model=access.call,
            model_info=models.info,
            written_model=models.written,
            source_seconds=self._options.source_seconds,
            context_seconds=self._options.context_seconds,
            search_web=None if models.offline else partial(access.side_calls.search, session_id),
            summariser=partial(self._summariser, access, session_id, cwd),
            agents=lambda: self.definitions.of(cwd).usable_agents,
            may_read=partial(self._may_read, session_id),
            hooks=self.session_hooks.hooks,
            scoped_hooks=self.session_hooks.runner,
            memory=self.definitions.memory,
            auto_memory=AutoMemory(auto_memory_file(cwd), write=write_atomically, secrets=models.secrets),
            check_answer=self._options.check_answer,
        )

    def _traced(self, session_id: str, record: Json) -> None:
        self.sessions.traced(session_id, record)
        if self._trace_file is not None:
            self._trace_file.write({"sessionId": session_id, **record})

    def _summariser(self, access: ModelAccess, session_id: str, cwd: str) -> Summarise | None:
        wanted = self.settings.load(cwd, trust=self.trust.of(cwd)).typed.background_calls
        return partial(access.side_calls.read_page, session_id) if wanted.summary else None

    async def _classify(
        self, calls: SideCalls, session_id: str, call: ToolCall, ask: Ask
    ) -> Literal["allow", "deny", "ask"]:
        """Auto mode's classifier, told what hooks had to say to it."""
        notes = self.session_hooks.notes.get(session_id)
        if notes:
            ask = replace(ask, reason="\n".join([ask.reason, "What hooks said of earlier calls:", *notes]))
        return await calls.classify(session_id, call, ask)

    def _models_of(self, session_id: str) -> tuple[str, str]:
        """The session's model, and the small one."""
        session = self.sessions.live.get(session_id)
        return (session.options.model if session is not None else self.models.default_model), self.models.small_model

    def _book(self, session_id: str, model: str, usage: Usage, cost_usd: float, opened: int) -> None:
        """A call beside the conversation counts as the session's (Q9)."""
        session = self.sessions.live.get(session_id)
        if session is not None:
            session.book(model, usage, cost_usd, opened)

    def _tools(self, models: Models, cwd: str, current: Callable[[], PermissionFacts]) -> Sequence[AnyTool]:
        built_in = tool_set(
            cwd,
            current,
            deciding=self.deciding,
            settings=self.settings.load(cwd, trust=self.trust.of(cwd)),
            definitions=self.definitions,
            secrets=models.secrets,
            editor=self._client.can_query,
        )
        return (*built_in, *self._options.tools)

    def _may_read(self, session_id: str) -> Callable[[str], bool] | None:
        session = self.sessions.live.get(session_id)
        return self.deciding.readable(session.permission_facts()) if session is not None else None

    def _workspace(self, cwd: str, origin: Callable[[], EditOrigin], review: Callable[[], ReviewMode]) -> Workspace:
        if self._acp is not None:
            return self._acp.workspace(self.disk, lambda: origin().session_id)
        return self.editor.workspace(origin=origin, review=review)

    async def _snapshot(self, origin: EditOrigin, path: str, before: FileText | None) -> None:
        await self.sessions.snapshot(origin, path, before)

    def _judging(self, session_id: str, call: ToolCall) -> None:
        """Over ACP an ask carries no proposal, so its front looks at the call itself."""
        if self._acp is not None:
            self._acp.judging(session_id, call)
