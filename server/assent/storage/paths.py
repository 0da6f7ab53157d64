"""Where things live on disk, after the XDG base directories. Nothing here touches the disk."""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assent.types.errors import ProtocolError

POLICY_FILE = Path("/etc/assent/policy.json")
_SESSION_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")


def data_dir(env: Mapping[str, str] | None = None) -> Path:
    return _xdg("XDG_DATA_HOME", ".local/share", env)


def config_dir(env: Mapping[str, str] | None = None) -> Path:
    return _xdg("XDG_CONFIG_HOME", ".config", env)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPaths:
    """The files of one session: a transcript, its lock, and a folder for everything that is not conversation."""

    transcript: Path

    @property
    def session_id(self) -> str:
        return self.transcript.stem

    @property
    def folder(self) -> Path:
        return self.transcript.with_suffix("")

    @property
    def lock(self) -> Path:
        return self.transcript.with_suffix(".lock")

    @property
    def spill(self) -> Path:
        return self.folder / "results"

    @property
    def history(self) -> Path:
        return self.folder / "history"


def sessions_dir(data: Path) -> Path:
    return data / "sessions"


def session_paths(data: Path, cwd: str, session_id: str) -> SessionPaths:
    return SessionPaths(transcript=sessions_dir(data) / workspace_key(cwd) / f"{checked(session_id)}.jsonl")


def find_session(data: Path, session_id: str) -> SessionPaths | None:
    """The session wherever its workspace is; ids are unique across workspaces."""
    if not _SESSION_ID.fullmatch(session_id):
        return None
    for found in sessions_dir(data).glob(f"*/{session_id}.jsonl"):
        return SessionPaths(transcript=found)
    return None


def checked(session_id: str) -> str:
    """An id that is safe as a file name; ids come from clients, so this is where `../` ends."""
    if not _SESSION_ID.fullmatch(session_id):
        raise ProtocolError("unknownSession", f"{session_id!r} is not a session id", hint="List the sessions first.")
    return session_id


def workspace_key(cwd: str) -> str:
    """A folder name people can recognise, made unique by a hash of the whole path."""
    name = re.sub(r"[^0-9A-Za-z._-]+", "-", Path(cwd).name)[:40].strip("-.") or "root"
    return f"{name}-{hashlib.sha256(os.fsencode(cwd)).hexdigest()[:12]}"


def _xdg(variable: str, fallback: str, env: Mapping[str, str] | None) -> Path:
    values = os.environ if env is None else env
    base = values.get(variable, "")
    # The XDG specification: a relative path in these variables is to be ignored.
    if not base or not Path(base).is_absolute():
        base = str(Path(values.get("HOME") or Path.home()) / fallback)
    return Path(base) / "assent"
