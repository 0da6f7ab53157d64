"""FileChanged: which files hooks wait for in each session, and noticing that one changed.

A hook's matcher names files of the session's folder; `watchPaths` in the answers of SessionStart, CwdChanged and
FileChanged hooks names more. Nothing is watched while no hook of FileChanged is there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import cast

from assent.extensions.hooks.handlers import Handler
from assent.extensions.hooks.matcher import exact_names
from assent.storage.watch import FileWatch, Kind

MOST = 1_000  # files of one session


class HookWatch:
    def __init__(
        self,
        folders: Callable[[], Mapping[str, str]],  # live sessions and their folders
        handlers: Callable[[str], Iterable[Handler]],  # of a folder
        changed: Callable[[str, Path, Kind], None],
    ) -> None:
        self._folders = folders
        self._handlers = handlers
        self._changed = changed
        self._named: dict[str, dict[Path, None]] = {}  # by session, what hooks asked for
        self._watch: FileWatch | None = None

    def add(self, session_id: str, cwd: str, paths: object) -> None:
        """`watchPaths` of an answer: they replace those of an earlier one."""
        if isinstance(paths, list):
            given = [
                each for each in cast("list[object]", paths) if isinstance(each, str) and each and "\0" not in each
            ]
            found = [Path(os.path.normpath(Path(cwd) / Path(each).expanduser())) for each in given[:MOST]]
            self._named[session_id] = dict.fromkeys(found)
            self.look_again()

    def forget(self, session_id: str) -> None:
        if self._named.pop(session_id, None) is not None:
            self.look_again()

    def look_again(self) -> None:
        if self._watch is not None:
            self._watch.look_again()

    def stop(self) -> None:
        if self._watch is not None:
            self._watch.stop()

    @property
    def running(self) -> bool:
        return self._watch is not None

    async def run(self) -> None:
        self._watch = FileWatch(lambda: {path for paths in self._wanted().values() for path in paths})
        await self._watch.run(self._heard)

    def _wanted(self) -> dict[str, set[Path]]:
        found: dict[str, set[Path]] = {}
        for session_id, folder in self._folders().items():
            handlers = [handler for handler in self._handlers(folder) if handler.event == "FileChanged"]
            if handlers:
                names = {name for handler in handlers for name in exact_names(handler.matcher) if _is_name(name)}
                found[session_id] = {Path(folder) / name for name in names} | set(self._named.get(session_id, ()))
        return found

    def _heard(self, changed: dict[Path, Kind]) -> None:
        for session_id, paths in self._wanted().items():
            for path in sorted(paths & changed.keys()):
                self._changed(session_id, path, changed[path])


def _is_name(name: str) -> bool:
    """A file's own name: neither a pattern nor a path."""
    return bool(name) and not any(character in name for character in "*?[](){}^$+\\/")
