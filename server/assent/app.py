"""The one place that wires concretes together: model, tools, permissions, storage, editor, sessions.

`build` is what the language server calls once a client has introduced itself; `headless` is for scripts, with nobody
to ask and no editor. Neither imports anything heavy: `App.warm_up` does that in the background.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

import msgspec

from assent.context.microcompact import endpoint_edit
from assent.context.thresholds import thresholds
from assent.editor.client import ClientEdits, NoClient
from assent.editor.editor import Editor
from assent.editor.proposal import Origin
from assent.editor.proposal import Review as ReviewMode
from assent.engine.config import BackgroundCall, EngineConfig
from assent.engine.services import Services
from assent.engine.side_calls import SideCalls
from assent.extensions.auto_memory import AutoMemory
from assent.extensions.catalogue import Catalogues
from assent.extensions.hooks import Hook, InProcessHooks
from assent.extensions.hooks.in_process import HookFunction
from assent.extensions.memory import MemoryFiles
from assent.extensions.places import Surroundings
from assent.extensions.plugins.store import Plugins
from assent.model.choice import Models
from assent.model.recording import recording, replaying
from assent.model.settings import ModelSettings, model_settings
from assent.permissions.context import PermissionContext
from assent.permissions.managed import ManagedPolicy
from assent.permissions.rules import EDITORS, READERS, RuleSet, parse_rule
from assent.sessions.definitions import Definitions
from assent.sessions.deps import Judgement, SessionDeps
from assent.sessions.hub import Sessions
from assent.sessions.mcp import Mcp
from assent.sessions.session_hooks import SessionHooks
from assent.sessions.slash.commands import RESERVED, built_in_rows, file_rows
from assent.storage import paths
from assent.storage.files import write_atomically
from assent.storage.settings import Settings, SettingsFiles
from assent.storage.trust import EVERYTHING, UNTRUSTED, TrustStore
from assent.text.positions import Encoding
from assent.tools.files.workspace import DiskWorkspace
from assent.tools.process import sandbox
from assent.tools.process.environment import child_environment
from assent.tools.process.fence import Fences
from assent.tools.process.jobs import ShellJobs
from assent.tools.registry import builtin_tools
from assent.tools.tool import AnyTool, Summarise
from assent.types.blocks import Json
from assent.types.hooks import HookEvent
from assent.types.permissions import Action, Ask, Decision, Deny
from assent.types.ports import CallModel, ToolCall, Workspace
from assent.types.private_files import tighten
from assent.types.programs import user_path
from assent.types.usage import Usage
from assent.wire.events import McpChanged
from assent.wire.extensions import McpServerState

if TYPE_CHECKING:
    from assent.acp.host import Host as AcpHost
    from assent.lsp.backend import Backend
    from assent.lsp.client import Client

BACKGROUND_CALLS: tuple[BackgroundCall, ...] = ("summary", "collapse", "suggestion", "memory", "dream")
CACHE_LIFE = {"5m": 300.0, "1h": 3600.0, "off": 0.0}  # seconds


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
    replay: Path | None = None  # answer from such a file, without an endpoint
    project_settings: bool = True  # False: a program that embeds us wants only the user's own
    tools: tuple[AnyTool, ...] = ()  # of a program that embeds us


def build(client: "Client", editor: ClientEdits, *, options: Options) -> "Backend":
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
        explain=app.explain,
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
    ) -> None:
        self._home = str(Path.home())
        self._roots = roots
        self._client = client
        self._acp = acp
        self._options = options
        self._interactive = options.interactive
        self.settings = SettingsFiles.standard(
            cli=options.settings, parse_rule=parse_rule, project=options.project_settings
        )
        self._policy = ManagedPolicy(self.settings.policy_file)
        self.trust = TrustStore(paths.config_dir() / "trust.json")
        self.models = Models(self._model_settings(options), offline_only=options.offline)
        self._call_model = _call_model(self.models, options)
        self.models.secrets()  # from here on they are held back from logs, index, spilled results and exports
        self.side_calls = SideCalls(self._call_model, model=lambda: self.models.small_model, book=self._book)
        self.definitions = self._definitions()
        self.settings.more_items = self.definitions.items
        self.hooks = InProcessHooks()  # for whoever embeds the program
        self.session_hooks = SessionHooks(
            settings=self.settings,
            trust=self.trust,
            live=lambda: self.sessions.live,
            call_model=self.models.call,
            small_model=lambda: self.models.small_model,
            book=self._book,
            secrets=self.models.secrets,
            matches_rule=self._matches_rule,
            in_process=self.hooks,
            told_file=paths.data_dir() / "told" / "other-tools-hooks",
        )
        self.session_hooks.of_plugins = self.definitions.plugin_hooks
        self._fences = Fences(home=self._home, own=_own_dirs())
        self.disk = DiskWorkspace()
        self._mcp_news: set[str] = set()
        self.mcp = Mcp(
            settings=self.settings,
            trust=self.trust,
            data_dir=paths.data_dir(),
            config_dir=paths.config_dir(),
            environment=lambda: child_environment({**os.environ, "PATH": user_path()}, secrets=self.models.secrets()),
            roots=roots,
            changed=self._mcp_changed,
        )
        self.editor = Editor(client, self.disk, encoding=encoding, snapshot=self._snapshot)
        self.sessions = Sessions(self._session_deps())
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
        """Load what the first turn needs: the model's SDK and the shell grammar. Runs in a thread."""
        from assent.permissions.shell.syntax.grammar import warm_up as load_grammar

        import_module("assent.permissions.chain")  # its tables
        for root in self._roots():
            self.definitions.load_now(root)
            self.definitions.memory.load_now(root)
        load_grammar()
        tighten(paths.data_dir())
        if self._roots():  # before a workspace is known, nobody can say that the fence's program is not one of its own
            sandbox.available()
        asyncio.run(self.models.warm_up())

    # --- what the wire asks of the program ---------------------------------------------------------------------------

    def status(self) -> Json:
        return {
            "model": self.models.default_model,
            "offline": self.models.offline,
            "credentials": self.models.credentials.source,
            "warnings": self._warnings(),
        }

    def _warnings(self) -> list[Json]:
        """What is wrong with the settings that count here, once each."""
        found: dict[str, Json] = {}
        for folder in self._roots() or (self._home,):
            for problem in self.settings.load(folder, trust=self.trust.of(folder)).problems:
                found[str(problem)] = {"kind": "settings", "text": str(problem), "hint": problem.hint}
        for text in self._policy.current().problems:
            found[text] = {"kind": "policy", "text": text, "hint": "Ask whoever manages this machine."}
        return list(found.values())

    async def explain(self, params: Json) -> Json:
        cwd = str(params.get("cwd") or next(iter(self._roots()), ""))
        trusted = bool(params.get("trusted", True))
        named = cwd.startswith("/") and "\0" not in cwd  # otherwise `explain` says so
        settings = self.settings.load(cwd, trust=EVERYTHING if trusted else UNTRUSTED) if named else Settings()
        from assent.permissions.explain import explain

        answer = explain(params, context=self._context(cwd, settings))
        if params.get("tool") == "Bash":
            answer["sandbox"] = await asyncio.to_thread(sandbox.available)  # as `assent explain` says it
        return answer

    def mcp_servers(self, cwd: str) -> list[Json]:
        """[{name, status}], as a new session lists them."""
        return [{"name": server["name"], "status": server["status"]} for server in self.mcp.list(cwd)]

    def _mcp_changed(self, folder: str) -> None:
        """One event for many changes, to the sessions of the folder."""
        if folder in self._mcp_news:
            return
        self._mcp_news.add(folder)

        def publish() -> None:
            self._mcp_news.discard(folder)
            event = McpChanged(msgspec.convert(self.mcp.list(folder), list[McpServerState]))
            for session in list(self.sessions.live.values()):
                if session.cwd == folder and not session.closed:
                    session.publish(event)

        asyncio.get_running_loop().call_later(0.05, publish)

    # --- wiring ------------------------------------------------------------------------------------------------------

    def _model_settings(self, options: Options) -> ModelSettings:
        """How models are reached. Only the user's own settings count; `SettingsFiles` drops what a project says."""
        return model_settings(self.settings.load(self._home, trust=UNTRUSTED).values, api_key=options.api_key)

    def _definitions(self) -> Definitions:
        around = Surroundings(self._home, str(paths.config_dir()))
        plugins = Plugins(paths.data_dir() / "plugins", write=write_atomically)
        return Definitions(
            catalogues=Catalogues(around, plugins=plugins.places, reserved=RESERVED),
            memory=MemoryFiles(
                user_dirs=(paths.config_dir(),),
                home=Path(self._home),
                auto=_notes,
                claude_home=Path(around.claude_home),
            ),
            plugins=plugins,
            trust=self.trust,
        )

    def _session_deps(self) -> SessionDeps:
        return SessionDeps(
            services=self._services,
            configured=self._configured,
            tools=self._tools,
            decide=self._decide,
            workspace=self._workspace,
            settings=self.settings,
            trust=self.trust,
            data_dir=paths.data_dir(),
            default_model=self.models.default_model,
            choose_model=self.models.reachable,
            require_model=self.models.require,
            model_info=self.models.info,
            roots=self._roots,
            jobs=lambda _session, on_change: ShellJobs(on_change),
            proposals=self.editor.proposals if self._acp is None else None,  # ACP has no review of hunks
            editor=self._client if self._client.can_query else None,
            definitions=self.definitions,
            commands=lambda cwd, _trusted: [*built_in_rows(), *file_rows(self.definitions, cwd)],
            agents=lambda cwd, _trusted: [
                {"name": agent.name, "description": agent.description}
                for agent in self.definitions.of(cwd).usable_agents
            ],
            mcp_servers=self.mcp_servers,
            mcp=self.mcp,
            parse_rule=parse_rule,
            judging=self._judging,
            session_hooks=self.session_hooks,
            classify=self.side_calls.classify,
            secrets=self.models.secrets,
            interactive=self._interactive,
        )

    def _services(self, session_id: str, cwd: str) -> Services:
        """What the program provides to the engine of one session."""
        return Services(
            call_model=self._call_model,
            model_info=self.models.info,
            source_seconds=self._options.source_seconds,
            context_seconds=self._options.context_seconds,
            search_web=None if self.models.offline else partial(self.side_calls.search, session_id),
            summariser=partial(self._summariser, session_id, cwd),
            agents=lambda: self.definitions.of(cwd).usable_agents,
            hooks=self.session_hooks.hooks,
            memory=self.definitions.memory,
            auto_memory=AutoMemory(_notes(cwd), write=write_atomically, secrets=self.models.secrets),
        )

    def _configured(self, config: EngineConfig, settings: Settings) -> EngineConfig:
        """What the settings and the models say of an engine, beside what the user chose for the session."""
        wanted = cast("dict[str, bool]", settings.get("backgroundCalls", {}))
        return replace(
            self._styled(config, settings),
            small_model=settings.get("smallModel") or self.models.small_model,
            memory=settings.typed.memory,
            background_calls=frozenset(call for call in BACKGROUND_CALLS if wanted.get(call)),
            cache_seconds=CACHE_LIFE[self.models.cache],
            context_edits=self._context_edits(config.model, settings),
            persistent=settings.typed.persistent_retry,
            key_source=self.models.credentials.source,
        )

    def _styled(self, config: EngineConfig, settings: Settings) -> EngineConfig:
        """With the output style that the settings name; a prompt that the caller gave stays as it is."""
        style = self.definitions.of(config.cwd).style(str(settings.get("outputStyle") or ""))
        if style is None or not style.prompt or config.custom_system_prompt is not None:
            return config
        if not style.keep_coding_instructions:
            return replace(config, custom_system_prompt=style.prompt)
        layers = [layer for layer in (style.prompt, config.append_system_prompt) if layer]
        return replace(config, append_system_prompt="\n\n".join(layers))

    def _summariser(self, session_id: str, cwd: str) -> Summarise | None:
        wanted = cast("dict[str, bool]", self.settings.load(cwd, trust=self.trust.of(cwd)).get("backgroundCalls", {}))
        return partial(self.side_calls.read_page, session_id) if wanted.get("summary") else None

    def _context_edits(self, model: str, settings: Settings) -> tuple[Json, ...]:
        """What the endpoint is asked to take out of the model's view, when the user says that theirs can (C3)."""
        if self.models.offline or not settings.typed.context_edits:
            return ()
        return (endpoint_edit(thresholds(self.models.info(model))),)

    def _book(self, session_id: str, model: str, usage: Usage, cost_usd: float) -> None:
        """A call beside the conversation counts as the session's (Q9)."""
        session = self.sessions.live.get(session_id)
        if session is not None:
            session.turns.book(model, usage, cost_usd)

    def _tools(self, cwd: str, current: Callable[[], Judgement]) -> Sequence[AnyTool]:
        """Searches and fetches ask for the rules when they begin: those may change while the tools live."""
        settings = self.settings.load(cwd, trust=self.trust.of(cwd))

        def may_read() -> Callable[[str], bool] | None:
            from assent.permissions import lookups

            return lookups.may_read(self._judged_in(current()))

        def private_allowed(host: str) -> bool:
            from assent.permissions import lookups

            now = current()
            named = now.settings.typed.allow_private_addresses
            return host in named or lookups.private_allowed(self._judged_in(now))(host)

        built_in = builtin_tools(
            is_read_only=partial(self._is_read_only, cwd),
            may_read=may_read,
            secrets=self.models.secrets,
            fence=self._fences.make(scope=_scope(settings), network=settings.typed.sandbox.network),
            private_allowed=private_allowed,
            agents=lambda: [
                (agent.name, agent.description)
                for agent in self.definitions.of(cwd).usable_agents
                if agent.model_invocable
            ],
            editor=self._client.can_query,
        )
        return (*built_in, *self._options.tools)

    def _is_read_only(self, folder: str, command: str, cwd: str, roots: Sequence[str]) -> bool:
        """As the chain sees it when the command runs: where the shell is by then, and as trusted as the folder is."""
        trusted = self.trust.trusted(folder)
        from assent.permissions.shell import judge as shell

        return shell.is_read_only(command, cwd, home=self._home, roots=roots or (folder,), trusted=trusted)

    def _workspace(self, cwd: str, origin: Callable[[], Origin], review: Callable[[], ReviewMode]) -> Workspace:
        if self._acp is not None:
            return self._acp.workspace(self.disk, lambda: origin().session_id)
        return self.editor.workspace(origin=origin, review=review)

    def _judging(self, session_id: str, call: ToolCall) -> None:
        """Over ACP an ask carries no proposal, so its front looks at the call itself."""
        if self._acp is not None:
            self._acp.judging(session_id, call)

    async def _snapshot(self, origin: Origin, path: str, file: Any) -> None:
        session = self.sessions.live.get(origin.session_id)
        if session is not None:
            session.snapshot(path, file)

    # --- permissions -------------------------------------------------------------------------------------------------

    def _decide(self, action: Action, judgement: Judgement) -> Decision:
        from assent.permissions.chain import decide  # its tables load with the first decision, or in warm-up

        return decide(action, self._judged_in(judgement, shell=action.command is not None))

    def _matches_rule(self, rule: str, tool: str, given: Json, cwd: str) -> bool:
        """Whether a hook's `if` covers a call, as a deny rule would. What cannot be read counts as covered."""
        parse_rule(rule)
        action = Action(
            tool=tool,
            input=given,
            command=given.get("command") if tool == "Bash" else None,
            url=given.get("url") if tool == "WebFetch" else None,
            reads=tuple(str(given[key]) for key in ("file_path", "path") if key in given and tool in READERS),
            writes=tuple(str(given[key]) for key in ("file_path", "notebook_path") if key in given and tool in EDITORS),
        )
        plain = PermissionContext(cwd=cwd, home=self._home, mode="bypassPermissions", tools=frozenset({tool}))
        denied = replace(plain, rules=RuleSet.from_rules([(rule, "session", "deny")]))
        from assent.permissions.chain import decide

        verdict = decide(action, denied)
        return isinstance(verdict, Deny) or (isinstance(verdict, Ask) and not isinstance(decide(action, plain), Ask))

    def _judged_in(self, judgement: Judgement, *, shell: bool = True) -> PermissionContext:
        hidden = set(judgement.tools) - set(judgement.enabled)
        return PermissionContext(
            cwd=judgement.cwd,
            home=self._home,
            roots=judgement.roots,
            read_roots=judgement.read_roots,
            own_dirs=_own_dirs(),
            mode=judgement.mode,
            trusted=judgement.trusted,
            rules=_rule_set(judgement.settings),
            policy=self._policy.current(),
            tools=frozenset(judgement.tools),
            disabled_tools=dict.fromkeys(hidden, "it is switched off in this session"),
            interactive=judgement.interactive,
            unfenced=self._fences.trouble((judgement.cwd, *judgement.roots), scope=_scope(judgement.settings))
            if shell
            else "",  # a fence is for commands only
        )

    def _context(self, cwd: str, settings: Settings) -> PermissionContext:
        return PermissionContext(
            cwd=cwd,
            home=self._home,
            own_dirs=_own_dirs(),
            rules=_rule_set(settings),
            policy=self._policy.current(),
            unfenced=self._fences.trouble((cwd,), scope=_scope(settings)),
        )


def _call_model(models: Models, options: Options) -> CallModel:
    if options.replay is not None:
        return replaying(options.replay)
    return recording(models.call, options.record) if options.record is not None else models.call


def _notes(cwd: str) -> Path:
    """The auto memory of a workspace: among the user's data, never in the repository."""
    return paths.data_dir() / "memory" / paths.workspace_key(cwd) / "MEMORY.md"


def _own_dirs() -> tuple[str, str]:
    return str(paths.config_dir()), str(paths.data_dir())


def _scope(settings: Settings) -> sandbox.Scope:
    return settings.typed.sandbox.scope


def _rule_set(settings: Settings) -> RuleSet:
    """The rules of a merged view, parsed once per view."""
    known = _rule_sets.get(settings.rules)
    if known is None:
        if len(_rule_sets) > 200:
            _rule_sets.clear()
        known = RuleSet.from_rules((rule.rule, rule.source, rule.behaviour) for rule in settings.rules)
        _rule_sets[settings.rules] = known
    return known


_rule_sets: dict[tuple[object, ...], RuleSet] = {}
