"""Which hooks there are: those of a folder's settings and plugins, and those that count for a while.

Settings are looked at again at most twice a second, so a changed file counts without a restart and asking costs little.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from assent.extensions.hooks.handlers import Handler, HookProblem, parse_entry
from assent.extensions.hooks.ports import HookPorts, Written
from assent.types.hooks import EVENTS, HookCall, HookEvent

FRESH = 0.5  # seconds for which the settings of a folder are taken as known


@dataclass(slots=True)
class _Folder:
    read_at: float
    written: Sequence[Written]
    handlers: list[Handler] = field(default_factory=list[Handler])
    problems: list[HookProblem] = field(default_factory=list[HookProblem])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scoped:
    """Hooks of a skill in use, or of an agent while it runs."""

    handlers: tuple[Handler, ...]
    problems: tuple[HookProblem, ...]
    session_id: str
    agent_id: str | None = None  # only for what happens inside this agent

    def concerns(self, call: HookCall) -> bool:
        return call.session_id == self.session_id and self.agent_id in (None, call.agent_id)


class Registry:
    def __init__(self, ports: HookPorts, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._ports = ports
        self._clock = clock
        self._folders: dict[str, _Folder] = {}
        self._scoped: list[Scoped] = []

    def enter(self, scoped: Scoped) -> Callable[[], None]:
        """They count from now on; gives the way to end that. The same hooks of one session count once."""
        known = {handler.key for handler in self.of_session(scoped.session_id)}
        if scoped.agent_id is not None or any(handler.key not in known for handler in scoped.handlers):
            self._scoped.append(scoped)

        def leave() -> None:
            self._scoped = [each for each in self._scoped if each is not scoped]

        return leave

    def of_session(self, session_id: str) -> list[Handler]:
        """Those that count for a while, whoever they belong to."""
        return [handler for each in self._scoped if each.session_id == session_id for handler in each.handlers]

    def of_call(self, folder: str, call: HookCall) -> list[Handler]:
        """All that may run on an event, those of settings first."""
        known = self.of_folder(folder)
        if not self._scoped or self._ports.disabled(folder):
            return known
        scoped = [handler for each in self._scoped if each.concerns(call) for handler in each.handlers]
        return [*known, *(handler for handler in scoped if self._ports.counts(folder, handler.origin.file))]

    def forget(self, session_id: str, *, agents: bool = True) -> None:
        """A session is over, or its conversation starts afresh; then its agents may still be at work."""
        self._scoped = [
            each for each in self._scoped if each.session_id != session_id or (each.agent_id is not None and not agents)
        ]

    def events(self) -> set[HookEvent]:
        """The events for which anything might run now."""
        found: set[HookEvent] = {handler.event for each in self._scoped for handler in each.handlers}
        for folder in set(self._ports.folders()):  # many sessions, one folder: this is asked for every piece of text
            found.update(handler.event for handler in self.of_folder(folder))
        return found

    def of_folder(self, folder: str) -> list[Handler]:
        return self._known(folder).handlers

    def problems(self, folder: str, session_id: str = "") -> list[HookProblem]:
        own = [problem for each in self._scoped if each.session_id == session_id for problem in each.problems]
        return [*self._known(folder).problems, *own]

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
