"""Folders that agents work with besides the workspace: the session's scratchpad, and the memory of single agents."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from pathlib import Path

from assent.extensions.agents import AgentDefinition
from assent.storage import paths
from assent.types.private_files import private_folder


class Scratchpad:
    """A folder that all agents of a session share, for the user alone: among the temporary files, since what agents
    write unasked must not lie beside our own data. `path` is None until it was asked for."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self.path: Path | None = None

    def made(self) -> Path | None:
        """The folder, made when first asked for; None where it cannot be the user's own."""
        if self.path is None:
            base = Path(os.path.realpath(tempfile.gettempdir()), f"assent-{os.getuid()}")
            folder = base / self._session_id / "scratchpad"
            try:
                private_folder(folder)
                if not all(_own(each) for each in (base, base / self._session_id, folder)):
                    return None
            except OSError:
                return None
            self.path = folder
        return self.path


def _own(folder: Path) -> bool:
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def memory_folder(agent: AgentDefinition, *, cwd: str, trusted: bool) -> Path | None:
    """Where an agent's `memory` lies: the folder another tool has made for it, else our own. None without trust:
    what a project's file says must not reach the model before."""
    if agent.memory is None:
        return None
    name = re.sub(r"[^0-9A-Za-z._-]+", "-", agent.name).strip(".") or "agent"
    if agent.memory == "user":
        theirs, ours = Path.home() / ".claude" / "agent-memory", paths.config_dir() / "agent-memory"
    else:
        if not trusted:
            return None
        kind = "agent-memory" if agent.memory == "project" else "agent-memory-local"
        theirs, ours = Path(cwd, ".claude", kind), Path(cwd, ".assent", kind)
    return theirs / name if (theirs / name).is_dir() else ours / name
