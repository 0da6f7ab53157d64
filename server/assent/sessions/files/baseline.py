"""What the files of a workspace are, as far as we looked: so that after a command one can say what it changed (S3).

Files of up to `LARGEST` bytes are copied to a nameless file, at most `MOST_BYTES` of `MOST_FILES` files; what is
ignored (`.gitignore` and the like), links and build output are left out. A look ends at its deadline and says whether
it saw everything; what it did not see counts as unknown, never as unchanged. Runs in worker threads, one at a time.
"""

import contextlib
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from assent.tools.search.ignore_rules import KINDS, Folder, folder_rules, rules_above
from assent.types.errors import AssentError
from assent.types.private_files import private_folder

MOST_FILES = 20_000
MOST_BYTES = 64 * 1024 * 1024
LARGEST = 1024 * 1024
SLOWER = 8
SETTLED = 2_500_000_000  # nanoseconds after which the time of a folder's last change tells it from the next one
NEVER = frozenset(
    {
        ".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__", ".tox", ".nox",
        ".mypy_cache", ".pytest_cache", ".ruff_cache", ".gradle", ".cache",
    }
)  # fmt: skip

Stamp = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenFile:
    """One file as it was seen."""

    stamp: Stamp  # modified, changed, size, inode, mode
    at: int = -1  # of its content in the copy; -1: too large, or there was no room

    @property
    def mode(self) -> int:
        return stat.S_IMODE(self.stamp[4])


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskChange:
    """What became of one file: None where there was none."""

    path: str
    before: bytes | None
    after: bytes | None
    mode: int  # it had before, or has now


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    found: list[DiskChange]
    untracked: list[str]  # in words: what can not be taken back


