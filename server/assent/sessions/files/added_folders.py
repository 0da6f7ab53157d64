"""Folders that count as the session's own besides its working directory: `/add-dir`, or a hook's update.

They widen what can be read and edited like a folder of the window does, so what is not a plain project folder is
refused: the whole disk, the home folder, and what holds either of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Protocol

from assent.sessions.deps import SessionDeps
from assent.sessions.hooks.hooked_session import HookedSession
from assent.types.programs import keep_out

MOST = 50


class FolderSession(HookedSession, Protocol):
    @property
    def deps(self) -> SessionDeps: ...
    def save_state(self) -> None: ...


class Folders:
    def __init__(self, session: FolderSession) -> None:
        self._session = session
        self.added: list[str] = []

    def add(self, folder: str) -> str:
        """Returns the real path of the folder. Raises ValueError with a message for people."""
        path = os.path.realpath(Path(self._session.state.cwd) / Path(folder).expanduser())
        home = os.path.realpath(Path.home())
        if not Path(path).is_dir():
            raise ValueError(f"{path} is not a folder")
        if path == "/" or home == path or home.startswith(path + "/"):
            raise ValueError(f"{path} is too much: name a project's folder")
        if len(self.added) >= MOST:
            raise ValueError(f"there are {MOST} already")
        if path not in self.added:
            self.added.append(path)
            keep_out(path)
            self._session.save_state()
            self.told(path, "slash_command")
        return path

    def remove(self, folder: str) -> None:
        path = os.path.realpath(Path(self._session.state.cwd) / Path(folder).expanduser())
        if path not in self.added:
            raise ValueError(f"{path} was not added")
        self.added.remove(path)
        self._session.save_state()

    def restore(self, saved: Iterable[object]) -> None:
        self.added = [each for each in saved if isinstance(each, str) and Path(each).is_dir()][:MOST]
        keep_out(*self.added)

    def told(self, folder: str, source: Literal["slash_command", "register_repo_root"]) -> None:
        hooks = self._session.deps.session_hooks
        if hooks is not None:
            hooks.tell(self._session, "DirectoryAdded", {"directory": folder, "source": source}, subject=source)
