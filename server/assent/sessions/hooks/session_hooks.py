"""The events that a session itself fires for hooks, what their answers change of it, and the list of hooks.

`extensions.hooks` decides what runs and what its output means; `hook_connections` gives it what it needs from here.
"""

import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from assent.extensions.hooks.in_process import AllHooks
from assent.extensions.hooks.runner import HookRunner
from assent.sessions.hooks.hook_connections import HookConnections
from assent.sessions.hooks.hook_rows import hook_rows
from assent.sessions.hooks.hook_watch import HookWatch
from assent.sessions.hooks.hooked_session import HookedSession
from assent.storage.trust import EVERYTHING
from assent.types.blocks import Json
from assent.types.hooks import HookCall, HookEvent, HookOutcome, Hooks
from assent.types.private_files import private_folder

MOST_NOTES, LONGEST_NOTE = 20, 2_000  # of what hooks tell the classifier

_NAMING = ("startup", "resume", "fork")  # the sources of SessionStart whose hooks may name the session


class WithEffects:
    """All hooks; what an answer changes of the session is done before whoever fired the event goes on."""

    def __init__(self, hooks: Hooks, apply: Callable[[HookCall, Sequence[HookOutcome]], None]) -> None:
        self._hooks = hooks
        self._apply = apply

    def wants(self, event: HookEvent) -> bool:
        return self._hooks.wants(event)

    async def run(self, call: HookCall) -> list[HookOutcome]:
        outcomes = await self._hooks.run(call)
        self._apply(call, outcomes)
        return outcomes


class SessionHooks:
    """Made by `app.py`; `runner` is one of the providers of the port `Hooks`."""

    def __init__(
        self,
        connections: HookConnections,
        *,
        in_process: Hooks | None = None,
        told_file: Path | None = None,
    ) -> None:
        self.told_file = told_file  # exists once the user was told that hooks of another program run here
        self.connections = connections
        self.settings = connections.settings
        self.live = connections.live
        self._spawn = connections.spawn
        self.runner = HookRunner(connections.ports())
        providers = AllHooks(in_process, self.runner) if in_process is not None else self.runner
        self.hooks: Hooks = WithEffects(providers, self._apply)
        self.watch = HookWatch(
            lambda: {session.id: session.cwd for session in self.live().values()},
            self.runner.listed,
            self._file_changed,
        )
        self.notes: dict[str, deque[str]] = {}  # by session, what hooks told auto mode's classifier

    async def aclose(self) -> None:
        self.watch.stop()
        await self.connections.aclose()

    # --- lists -------------------------------------------------------------------------------------------------------

    def listed(self, folder: str, session_id: str = "") -> list[Json]:
        """`assent/hook/list`."""
        settings = self.settings.load(folder, trust=EVERYTHING)
        return hook_rows(
            settings, self.runner.registry, self.connections.of_plugins(), folder=folder, session_id=session_id
        )

    def problems(self, folder: str) -> list[str]:
        """What is written as a hook and cannot run: entries that mean nothing, and files that cannot be read."""
        written = [each for each in self.connections.loaded(folder).problems if each.key.split(".")[0] in ("", "hooks")]
        return [*map(str, written), *map(str, self.runner.registry.problems(folder))]

    def logged(self, session_id: str, folder: Path | None, cursor: str | None) -> Json:
        return self.runner.log.page(session_id, folder, cursor)

    # --- events of a session -----------------------------------------------------------------------------------------

    def started(self, session: HookedSession, source: str) -> None:
        """SessionStart, beside everything else: only the first prompt waits for it."""
        self._tell_of_other_tools(session)
        self.watch_files()
        if self.hooks.wants("SessionStart"):
            self._spawn(self._start(session, source))

    async def _start(self, session: HookedSession, source: str) -> None:
        data = {"source": source, "model": session.model}
        for outcome in await self.runner.start(_call(session, "SessionStart", data, source), self.hooks.run):
            message = outcome.specific.get("initialUserMessage")
            if isinstance(message, str) and message.strip() and source == "startup":
                self._spawn(session.start_turn(message))

    async def ended(self, session: HookedSession, reason: str) -> None:
        """SessionEnd; then nothing of the session is kept here."""
        await self.fire(session, "SessionEnd", {"reason": reason}, subject=reason)
        self.forget(session.id)

    def forget(self, session_id: str) -> None:
        self.runner.forget(session_id)
        self.watch.forget(session_id)
        self.notes.pop(session_id, None)

    async def set_up(self, session: HookedSession, trigger: Literal["init", "maintenance"]) -> None:
        """Setup: the user wants the workspace made ready. What its hooks say comes with the next prompt."""
        await self.fire(session, "Setup", {"trigger": trigger}, subject=trigger)

    def notify(self, session: HookedSession, kind: str, message: str) -> None:
        """Notification: the user is wanted. Nobody waits for it."""
        data = {"message": message, "title": session.title or "Assent", "notification_type": kind}
        self.tell(session, "Notification", data, subject=kind)

    def settings_changed(
        self, sessions: Sequence[HookedSession], files: Sequence[Path], *, held: Callable[[], None]
    ) -> None:
        """ConfigChange, for each file in each session; `held` is called when a change does not count after all."""
        self.runner.registry.look_again()
        self.watch_files()
        if self.hooks.wants("ConfigChange"):
            for session in sessions:
                for file in files:
                    self._spawn(self._config_changed(session, file, held))

    async def _config_changed(self, session: HookedSession, file: Path, held: Callable[[], None]) -> None:
        source = self.settings.kind_of(file, session.cwd)
        if source is None:
            return
        data = {"source": source, "file_path": str(file)}
        refused = [each for each in await self.fire(session, "ConfigChange", data, subject=source) if each.refuses]
        if refused and source != "policy_settings" and self.settings.hold(file):
            held()
            session.notice("warning", f"A hook blocked the change of {file}: {refused[0].text}")

    def watch_files(self) -> None:
        """Begin to watch, where a hook of FileChanged is there for the first time; or look at other files."""
        if self.watch.running:
            self.watch.look_again()
        elif self.hooks.wants("FileChanged"):
            self._spawn(self.watch.run())

    def _file_changed(self, session_id: str, path: Path, kind: str) -> None:
        session = self.live().get(session_id)
        if session is not None:
            self.tell(session, "FileChanged", {"file_path": str(path), "event": kind}, subject=path.name)

    def _apply(self, call: HookCall, outcomes: Sequence[HookOutcome]) -> None:
        """What an answer changes of the session itself, whoever fired the event."""
        session = self.live().get(call.session_id)
        if session is None:
            return
        for outcome in outcomes:
            said = outcome.specific
            title, note = said.get("sessionTitle"), said.get("classifierContext")
            names = call.event == "UserPromptSubmit" or (call.event == "SessionStart" and call.subject in _NAMING)
            if names and isinstance(title, str) and title.strip():
                session.rename(title)
            if call.event in ("SessionStart", "CwdChanged", "FileChanged") and "watchPaths" in said:
                self.watch.add(session.id, call.cwd, said["watchPaths"])
            if call.event == "SessionStart" and said.get("reloadSkills") is True:
                self._spawn(session.refresh_definitions())
            if call.event == "PostToolUse" and isinstance(note, str) and note.strip():
                self.notes.setdefault(session.id, deque(maxlen=MOST_NOTES)).append(note[:LONGEST_NOTE])

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


def _call(session: HookedSession, event: HookEvent, data: Json, subject: str) -> HookCall:
    return HookCall(
        event=event, session_id=session.id, cwd=session.state.cwd, subject=subject, data=data, detached=True
    )
