"""Watches the settings files of all open folders, and tells sessions, listeners and hooks when one changed."""

from collections.abc import Callable, Mapping
from pathlib import Path

from assent.sessions.deps import SessionDeps
from assent.sessions.live.session import Session
from assent.storage.watch import FileWatch, Kind


class SettingsWatch:
    def __init__(self, deps: SessionDeps, live: Mapping[str, Session]) -> None:
        self._deps = deps
        self._live = live
        self._watch = FileWatch(self._files)
        self.listeners: list[Callable[[], None]] = []  # told after settings files changed on disk
        self.stop = self._watch.stop
        self.look_again = self._watch.look_again

    async def run(self) -> None:
        await self._watch.run(self._changed)

    def _files(self) -> set[Path]:
        cwds = {*self._deps.roots(), *(session.cwd for session in self._live.values())}
        return {file for cwd in cwds for file in self._deps.settings.files(cwd)}

    def _changed(self, changed: dict[Path, Kind]) -> None:
        self._read_again()
        for listener in self.listeners:
            listener()
        hooks = self._deps.session_hooks
        if hooks is not None and changed:
            # Where a hook blocks a change, what is open goes by the settings from before it.
            hooks.settings_changed([*self._live.values()], sorted(changed), held=self._read_again)

    def _read_again(self) -> None:
        for session in self._live.values():
            session.settings_changed()
