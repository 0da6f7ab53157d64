"""What running a hook needs from the program: settings and trust, a session's supervisor and environment, the model.

Not aware of which events there are: `session_hooks` fires those of a session, the engine those of a turn.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from assent.engine.chains import chain_beside
from assent.engine.side_calls.plain_answer import BookFor, plain_answer
from assent.extensions.hooks.exported import with_exported
from assent.extensions.hooks.ports import CommandResult, HookPorts, SessionFacts, Written
from assent.extensions.places import of_project
from assent.sessions.hooks.hook_rows import as_written
from assent.sessions.hooks.hooked_session import HookedSession
from assent.sessions.stream.translate import hook_event
from assent.storage.settings import Settings, SettingsFiles
from assent.storage.trust import TrustStore
from assent.tools.process.environment import user_environment
from assent.tools.process.fed_command import run_fed
from assent.tools.process.jobs import ShellJobs
from assent.tools.process.shell_process import Keeper
from assent.types.blocks import Json, text_block, text_of
from assent.types.errors import ModelError
from assent.types.ids import new_id
from assent.types.messages import HookRan, Message, Notice, UserMessage
from assent.types.ports import CallModel, ModelRequest


class HookConnections:
    def __init__(
        self,
        *,
        settings: SettingsFiles,
        trust: TrustStore,
        live: Callable[[], Mapping[str, HookedSession]],
        call_model: CallModel,
        small_model: Callable[[], str],
        book: BookFor,
        written_model: Callable[[str], str | None],
        secrets: Callable[[], Sequence[str]],
        matches_rule: Callable[[str, str, Json, str], bool],
        of_plugins: Callable[[], Sequence[Written]],
    ) -> None:
        self.settings = settings
        self.trust = trust
        self.live = live
        self.call_model = call_model
        self.small_model = small_model
        self.written_model = written_model
        self.book = book
        self.secrets = secrets
        self.matches_rule = matches_rule
        self.of_plugins = of_plugins
        self._tasks: set[asyncio.Task[None]] = set()
        self._keeper: Keeper | None = None  # for runs outside any session

    async def aclose(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._keeper is not None:
            await self._keeper.close()

    def ports(self) -> HookPorts:
        return HookPorts(
            folders=lambda: [session.cwd for session in self.live().values()],
            written=self._written,
            facts=self._facts,
            environment=self._environment,
            run_command=self._run_command,
            ask_model=self._ask_model,
            run_agent=self._run_agent,
            call_mcp=self._call_mcp,
            disabled=lambda folder: bool(self.loaded(folder).only_policy_hooks),
            counts=lambda folder, file: self.trust.trusted(folder) or not of_project(file, folder),
            limits=lambda folder: self.loaded(folder).hook_limits,
            matches_rule=self.matches_rule,
            publish=self._publish,
            spawn=self.spawn,
            wake=self._wake,
            spill=self._spill,
        )

    def loaded(self, folder: str) -> Settings:
        """The settings that count in a folder, as far as it is trusted."""
        return self.settings.load(folder, trust=self.trust.of(folder))

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` beside everything else, until `aclose`."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _written(self, folder: str) -> Sequence[Written]:
        loaded = self.loaded(folder)
        plugins = () if loaded.only_policy_hooks else self.of_plugins()
        return [*(as_written(entry) for entry in loaded.hooks), *plugins]

    def _facts(self, session_id: str) -> SessionFacts | None:
        session = self.live().get(session_id)
        if session is None:
            return None
        return SessionFacts(
            project=session.cwd,
            folder=session.folder,
            transcript=str(session.transcript),
            mode=session.state.mode,
            effort=session.effort,
            title=session.title,
            prompt_id=session.turn_id,
            scratchpad=str(session.scratchpad.path or ""),
        )

    def _environment(self, session_id: str) -> Mapping[str, str]:
        session = self.live().get(session_id)
        own: Mapping[str, str] = session.settings.get("env", {}) if session is not None else {}
        plain = user_environment(extra=own, secrets=self.secrets())
        if session is None:
            return plain
        return user_environment(extra=with_exported(own, session.folder, plain), secrets=self.secrets())

    async def _run_command(
        self, session_id: str, argv: Sequence[str], cwd: str, env: Mapping[str, str], stdin: bytes, seconds: float
    ) -> CommandResult:
        keeper = self._keeper_of(session_id)
        result = await run_fed(keeper, argv, cwd=cwd, env=env, stdin=stdin, seconds=seconds)
        return CommandResult(
            exit_code=result.status,
            stdout=result.stdout,
            stderr=result.stderr,
            error=result.error,
            timed_out=result.timed_out,
        )

    def _keeper_of(self, session_id: str) -> Keeper:
        session = self.live().get(session_id)
        if session is not None and isinstance(session.jobs, ShellJobs):
            return session.jobs.keeper
        if self._keeper is None:
            self._keeper = Keeper()
        return self._keeper

    async def _ask_model(self, session_id: str, model: str | None, system: str, text: str) -> str:
        request = ModelRequest(
            model=self._model(model),
            messages=(UserMessage(uuid=new_id(), content=(text_block(text),)),),
            system=(system,),
            max_tokens=1_000,
            temperature=0.0,
            thinking={"type": "disabled"},
            source="hook",
            foreground=False,
            whole=True,
            forked=True,
            chain=chain_beside(session_id),
        )
        try:
            blocks, _ = await plain_answer(self.call_model, request, self.book, session_id)
        except ModelError as error:
            raise OSError(f"the model could not be asked: {error}") from None
        return text_of(blocks)

    async def _run_agent(self, session_id: str, model: str | None, system: str, text: str) -> str:
        session = self.live().get(session_id)
        if session is None:
            raise OSError("a hook of type agent needs a session, and this event has none")
        return await session.run_hook_agent(self._model(model), system, text)

    def _model(self, wanted: str | None) -> str:
        """The model that a hook names, else the small one. Raises OSError where that model is not available."""
        if wanted is None:
            return self.small_model()
        named = self.written_model(wanted)
        if named is None:
            raise OSError(f"the model {wanted} is not available here")
        return named

    async def _call_mcp(self, session_id: str, server: str, tool: str, given: Json) -> tuple[str, bool]:
        session = self.live().get(session_id)
        if session is None:
            raise OSError("a hook of type mcp_tool needs a session, and this event has none")
        return await session.call_mcp(server, tool, given)

    def _publish(self, session_id: str, message: Message) -> None:
        session = self.live().get(session_id)
        if session is None:
            return
        match message:
            case HookRan():
                session.events.publish(hook_event(message), outside_turn=True)
            case Notice():
                session.notice(message.level, message.text)
            case _:
                pass

    def _wake(self, session_id: str, text: str) -> None:
        """An idle session starts a turn with these words; a running one gets them between two steps."""
        session = self.live().get(session_id)
        if session is not None and not session.closed:
            self.spawn(session.start_turn(f"A background hook reports:\n{text}"))

    def _spill(self, session_id: str, text: str) -> str | None:
        session = self.live().get(session_id)
        return session.spill.write(new_id("h"), text) if session is not None else None
