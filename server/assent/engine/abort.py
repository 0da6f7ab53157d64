"""A handle that aborts the running turn from outside. It is set once, notifies its listeners, and can be reset."""

from collections.abc import Callable


class Abort:
    def __init__(self) -> None:
        self._aborted = False
        self.why = ""  # what calls that are cut off are told, where it was not the user who stopped the turn
        self._listeners: list[Callable[[], None]] = []

    @property
    def aborted(self) -> bool:
        return self._aborted

    def abort(self, *, why: str = "") -> None:
        if not self._aborted:
            self._aborted = True
            self.why = why
            for listener in list(self._listeners):
                listener()

    def reset(self) -> None:
        self._aborted = False
        self.why = ""

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` at the abort; gives the way to stop listening."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)