RulesKey = tuple[Stamp, ...]
"""The files with ignore rules that count in a folder, as they were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    stamp: tuple[int, int, int]  # of the folder: modified, changed, inode
    above: RulesKey
    key: RulesKey  # of what is in it
    rules: Folder | None
    has_rules: bool
    folders: list[str]
    files: list[str]


class _Deadline:
    """Of a look: so much work of its thread, or a slow disk or a busy machine for several times as long."""

    def __init__(self, seconds: float) -> None:
        self._work = time.thread_time() + seconds
        self._wall = time.monotonic() + seconds * SLOWER

    def passed(self) -> bool:
        return time.thread_time() > self._work or time.monotonic() > self._wall


class Baseline:
    def __init__(self, root: str, folder: Path) -> None:
        self._root = root
        self._folder = folder
        self._files: dict[str, SeenFile] = {}
        self._copy: IO[bytes] | None = None
        self._end = 0
        self._listings: dict[str, _Listing] = {}
        self._whole = False  # the last look saw everything
        self._walk: Iterator[tuple[str, os.stat_result] | None] | None = None

    def prepare(self, seconds: float) -> bool:
        """Look at some more of a tree that nobody changes yet; whether there is nothing left to look at."""
        if self._walk is None:
            self._walk = self._tree()
        deadline = _Deadline(seconds)
        for each in self._walk:
            if each is None:
                break
            self._see(*each)
            if deadline.passed():
                return False
        self._walk = None
        return True

    def before(self, seconds: float) -> None:
        """A command is about to run: everything that changed since the last look was someone else's doing."""
        self._walk = None
        deadline = _Deadline(seconds)
        seen: dict[str, SeenFile] = {}
        self._whole = False
        for each in self._tree():
            if each is None or deadline.passed():
                break
            seen[each[0]] = self._see(*each)
        else:
            self._whole = True
        self._files = seen

    def after(self, seconds: float) -> Changes:
        """The command is done: what it changed."""
        deadline = _Deadline(seconds)
        found: list[DiskChange] = []
        untracked: list[str] = []
        seen: dict[str, SeenFile] = {}
        room = MOST_BYTES
        whole = False
        for each in self._tree():
            if each is None or deadline.passed():
                break
            path, status = each
            old = self._files.get(path)
            if old is not None and old.stamp == _stamp(status):
                seen[path] = old
                continue
            if old is None and not self._whole:
                untracked.append(f"{path}: it was not looked at before the command")
                continue
            new = seen[path] = self._see(path, status)
            before = self._content(old) if old is not None else None
            after = self._content(new)
            if after is None or (old is not None and before is None):
                untracked.append(f"{path}: it is too large to be kept")
                continue
            room -= len(before or b"") + len(after)
            if room < 0:
                untracked.append(f"{path}: the command changed too much")
            elif before != after or (old is not None and old.mode != new.mode):
                found.append(DiskChange(path=path, before=before, after=after, mode=(old or new).mode))
        else:
            whole = True
        if whole:
            for path, old in self._files.items():
                if path in seen or os.path.lexists(path):
                    continue
                before = self._content(old)
                if before is None:
                    untracked.append(f"{path}: it was too large to be kept, and is gone")
                else:
                    found.append(DiskChange(path=path, before=before, after=None, mode=old.mode))
        if not whole or not self._whole:
            untracked.append(f"{self._root}: there was not time to look at every file")
        self._files = seen
        return Changes(found=found, untracked=untracked)

    def close(self) -> None:
        if self._copy is not None:
            self._copy.close()
            self._copy = None

    def _see(self, path: str, status: os.stat_result) -> SeenFile:
        stamp = _stamp(status)
        known = self._files.get(path)
        if known is not None and known.stamp == stamp:
            return known
        kept = self._files[path] = SeenFile(stamp=stamp, at=self._copied(path, status))
        return kept

    def _copied(self, path: str, status: os.stat_result) -> int:
        """Where its content is now. A file that changes while it is read is not kept: nobody knows what that was."""
        if status.st_size > LARGEST or self._end + status.st_size > MOST_BYTES:
            return -1
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(fd, "rb") as file:
                data = file.read(LARGEST + 1)
                if len(data) != status.st_size or _stamp(os.fstat(fd)) != _stamp(status):
                    return -1
            if self._copy is None:
                private_folder(self._folder)
                self._copy = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 -- open until the session ends
            self._copy.seek(self._end)
            self._copy.write(data)
        except (OSError, ValueError):
            return -1
        at, self._end = self._end, self._end + len(data)
        return at

    def _content(self, kept: SeenFile) -> bytes | None:
        size = kept.stamp[2]
        if kept.at < 0 or self._copy is None:
            return None
        with contextlib.suppress(OSError, ValueError):  # ValueError: the session has just ended
            self._copy.seek(kept.at)
            data = self._copy.read(size)
            return data if len(data) == size else None
        return None

    def _tree(self) -> Iterator[tuple[str, os.stat_result] | None]:
        """Every file that counts, folder by folder, the upper ones first; None when there are too many."""
        with contextlib.suppress(OSError, AssentError):
            todo: list[tuple[str, Folder | None, RulesKey]] = [(self._root, rules_above(self._root), ())]
            count = 0
            for folder, rules, key in todo:
                with contextlib.suppress(OSError, AssentError):
                    listed = self._listing(folder, rules, key)
                    todo += [(inner, listed.rules, listed.key) for inner in listed.folders]
                    for path in listed.files:
                        count += 1
                        if count > MOST_FILES:
                            yield None
                            return
                        with contextlib.suppress(OSError):
                            yield path, os.lstat(path)

    def _listing(self, folder: str, rules: Folder | None, key: "RulesKey") -> "_Listing":
        """What counts in a folder. One that did not change since has the same names in it, which need no judging."""
        status = os.lstat(folder)
        stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        known = self._listings.get(folder)
        if known is not None and known.stamp == stamp and known.above == key and not known.has_rules:
            return known if known.rules is rules else replace(known, rules=rules)
        looked = time.time_ns()
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
        has_rules = any(entry.name in KINDS or entry.name == ".git" for entry in listed)
        above = key
        if has_rules:
            rules = folder_rules(folder, rules)
            key = (*key, *(_stamp(os.lstat(entry.path)) for entry in listed if entry.name in KINDS))
        folders: list[str] = []
        files: list[str] = []
        for entry in listed:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in NEVER and not _ignored(rules, entry.path, is_folder=True):
                    folders.append(entry.path)
            elif entry.is_file(follow_symlinks=False) and not _ignored(rules, entry.path, is_folder=False):
                files.append(entry.path)
        found = _Listing(
            stamp=stamp, above=above, key=key, rules=rules, has_rules=has_rules, folders=folders, files=files
        )
        # Clocks of file systems are coarse: a change in the same moment would not show.
        if looked - status.st_mtime_ns > SETTLED:
            self._listings[folder] = found
        else:
            self._listings.pop(folder, None)
        return found


def _ignored(rules: Folder | None, path: str, *, is_folder: bool) -> bool:
    return rules is not None and rules.ignores(path, is_folder=is_folder)


def _stamp(status: os.stat_result) -> Stamp:
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode)


def digest(data: bytes | None) -> str | None:
    return hashlib.sha256(data).hexdigest() if data is not None else None
