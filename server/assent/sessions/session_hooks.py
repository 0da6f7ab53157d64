"""Hooks of sessions: what running them needs from here, the events that a session itself fires, and their lists.

`extensions.hooks` decides what runs and what its output means. Here are the connections: settings and trust, the
session's supervisor, its environment, its event stream, and the model for hooks that ask one.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Protocol

from assent.extensions.hooks.exported import with_exported
from assent.extensions.hooks.handlers import Handler, Origin
from assent.extensions.hooks.in_process import AllHooks
from assent.extensions.hooks.ports import CommandResult, HookPorts, SessionFacts, Written
from assent.extensions.hooks.runner import HookRunner
from assent.sessions.stream.event_log import EventLog
from assent.sessions.stream.translate import hook_event
from assent.storage.settings import HookEntry, Settings, SettingsFiles
from assent.storage.trust import EVERYTHING, TrustStore
from assent.tools.process.environment import child_environment
from assent.tools.process.fed_command import run_fed
from assent.tools.process.jobs import ShellJobs
from assent.tools.process.shell_process import Keeper
from assent.tools.tool import Jobs, SessionState
from assent.types.blocks import Json, text_block, text_of
from assent.types.errors import ModelError
from assent.types.hooks import HookCall, HookEvent, HookOutcome, Hooks
from assent.types.ids import new_id
from assent.types.messages import AssistantFinal, AssistantMessage, HookRan, Message, Notice, UserMessage
from assent.types.ports import CallModel, ModelRequest, SpillStore
from assent.types.private_files import private_folder
from assent.types.programs import user_path
from assent.types.usage import Usage
from assent.wire.shapes import Level


class HookedSession(Protocol):
    """What hooks need to know of a live session; `live.session.Session` is one."""

    @property
    def id(self) -> str: ...
    @property
    def cwd(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def turn_id(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    @property
    def state(self) -> SessionState: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def events(self) -> EventLog: ...
    @property
    def jobs(self) -> Jobs | None: ...
    @property
    def spill(self) -> SpillStore: ...
    @property
    def folder(self) -> Path: ...
    @property
    def transcript(self) -> Path: ...
    @property
    def effort(self) -> str: ...
    def notice(self, level: Level, text: str) -> None: ...
    def rename(self, title: str) -> None: ...
    async def start_turn(self, prompt: str) -> None: ...


Book = Callable[[str, str, Usage, float], None]
TRUST_FIRST = "the folder is not trusted, or this hook was not shown when it was"


class SessionHooks:
    """Made by `app.py`; `runner` is one of the providers of the port `Hooks`."""

    def __init__(
        self,
        *,
        settings: SettingsFiles,
        trust: TrustStore,
        live: Callable[[], Mapping[str, HookedSession]],
        call_model: CallModel,
        small_model: Callable[[], str],
        book: Book,
        secrets: Callable[[], Sequence[str]],
        matches_rule: Callable[[str, str, Json, str], bool],
        in_process: Hooks | None = None,
        told_file: Path | None = None,
    ) -> None:
        self.told_file = told_file  # exists once the user was told that hooks of another program run here
        self.settings = settings
        self.trust = trust
        self.live = live
        self.call_model = call_model
        self.small_model = small_model
        self.book = book
        self.secrets = secrets
        self.of_plugins: Callable[[], Sequence[Written]] = tuple
        self._tasks: set[asyncio.Task[None]] = set()
        self._keeper: Keeper | None = None  # for runs outside any session
        self.runner = HookRunner(
            HookPorts(
                folders=lambda: [session.cwd for session in self.live().values()],
                written=self._written,
                facts=self._facts,
                environment=self._environment,
                run_command=self._run_command,
                ask_model=self._ask_model,
                matches_rule=matches_rule,
                publish=self._publish,
                spawn=self._spawn,
                wake=self._wake,
                spill=self._spill,
            )
        )
        self.hooks: Hooks = AllHooks(in_process, self.runner) if in_process is not None else self.runner

    async def aclose(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._keeper is not None:
            await self._keeper.close()

    # --- lists -------------------------------------------------------------------------------------------------------

    def listed(self, folder: str) -> list[Json]:
        """`assent/hook/list`: those that run, and those that wait for trust."""
        active = self.runner.listed(folder)
        known = {handler.hook_id for handler in active}
        everything = self.settings.load(folder, trust=EVERYTHING)
        withheld = [handler for handler in _parsed(everything.hooks) if handler.hook_id not in known]
        return [hook_json(each) for each in active] + [hook_json(each, withheld=TRUST_FIRST) for each in withheld]

    def logged(self, session_id: str, folder: Path | None, cursor: str | None) -> Json:
        return self.runner.log.page(session_id, folder, cursor)

    # --- events of a session -----------------------------------------------------------------------------------------

    def started(self, session: HookedSession, source: str) -> None:
        """SessionStart, beside everything else: only the first prompt waits for it."""
        self._tell_of_other_tools(session)
        if self.hooks.wants("SessionStart"):
            self._spawn(self._start(session, source))

    async def _start(self, session: HookedSession, source: str) -> None:
        data = {"source": source, "session_title": session.title}
        for outcome in await self.runner.start(_call(session, "SessionStart", data, source)):
            title, message = outcome.specific.get("sessionTitle"), outcome.specific.get("initialUserMessage")
            if isinstance(title, str) and title.strip():
                session.rename(title)
            if isinstance(message, str) and message.strip() and source == "startup":
                self._spawn(session.start_turn(message))

    async def ended(self, session: HookedSession, reason: str) -> None:
        """SessionEnd; then nothing of the session is kept here."""
        await self.fire(session, "SessionEnd", {"reason": reason}, subject=reason)
        self.runner.forget(session.id)

    def notify(self, session: HookedSession, kind: str, message: str) -> None:
        """Notification: the user is wanted. Nobody waits for it."""
        self.tell(session, "Notification", {"message": message, "notification_type": kind}, subject=kind)

    def tell(self, session: HookedSession, event: HookEvent, data: Json, *, subject: str = "") -> None:
        """An event that changes nothing."""
        if self.hooks.wants(event):
            self._spawn(self._told(session, event, data, subject))

    async def _told(self, session: HookedSession, event: HookEvent, data: Json, subject: str) -> None:
        await self.fire(session, event, data, subject=subject)

    async def fire(
        self, session: HookedSession, event: HookEvent, data: Json, *, subject: str = ""
    ) -> list[HookOutcome]:
        """An event that has no turn around it."""
        if not self.hooks.wants(event):
            return []
        return await self.hooks.run(_call(session, event, data, subject))

    def _tell_of_other_tools(self, session: HookedSession) -> None:
        """Once for a user: hooks that were written for another program run here, too."""
        files = {entry.file for entry in session.settings.hooks if entry.foreign and entry.source == "user"}
        if not files or self.told_file is None or self.told_file.exists():
            return
        text = (
            f"Hooks of {', '.join(sorted(files))} also run in Assent. `/hooks` lists them; "
            '"readClaudeSettings": false in your settings turns them off.'
        )
        session.notice("info", text)
        with contextlib.suppress(OSError):
            private_folder(self.told_file.parent)
            self.told_file.write_text(text + "\n", encoding="utf-8")

    # --- ports -------------------------------------------------------------------------------------------------------

    def _written(self, folder: str) -> Sequence[Written]:
        loaded = self.settings.load(folder, trust=self.trust.of(folder))
        plugins = () if loaded.get("disableAllHooks") else self.of_plugins()
        return [*(_as_written(entry) for entry in loaded.hooks), *plugins]

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
        )

    def _environment(self, session_id: str) -> Mapping[str, str]:
        session = self.live().get(session_id)
        extra: Mapping[str, str] = session.settings.get("env", {}) if session is not None else {}
        if session is not None:
            extra = with_exported(extra, session.folder)
        return child_environment({**os.environ, "PATH": user_path()}, extra=extra, secrets=self.secrets())

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
            model=model or self.small_model(),
            messages=(UserMessage(uuid=new_id(), content=(text_block(text),)),),
            system=(system,),
            max_tokens=1_000,
            temperature=0.0,
            thinking={"type": "disabled"},
            source="hook",
            foreground=False,
            whole=True,
        )
        blocks: list[Any] = []
        try:
            async with aclosing(self.call_model(request)) as events:
                async for event in events:
                    if isinstance(event, AssistantMessage):
                        blocks += event.content
                    elif isinstance(event, AssistantFinal):
                        self.book(session_id, event.model, event.usage, event.cost_usd)
                        if event.stop_reason is None:
                            blocks.clear()  # it broke off, and is asked again
        except ModelError as error:
            raise OSError(f"the model could not be asked: {error}") from None
        return text_of(blocks)

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

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _wake(self, session_id: str, text: str) -> None:
        """An idle session starts a turn with these words; a running one gets them between two steps."""
        session = self.live().get(session_id)
        if session is not None and not session.closed:
            self._spawn(session.start_turn(f"A background hook reports:\n{text}"))

    def _spill(self, session_id: str, text: str) -> str | None:
        session = self.live().get(session_id)
        return session.spill.write(new_id("h"), text) if session is not None else None


def _call(session: HookedSession, event: HookEvent, data: Json, subject: str) -> HookCall:
    return HookCall(
        event=event, session_id=session.id, cwd=session.state.cwd, subject=subject, data=data, detached=True
    )


def hook_json(handler: Handler, *, withheld: str = "") -> Json:
    found: Json = {
        "hookId": handler.hook_id,
        "event": handler.event,
        "matcher": handler.matcher,
        "type": handler.type,
        "command": handler.command,
        "source": str(handler.origin),
        "active": not withheld,
        "timeoutMs": round(handler.seconds * 1000),
    }
    return {**found, "withheld": withheld} if withheld else found


def _as_written(entry: HookEntry) -> Written:
    origin = Origin(file=entry.file, source=entry.source, line=entry.line, foreign=entry.foreign)
    return Written(event=entry.event, entry=entry.entry, origin=origin)


def _parsed(entries: Sequence[HookEntry]) -> list[Handler]:
    from assent.extensions.hooks.handlers import parse_hooks

    found: list[Handler] = []
    for entry in entries:
        written = _as_written(entry)
        found += parse_hooks({written.event: [written.entry]}, written.origin)[0]
    return found
