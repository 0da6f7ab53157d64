"""Which worktrees of agents are open, so that none outlives its process: a locked record each, and how one is removed.

The lock is the kernel's, so a killed process frees it; whoever starts next finds the record unlocked and cleans up.
Removing needs no git: the folder goes, and git's note of it. Only what we made ourselves is ever removed here.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import orjson

from assent.types.blocks import Json
from assent.types.file_locks import try_lock
from assent.types.private_files import private_folder

log = logging.getLogger(__name__)

FOLDER = ".worktrees"
PREFIX = "agent-"
STORE_PREFIX = "assent-base-"  # of the folder that keeps what the files were
IGNORE = "*\n"


@dataclass(slots=True)
class OpenRecord:
    """Held for as long as the worktree is in use."""

    file: Path
    fd: int

    def close(self) -> None:
        """The worktree is gone."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            self.file.unlink(missing_ok=True)
            os.close(fd)


def record(folder: Path, name: str, facts: Json) -> OpenRecord:
    """Write down that a worktree is about to be made. Raises OSError."""
    private_folder(folder)
    file = folder / f"{name}.json"
    fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try_lock(fd)
    os.write(fd, orjson.dumps(facts))
    return OpenRecord(file, fd)


def sweep(folder: Path) -> list[str]:
    """Remove the worktrees whose process is gone; their paths. Never raises."""
    removed: list[str] = []
    with contextlib.suppress(OSError):
        for file in sorted(folder.glob(f"{PREFIX}*.json")):
            with contextlib.suppress(OSError):
                fd = os.open(file, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
                try:
                    try_lock(fd)  # raises while its owner lives
                    if path := _left_behind(fd):
                        removed.append(path)
                    file.unlink(missing_ok=True)
                finally:
                    os.close(fd)
    return removed


def _left_behind(fd: int) -> str:
    """Remove what a dead process's record names, if it was ours to remove."""
    try:
        facts: Any = orjson.loads(os.pread(fd, 64 * 1024, 0))
    except orjson.JSONDecodeError:
        return ""  # it died while writing the record: before anything was made
    known = cast("Json", facts) if isinstance(facts, dict) else {}
    path, admin, base = (str(known.get(key) or "") for key in ("path", "admin", "base"))
    if Path(base).is_absolute() and Path(base).name.startswith(STORE_PREFIX) and not Path(base).is_symlink():
        shutil.rmtree(base, ignore_errors=True)
    return path if remove(path, admin) else ""


def remove(path: str, admin: str) -> bool:
    """Remove a worktree's folder and git's note of it. False when they are not of the kind we make."""
    place = Path(path)
    if not place.is_absolute() or not place.name.startswith(PREFIX) or place.parent.name != FOLDER:
        return False
    if place.is_symlink() or place.parent.is_symlink():
        return False
    _remove_note(place, admin)
    _make_removable(place)
    shutil.rmtree(place, ignore_errors=True)
    if place.exists():
        log.warning("%s could not be removed", place)
        return False
    _remove_empty(place.parent)
    return True


def _remove_note(place: Path, admin: str) -> None:
    """git's folder for the worktree, if that is what `admin` names."""
    note = Path(admin)
    if not admin or note.name != place.name or note.parent.name != "worktrees" or note.is_symlink():
        return
    with contextlib.suppress(OSError):
        leads_to = (note / "gitdir").read_text(encoding="utf-8", errors="surrogateescape").strip()
        if leads_to == str(place / ".git"):
            shutil.rmtree(note, ignore_errors=True)
            note.parent.rmdir()  # git removes it with the last one, too


def _make_removable(place: Path) -> None:
    """Folders that an agent's command made read-only."""
    for folder, folders, _ in os.walk(place):
        for name in folders:
            inner = Path(folder, name)
            with contextlib.suppress(OSError):
                if not inner.is_symlink():
                    inner.chmod(inner.stat().st_mode | 0o700)


def make_folder(folder: Path) -> None:
    """The folder of worktrees ignores itself, so that it never shows up as a change. Raises OSError."""
    if folder.is_symlink():
        raise NotADirectoryError(f"{folder} is a symbolic link; no worktree is made behind it")
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text(IGNORE, encoding="utf-8")


def _remove_empty(folder: Path) -> None:
    """The folder of worktrees goes with the last one, if nothing but our own file is left in it."""
    with contextlib.suppress(OSError):
        ignore = folder / ".gitignore"
        if [each.name for each in folder.iterdir()] == [".gitignore"] and ignore.read_text("utf-8") == IGNORE:
            ignore.unlink()
            folder.rmdir()
