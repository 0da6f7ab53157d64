"""How long conversations are kept: `retention.days` of the user's own settings. Unset, nothing is ever deleted.

A conversation goes when neither its file was written nor it was imported within that time, and nobody has it open. Its
age is looked at again once its lock is ours: whoever wrote to it in between keeps it.
"""

import contextlib
import logging
from collections.abc import Callable, Container
from pathlib import Path

from assent.sessions.library import catalogue
from assent.storage import transcript
from assent.storage.index import Index
from assent.storage.paths import SessionPaths, sessions_dir
from assent.types.errors import ProtocolError

log = logging.getLogger(__name__)
DAY = 24 * 3600.0


def sweep(data: Path, index: Index, *, days: int, now: float, is_open: Container[str]) -> list[str]:
    """Delete what is older than so many days; the ids of what is gone."""
    gone: list[str] = []
    for file in sessions_dir(data).glob("*/*.jsonl"):
        paths = SessionPaths(transcript=file)
        if paths.session_id in is_open or not _older(paths, now - days * DAY):
            continue
        with contextlib.suppress(ProtocolError, OSError):  # open in another process, or not ours to delete
            catalogue.delete(paths, index, only_if=_still_older(paths, now - days * DAY))
            if not file.exists():
                gone.append(paths.session_id)
    if gone:
        log.info("deleted %d conversations that are older than %d days", len(gone), days)
    return gone


def _still_older(paths: SessionPaths, limit: float) -> Callable[[], bool]:
    return lambda: _older(paths, limit)


def _older(paths: SessionPaths, limit: float) -> bool:
    try:
        if paths.transcript.stat().st_mtime >= limit:
            return False
        imported = transcript.header(paths.transcript).get("importedAt")
    except OSError:
        return False
    return not (isinstance(imported, int | float) and imported >= limit)
