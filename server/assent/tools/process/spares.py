"""Fences that a command has left behind unused, for the next one: its ruleset, and its private folder, empty again.

To make them anew takes longer than all the rest of a fence. A ruleset speaks of inodes, so it fits only while every
path still is what it was (`identity`). Owned by the keeper of a session's processes, whose supervisor says which
folders are empty and out of everyone's reach.
"""

import contextlib
import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass

from assent.tools.process.landlock import Rule
from assent.tools.process.leftovers import remove

MOST_SPARES = 4  # idle ones

Identity = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spare:
    rules: Identity
    scratch: str
    ruleset: int
    folder: int  # the scratch folder's inode: whoever replaced it gets nothing

    def discard(self) -> None:
        os.close(self.ruleset)
        remove(self.scratch)


class Spares:
    """The idle fences of one session. `take` is called by threads."""

    def __init__(self) -> None:
        self._idle: list[Spare] = []
        self._lock = threading.Lock()
        self._closed = False

    def take(self, rules: Identity) -> Spare | None:
        with self._lock:
            idle, self._idle = self._idle, []
            fitting = [spare for spare in idle if spare.rules == rules and _is_there(spare)]
            self._idle = fitting[1:]
        for spare in idle:
            if spare not in fitting:
                spare.discard()
        return fitting[0] if fitting else None

    def give(self, spare: Spare) -> None:
        with self._lock:
            kept = not self._closed and len(self._idle) < MOST_SPARES
            if kept:
                self._idle.append(spare)
        if not kept:
            spare.discard()

    def close(self) -> None:
        with self._lock:
            idle, self._idle, self._closed = self._idle, [], True
        for spare in idle:
            spare.discard()


def identity(rules: Iterable[Rule]) -> Identity:
    """The rules, each with what its path is now. A path that is not there has no inode."""
    found: list[tuple[str, int, int, int]] = []
    for path, access in rules:
        device, inode = 0, 0
        with contextlib.suppress(OSError):
            status = os.stat(path)  # noqa: PTH116 -- hundreds for each command
            device, inode = status.st_dev, status.st_ino
        found.append((path, access, device, inode))
    return tuple(found)


def _is_there(spare: Spare) -> bool:
    try:
        return os.lstat(spare.scratch).st_ino == spare.folder
    except OSError:
        return False
