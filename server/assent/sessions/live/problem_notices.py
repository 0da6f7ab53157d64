"""Tells the user what is wrong with settings and definitions, each problem once."""

from collections.abc import Callable, Iterable

from assent.storage.settings import Settings
from assent.wire.shapes import Level


class ProblemNotices:
    def __init__(self, notice: Callable[[Level, str], None], settings: Settings) -> None:
        """`settings`: as they are when the session opens; whoever opens it is told of their problems elsewhere."""
        self._notice = notice
        self._settings = settings
        self._told: set[str] = set()  # of the files that define something

    def settings_changed(self, settings: Settings) -> bool:
        """Tell of problems that were not there before; whether any value is another one now."""
        before, self._settings = self._settings, settings
        known = {str(problem) for problem in before.problems}
        for problem in settings.problems:
            if str(problem) not in known:
                self._notice("warning", str(problem))
        return settings.values != before.values

    def definitions_loaded(self, problems: Iterable[object]) -> None:
        for problem in map(str, problems):
            if problem not in self._told:
                self._told.add(problem)
                self._notice("warning", problem)
