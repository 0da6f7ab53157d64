"""Sessions as files: listed, searched, copied, exported, deleted. None of these needs to own a session to read it."""

import contextlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assent.sessions.live.record import VERSION
from assent.storage import transcript
from assent.storage.fulltext import Hit, Search
from assent.storage.index import PAGE, Index, Summary
from assent.storage.lines import encode
from assent.storage.lock import acquire, busy
from assent.storage.paths import SessionPaths, find_session, session_paths, sessions_dir
from assent.storage.transcript import Entry
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ids import new_id
from assent.types.private_files import create_private, private_folder

SEARCH_SECONDS = 1.0
NOT_COPIED = frozenset({"session/header", "session/format", "session/rewound", "session/turn"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSessions:
    """One page of a search or of the list."""

    summaries: list[Summary]
    cursor: str | None
    hits: dict[str, list[Hit]] = field(default_factory=dict[str, list[Hit]])  # by session, where the words were said
    unread: int = 0  # sessions that the search does not know yet


def found(data: Path, session_id: object) -> SessionPaths:
    if not isinstance(session_id, str):
        raise ProtocolError("invalidParams", "sessionId must be a string")
    paths = find_session(data, session_id)
    if paths is None:
        hint = "List the sessions, or start a new one."
        raise ProtocolError("unknownSession", f"There is no session {session_id}", hint=hint)
    return paths


def page(
    index: Index,
    *,
    cwd: str | None,
    query: str | None,
    cursor: str | None,
    seconds: float | None = SEARCH_SECONDS,
) -> FoundSessions:
    """One page of the list, newest first, and the cursor to the next. `seconds`: for reading what is new, at most."""
    cwd = str(Path(cwd)) if cwd else None  # as sessions keep it, without a slash at the end
    summaries, said = search(index, query, cwd=cwd, seconds=seconds) if query else (index.all(cwd=cwd), None)
    try:
        start = max(0, int(cursor or 0))
    except ValueError:
        hint = "Send the nextCursor of the page before, or none."
        raise ProtocolError("invalidParams", "the cursor is not one of ours", hint=hint) from None
    end = start + PAGE
    shown = summaries[start:end]
    return FoundSessions(
        summaries=shown,
        cursor=str(end) if end < len(summaries) else None,
        hits=said.hits([each.session_id for each in shown]) if said else {},
        unread=said.unread if said else 0,
    )


def running(data: Path, summaries: Sequence[Summary]) -> frozenset[str]:
    """Those in which another process runs a turn right now."""
    return frozenset(
        summary.session_id
        for summary in summaries
        if busy(SessionPaths(transcript=sessions_dir(data) / summary.folder / f"{summary.session_id}.jsonl").lock)
    )


def search(index: Index, query: str, *, cwd: str | None, seconds: float | None) -> tuple[list[Summary], Search]:
    """Sessions whose title or prompts hold the words; then, newest first, those where they were said at all."""
    named = index.search(query, cwd=cwd)
    known = {summary.session_id for summary in named}
    said = index.words.search(query, seconds=seconds)
    others = [each for each in index.all(cwd=cwd) if each.session_id in said.sessions and each.session_id not in known]
    return [*named, *others], said


def fork(data: Path, source: SessionPaths, *, message_id: str | None, now: float, before: bool = False) -> str:
    """A new session with the same conversation, up to and with a message if one is named; `before`: without it."""
    head = transcript.header(source.transcript)
    cwd = str(head.get("cwd") or Path.home())
    last = transcript.find_uuid(source.transcript, message_id) if message_id else None
    if message_id and last is None:
        raise ProtocolError("invalidParams", f"There is no message {message_id} in this session")
    target = session_paths(data, cwd, new_id("s"))
    private_folder(target.transcript.parent)
    partial = target.transcript.with_suffix(".part")
    state: Json = {}
    with open(partial, "xb", opener=create_private) as file:
        header = {**head, "version": VERSION, "sessionId": target.session_id, "createdAt": now}
        file.write(encode({**header, "type": "session/header", "forkedFrom": source.session_id}))
        file.write(encode({"type": "session/format", "version": transcript.FORMAT}))
        for entry in transcript.stream(source.transcript):
            if not isinstance(entry, Entry):
                continue
            if before and last is not None and entry.offset >= last.offset:
                break
            if entry.type == "session/state":
                state = entry.record
            elif entry.type not in NOT_COPIED:
                file.write(encode(entry.record))
            if last is not None and entry.offset >= last.offset:
                break
        title = str(state.get("title", ""))
        file.write(encode({**state, "type": "session/state", "title": f"{title} (fork)", "queue": [], "asks": []}))
    if source.spill.is_dir():
        shutil.copytree(source.spill, target.spill, copy_function=shutil.copy2)
    partial.replace(target.transcript)
    return target.session_id


def sweep(folder: Path) -> None:
    """Remove what sessions without a name left here when their process was killed."""
    for transcript_file in sessions_dir(folder).glob("*/*.jsonl"):
        with contextlib.suppress(ProtocolError, OSError):  # another process is using it
            delete(SessionPaths(transcript=transcript_file), None)


def delete(paths: SessionPaths, index: Index | None, *, only_if: Callable[[], bool] = lambda: True) -> None:
    """Remove everything of a session, if `only_if` still holds once it is ours. Raises ownedElsewhere while another
    process has it open."""
    lock = acquire(paths.lock)
    try:
        if not only_if():
            return
        paths.transcript.unlink(missing_ok=True)
        shutil.rmtree(paths.folder, ignore_errors=True)
        if index is not None:
            index.remove(paths.session_id)
        paths.lock.unlink(missing_ok=True)
    finally:
        lock.release()
