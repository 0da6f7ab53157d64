"""Which files changed last: the order of everything a search finds.

Looking at a file's age costs about as much as finding it did. So it is done while the search still runs, by names
relative to one open folder (the kernel then walks less), and only as many are put in order as will be shown.
"""

import os
from collections.abc import Sequence
from types import TracebackType
from typing import AnyStr, Generic

from assent.tools.files import disk

_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_GONE = float("-inf")
_TO_COME = float("inf")


class Dated(Generic[AnyStr]):
    """Names below one folder, each with the time of its last change; those that vanished count as the oldest."""

    def __init__(self, folder: str) -> None:
        self.names: list[AnyStr] = []
        self._times: list[float] = []
        self._path = folder
        self._folder = -1

    def __enter__(self) -> "Dated[AnyStr]":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._folder >= 0:
            os.close(self._folder)

    def add(self, names: Sequence[AnyStr]) -> None:
        if not names:
            return
        stat, folder = os.stat, self._opened()
        try:
            self._times += [stat(name, dir_fd=folder).st_mtime for name in names]
        except OSError:
            self._times += [self._time(name) for name in names]
        self.names += names

    def add_unsaved(self, names: Sequence[AnyStr]) -> None:
        """What the editor has yet to write is newer than anything on disk; it need not be there at all."""
        self._times += [_TO_COME] * len(names)
        self.names += names

    def newest(self, most: int) -> list[AnyStr]:
        """So many names at most, the newest first, equals by name."""
        oldest = sorted(self._times, reverse=True)[most - 1] if 0 < most < len(self._times) else _GONE
        chosen = [(-time, name) for time, name in zip(self._times, self.names, strict=True) if time >= oldest]
        chosen.sort()
        return [name for _, name in chosen[:most]]

    def _opened(self) -> int:
        if self._folder < 0:
            try:
                self._folder = os.open(self._path, _FOLDER)
            except OSError as error:
                raise disk.unusable(self._path, error) from None
        return self._folder

    def _time(self, name: AnyStr) -> float:
        try:
            return os.stat(name, dir_fd=self._folder).st_mtime
        except OSError:
            return _GONE
