"""Full-text search over all conversations (S2): an SQLite FTS5 index beside the files, which stay the truth.

A row is one message: the words of people and of the model, and what tools were called with. The row's number holds that
of its session, so finding sessions never touches their texts. Transcripts only grow, so a session that changed is read
on from where its last reading ended; where something was taken back (a rewind, a tombstone) it is read anew. An index
that is gone, damaged or of another version is made again. It holds no secret: texts are redacted before they go in.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from assent.storage import transcript
from assent.storage.lines import clean, decode
from assent.storage.paths import sessions_dir
from assent.text.attached import own_words
from assent.text.visible import readable
from assent.types.blocks import Json
from assent.types.messages import AssistantMessage, UserMessage
from assent.types.private_files import create_private, private_folder
from assent.types.redaction import redact

if TYPE_CHECKING:
    import sqlite3

log = logging.getLogger(__name__)
Role = Literal["user", "assistant", "tool"]
T = TypeVar("T")

VERSION = 1
PER_SESSION = 20  # bits of a row's number
MOST_TEXT = 20_000  # characters of one message
MOST_INPUT = 1_000  # characters of one call
MOST_HITS = 3
MOST_WORDS = 16
BEFORE, AROUND = 8, 24  # tokens of a snippet
BATCH = 100  # sessions that are written at once
BUSY_SECONDS = 2.0
_GAP = "\u200b"
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f]")  # written without spaces
_TOKEN = re.compile(r"[^\W_]+")
_TAKEN_BACK = (b'{"type":"session/rewound"', b'{"type":"tombstone"')
_SCHEMA = """
CREATE TABLE sessions (number INTEGER PRIMARY KEY, id TEXT UNIQUE, inode INTEGER, size INTEGER, rows INTEGER);
CREATE VIRTUAL TABLE said USING fts5(text, role UNINDEXED, message UNINDEXED, tokenize="unicode61 remove_diacritics 2");
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A few words around those that were looked for."""

    text: str
    ranges: list[tuple[int, int]]  # in UTF-16 code units
    role: Role
    message_id: str


@dataclass(slots=True, kw_only=True)
class Search:
    """What one search found; `hits` is asked for those that are shown."""

    index: FullText
    words: list[tuple[str, ...]]
    sessions: dict[str, list[int]] = field(default_factory=dict[str, list[int]])  # id → rows, the best first
    unread: int = 0

    def hits(self, ids: Sequence[str]) -> dict[str, list[Hit]]:
        wanted = {row: id for id in ids for row in self.sessions.get(id, ())[:MOST_HITS]}
        return self.index.hits(self.words, wanted) if wanted else {}


class FullText:
    def __init__(self, data: Path) -> None:
        self._root = sessions_dir(data)
        self.file = self._root / "search.sqlite"
        self._lock = threading.Lock()  # of this process; SQLite's own keeps others out

    def search(self, query: str, *, seconds: float | None = None) -> Search:
        """Sessions in which every word was said. `seconds`: for reading what is new, at most."""
        words = _words(query)
        if not words:
            return Search(index=self, words=[])

        def searched(db: sqlite3.Connection) -> Search:
            # From here: making the index, or waiting for another process that writes it, is no reading.
            deadline = None if seconds is None else time.monotonic() + seconds
            return self._search(db, words, deadline)

        return self._with_index(searched, Search(index=self, words=words))

    def hits(self, words: Sequence[tuple[str, ...]], wanted: dict[int, str]) -> dict[str, list[Hit]]:
        """The rows in words, by session."""
        rows = self._with_index(lambda db: _rows(db, wanted), [])
        found: dict[str, list[Hit]] = {}
        for id, text, role, message_id in rows:
            found.setdefault(id, []).append(_hit(text, words, role, message_id))
        return found

    def forget(self, session_id: str) -> None:
        """The conversation was deleted: none of its words may stay behind."""
        if self.file.exists():
            self._with_index(lambda db: _forget(db, [session_id]), None)

    def _with_index(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """The index is a cache: where it cannot be used there is nothing to find, and a damaged one is made again."""
        try:
            import sqlite3
        except ImportError:  # a Python without it: titles and prompts are still searched
            return otherwise
        with self._lock:
            for again in (True, False):
                try:
                    with contextlib.closing(self._opened()) as db:
                        return work(db)
                except sqlite3.OperationalError as error:
                    if not again or not _damaged(error):
                        log.warning("the search index cannot be used: %s", error)
                        return otherwise
                except (sqlite3.DatabaseError, UnicodeDecodeError, ValueError) as error:
                    if not again:
                        log.warning("the search index cannot be used: %s", error)
                        return otherwise
                except OSError as error:
                    log.warning("the search index cannot be used: %s", error)
                    return otherwise
                self._drop()
        return otherwise

    def _opened(self) -> sqlite3.Connection:
        import sqlite3

        private_folder(self._root)
        with contextlib.suppress(FileExistsError):
            os.close(create_private(str(self.file), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC))
        db = sqlite3.connect(self.file, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            db.execute("PRAGMA secure_delete = ON")
            db.execute("PRAGMA synchronous = OFF")
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                self._made(db)
        except BaseException:
            db.close()
            raise
        return db

    def _made(self, db: sqlite3.Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version != VERSION:  # else another process was faster
            for (name,) in db.execute("SELECT name FROM sqlite_master WHERE name IN ('said', 'sessions')").fetchall():
                db.execute(f"DROP TABLE {name}")
            for statement in _SCHEMA.strip().split("\n"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")

    def _drop(self) -> None:
        for suffix in ("", "-journal", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                self.file.with_name(self.file.name + suffix).unlink(missing_ok=True)

    # --- reading what is new -----------------------------------------------------------------------------------------

    def _refresh(self, db: sqlite3.Connection, deadline: float | None) -> int:
        """Newest first, until the deadline; how many sessions are left."""
        known = {id: (size, inode) for id, size, inode in db.execute("SELECT id, size, inode FROM sessions")}
        there: dict[str, os.stat_result] = {}
        places: dict[str, str] = {}
        for id, entry in self._files():
            with contextlib.suppress(OSError):
                there[id] = entry.stat(follow_symlinks=False)
                places[id] = entry.path
        gone = [id for id in known if id not in there]
        if gone:
            _forget(db, gone)
        stale = [id for id, status in there.items() if known.get(id) != (status.st_size, status.st_ino)]
        stale.sort(key=lambda id: there[id].st_mtime, reverse=True)
        left = len(stale)
        for at in range(0, len(stale), BATCH):
            db.execute("BEGIN IMMEDIATE")
            for id in stale[at : at + BATCH]:
                if deadline is not None and time.monotonic() > deadline:
                    break
                with contextlib.suppress(OSError):
                    _read(db, id, Path(places[id]))
                left -= 1
            db.execute("COMMIT")
            if deadline is not None and time.monotonic() > deadline:
                break
        return left

    def _files(self) -> Iterator[tuple[str, os.DirEntry[str]]]:
        with contextlib.suppress(OSError), os.scandir(self._root) as folders:
            for folder in folders:
                if folder.is_dir(follow_symlinks=False):
                    with contextlib.suppress(OSError), os.scandir(folder.path) as files:
                        yield from ((file.name[:-6], file) for file in files if file.name.endswith(".jsonl"))

    def _search(self, db: sqlite3.Connection, words: list[tuple[str, ...]], deadline: float | None) -> Search:
        import sqlite3

        unread = 0
        try:
            unread = self._refresh(db, deadline)
        except sqlite3.OperationalError as error:  # another process writes to it, or the disk is full
            if _damaged(error):
                raise
            log.info("the search index is as it was: %s", error)
            if db.in_transaction:
                db.execute("ROLLBACK")
        single = [_newest(db, _asked(word)) for word in words]
        together = _newest(db, " ".join(map(_asked, words))) if len(words) > 1 else single[0]
        numbers = set(single[0]).intersection(*single[1:])
        sessions: dict[str, list[int]] = {}
        for number, id in db.execute("SELECT number, id FROM sessions"):
            if number in numbers:
                best = [together[number]] if number in together else []
                sessions[id] = list(dict.fromkeys([*best, *(each[number] for each in single)]))
        return Search(index=self, words=words, sessions=sessions, unread=unread)


def _newest(db: sqlite3.Connection, query: str) -> dict[int, int]:
    """By the number of the session, its newest row that matches."""
    newest = f"SELECT rowid >> {PER_SESSION}, max(rowid) FROM said WHERE said MATCH ? GROUP BY 1"
    return dict(db.execute(newest, (query,)).fetchall())


def _rows(db: sqlite3.Connection, wanted: dict[int, str]) -> list[tuple[str, str, Role, str]]:
    texts = "SELECT text, role, message FROM said WHERE rowid = ?"
    found = ((id, db.execute(texts, (row,)).fetchone()) for row, id in wanted.items())
    return [(id, *line) for id, line in found if line is not None]


def _damaged(error: Exception) -> bool:
    """Of the errors that SQLite calls operational, those which a new index would not have; not a full or locked one."""
    return any(words in str(error) for words in ("malformed", "no such table", "no such column"))


def _forget(db: sqlite3.Connection, ids: Sequence[str]) -> None:
    for id in ids:
        found = db.execute("SELECT number FROM sessions WHERE id = ?", (id,)).fetchone()
        if found is not None:
            first = found[0] << PER_SESSION
            if not db.in_transaction:
                db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM said WHERE rowid >= ? AND rowid < ?", (first, first + (1 << PER_SESSION)))
            db.execute("DELETE FROM sessions WHERE number = ?", (found[0],))
    if db.in_transaction:
        db.execute("INSERT INTO said(said) VALUES ('optimize')")  # else deleted words stay in older segments
        db.execute("COMMIT")


def _read(db: sqlite3.Connection, id: str, path: Path) -> None:
    """Bring one session up to date."""
    found = db.execute("SELECT number, inode, size, rows FROM sessions WHERE id = ?", (id,)).fetchone()
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        if found is None:
            number = db.execute("INSERT INTO sessions(id) VALUES (?)", (id,)).lastrowid or 0
            start = rows = 0
        else:
            number, inode, start, rows = found
            if inode != status.st_ino or status.st_size < start:
                start = 0
        file.seek(start)
        lines = file.read(status.st_size - start).split(b"\n")
    if start and any(line.startswith(_TAKEN_BACK) for line in lines):
        start = 0
    end = status.st_size - len(lines[-1])  # a line that is still being written comes next time
    if start == 0:
        db.execute(
            "DELETE FROM said WHERE rowid >= ? AND rowid < ?", (number << PER_SESSION, (number + 1) << PER_SESSION)
        )
        rows = 0
        said = _conversation(path)
    else:
        said = (text for line in lines[:-1] for text in _texts(decode(line)))
    for text, role, message in said:
        if rows >= (1 << PER_SESSION) - 1:
            break
        rows += 1
        db.execute(
            "INSERT INTO said(rowid, text, role, message) VALUES (?, ?, ?, ?)",
            ((number << PER_SESSION) + rows, text, role, message),
        )
    # What was not whole is looked at again: the size we note is where reading goes on.
    db.execute("UPDATE sessions SET inode = ?, size = ?, rows = ? WHERE number = ?", (status.st_ino, end, rows, number))


def _conversation(path: Path) -> Iterator[tuple[str, Role, str]]:
    """All of it as it is now: what was rewound or withdrawn is not found."""
    withdrawn: set[str] = set()
    kept: dict[str, Json] = {}
    for entry in transcript.stream(path):
        if isinstance(entry, int):
            continue
        if entry.type == "tombstone" and entry.record.get("reason") != "snip":
            withdrawn.update(cast("list[str]", entry.record.get("message_uuids", [])))
        elif entry.type in ("user", "assistant"):
            kept[str(entry.record.get("uuid"))] = entry.record
    for uuid, record in kept.items():
        if uuid not in withdrawn:
            yield from _texts(record)


def _texts(record: Json | None) -> Iterator[tuple[str, Role, str]]:
    if record is None or record.get("type") not in ("user", "assistant"):
        return
    message = transcript.revive(record)
    if not isinstance(message, UserMessage | AssistantMessage) or getattr(message, "is_meta", False):
        return
    blocks = [block for block in message.content if block.get("type") in ("text", "tool_use")]
    words = own_words([block for block in blocks if block.get("type") == "text"])
    if words.strip():
        yield _indexed(words, MOST_TEXT), "user" if isinstance(message, UserMessage) else "assistant", message.uuid
    called = " ".join(_values(block.get("input")) for block in blocks if block.get("type") == "tool_use")
    if called.strip():
        yield _indexed(called, MOST_INPUT * 4), "tool", message.uuid


def _values(given: Any) -> str:
    values = cast("dict[str, Any]", given).values() if isinstance(given, dict) else ()
    return " ".join(value[:MOST_INPUT] for value in values if isinstance(value, str))


def _indexed(text: str, most: int) -> str:
    """As it is stored: without secrets, on one line, with a gap around characters that are words of their own."""
    line = " ".join(readable(redact(clean(text))[:most]).replace(_GAP, "").split())
    return _WIDE.sub(lambda found: f"{_GAP}{found[0]}{_GAP}", line)


def _words(query: str) -> list[tuple[str, ...]]:
    """Each word of a query as the index keeps it: mostly one token, several where it is `src/app.py` or 検索."""
    found: list[tuple[str, ...]] = []
    for part in clean(query).split():
        if pieces := tuple(_TOKEN.findall(_WIDE.sub(lambda each: f" {each[0]} ", part))):
            found.append(pieces)
    return found[:MOST_WORDS]


def _asked(words: tuple[str, ...]) -> str:
    """For FTS5: a phrase whose last token may be a beginning, since it may still be being typed."""
    return f'"{" ".join(words)}" *'


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """As the tokenizer sees them: runs of letters and digits, without case and accents; and where they stand."""
    for found in _TOKEN.finditer(text):
        yield _plain(found[0]), found.start(), found.end()


def _plain(word: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", word.casefold()) if not unicodedata.combining(char))


def _hit(text: str, words: Sequence[tuple[str, ...]], role: Role, message_id: str) -> Hit:
    """A few words around the first place where one of those that were looked for was said."""
    tokens = list(_tokens(text))
    plain = [tuple(map(_plain, pieces)) for pieces in words]
    places = [found for at in range(len(tokens)) if (found := _stands(tokens, at, plain)) is not None]
    first = places[0][0] if places else 0
    begin = max(0, first - BEFORE)
    end = min(len(tokens), begin + AROUND)
    start = tokens[begin][1] if begin else 0
    stop = tokens[end - 1][2] if end < len(tokens) else len(text)
    head, tail = "…" if start else "", "…" if stop < len(text) else ""
    ranges = [(tokens[a][1], tokens[b][2]) for a, b in places if a >= begin and b < end]
    shown = head + text[start:stop].replace(_GAP, "") + tail

    def units(position: int) -> int:
        return len((head + text[start:position].replace(_GAP, "")).encode("utf-16-le")) // 2

    return Hit(text=shown, ranges=[(units(a), units(b)) for a, b in ranges], role=role, message_id=message_id)


def _stands(
    tokens: Sequence[tuple[str, int, int]], at: int, words: Sequence[tuple[str, ...]]
) -> tuple[int, int] | None:
    """The first and last token of a word that begins here."""
    for pieces in words:
        there = [token for token, _start, _end in tokens[at : at + len(pieces)]]
        if len(there) == len(pieces) and there[:-1] == [*pieces[:-1]] and there[-1].startswith(pieces[-1]):
            return at, at + len(pieces) - 1
    return None
