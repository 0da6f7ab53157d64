"""Which workspaces the user trusts (P14): for this process, or for good. Untrusted is the default.

Trusting a folder covers what is inside it; saying no to an inner folder stays no.
"""

import contextlib
import logging
import os
from pathlib import Path
from typing import Literal, cast

import orjson

from assent.storage.files import write_atomically

log = logging.getLogger(__name__)


class TrustStore:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._session: dict[str, bool] = {}
        self._read: tuple[tuple[int, int], dict[str, bool]] | None = None

    def trusted(self, folder: str) -> bool:
        answers = self._saved() | self._session
        path = Path(os.path.realpath(folder))
        for candidate in (path, *path.parents):
            answer = answers.get(str(candidate))
            if answer is not None:
                return answer
        return False

    def decided(self, folder: str) -> bool:
        """Whether the user has said anything about exactly this folder or one around it."""
        answers = self._saved() | self._session
        path = Path(os.path.realpath(folder))
        return any(str(candidate) in answers for candidate in (path, *path.parents))

    def set(self, folder: str, *, trusted: bool, remember: Literal["session", "always"]) -> bool:
        """Whether it is remembered as asked. An answer that the disk did not take counts until this process ends."""
        key = os.path.realpath(folder)
        self._session[key] = trusted
        if remember == "session":
            return True
        saved = self._saved()
        saved[key] = trusted
        try:
            write_atomically(self._file, orjson.dumps({"folders": saved}, option=orjson.OPT_INDENT_2))
        except OSError as error:
            log.warning("the trust in %s could not be saved: %s", key, error.strerror)
            return False
        del self._session[key]  # the file speaks for it, and what another window writes there later
        return True

    def _saved(self) -> dict[str, bool]:
        """The file's answers, read again when it changed: another window may have been told."""
        try:
            status = self._file.stat()
        except OSError:
            return {}
        stamp = (status.st_mtime_ns, status.st_size)
        if self._read is None or self._read[0] != stamp:
            self._read = (stamp, self._parsed())
        return dict(self._read[1])

    def _parsed(self) -> dict[str, bool]:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            folders = orjson.loads(self._file.read_bytes()).get("folders")
            if isinstance(folders, dict):
                items = cast("dict[str, object]", folders).items()
                return {folder: answer for folder, answer in items if isinstance(answer, bool)}
        return {}
