"""Which hooks there are: those of a folder's settings and plugins.

Settings are looked at again at most twice a second, so a changed file counts without a restart and asking costs little.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from assent.extensions.hooks.handlers import Handler, HookProblem, parse_entry
from assent.extensions.hooks.ports import HookPorts, Written
from assent.types.hooks import EVENTS, HookEvent

FRESH = 0.5  # seconds for which the settings of a folder are taken as known


@dataclass(slots=True)
class _Folder:
    read_at: float
    written: Sequence[Written]
    handlers: list[Handler] = field(default_factory=list[Handler])
    problems: list[HookProblem] = field(default_factory=list[HookProblem])


class Registry:
    def __init__(self, ports: HookPorts, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._ports = ports
        self._clock = clock
        self._folders: dict[str, _Folder] = {}

    def events(self) -> set[HookEvent]:
        """The events for which anything might run now."""
        found: set[HookEvent] = set()
        for folder in self._ports.folders():
            found.update(handler.event for handler in self.of_folder(folder))
        return found

    def of_folder(self, folder: str) -> list[Handler]:
        known = self._known(folder)
        more = [handler for source in self._ports.more for handler in source(folder)]
        return [*known.handlers, *more] if more else known.handlers

    def problems(self, folder: str) -> list[HookProblem]:
        return self._known(folder).problems

    def look_again(self) -> None:
        """A settings file changed."""
        for known in self._folders.values():
            known.read_at = float("-inf")

    def _known(self, folder: str) -> _Folder:
        known = self._folders.get(folder)
        now = self._clock()
        if known is not None and now - known.read_at < FRESH:
            return known
        written = self._ports.written(folder)
        if known is None or known.written != written:
            known = _Folder(now, written)
            for each in written:
                if each.event in EVENTS:
                    handlers, problems = parse_entry(each.event, each.entry, each.origin)
                    known.handlers += handlers
                    known.problems += problems
            self._folders[folder] = known
        known.read_at = now
        return known
