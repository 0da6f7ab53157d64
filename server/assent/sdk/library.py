"""Sessions as a program finds them on disk: listed and read, without owning them."""

from __future__ import annotations

from pathlib import Path

from assent.types.blocks import Json
from assent.types.messages import ConversationMessage


def list_sessions(*, cwd: str | Path | None = None, query: str | None = None) -> list[Json]:
    """Sessions of a folder, or all, newest first: sessionId, title, updatedAt, turns, costUsd, cwd, branch."""
    import msgspec

    from assent.sessions.library import catalogue
    from assent.sessions.library.summaries import listed
    from assent.storage import paths
    from assent.storage.index import Index

    found: list[Json] = []
    folder = str(Path(cwd).resolve()) if cwd else None
    cursor: str | None = None
    while True:
        page = catalogue.page(Index(paths.data_dir()), cwd=folder, query=query, cursor=cursor, seconds=None)
        found += [msgspec.to_builtins(listed(each, running=False)) for each in page.summaries]
        if (cursor := page.cursor) is None:
            return found


def read_session(session_id: str) -> tuple[ConversationMessage, ...]:
    """The messages of a session, oldest first."""
    from assent.sessions.library import catalogue
    from assent.storage import paths, transcript

    found = catalogue.found(paths.data_dir(), session_id)
    return tuple(transcript.load(found.transcript).messages)
