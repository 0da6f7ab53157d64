"""A quick list of all sessions (S2), so that listing never opens their transcripts.

An append-only file of summaries beside the sessions; the newest line about a session counts. It is a cache: sessions it
does not know (another version wrote them, or a crash came first) are read from their transcripts' two ends, and it is
written again when it has grown stale. Several processes may append at once; one line is one write. Lists are made in
worker threads while the event loop puts: readers take turns, a writer never waits for them.
"""

import contextlib
import itertools
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import msgspec

from assent.storage import transcript
from assent.storage.files import write_atomically
from assent.storage.fulltext import FullText
from assent.storage.lines import decode
from assent.storage.paths import sessions_dir
from assent.text.attached import own_words
from assent.types.blocks import Json
from assent.types.private_files import private_folder
from assent.types.redaction import redact

PAGE = 50
TITLE = 80  # characters of a prompt that make a title
FIRST_LINES = 50
STALE = 4  # lines per session before the index is written anew


class Summary(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a list shows of a session. A struct, because ten thousand of them are read at once."""

    session_id: str
    title: str = ""
    cwd: str = ""
    branch: str = ""
    updated_at: float = 0.0
    turns: int = 0
    cost_usd: float = 0.0
    folder: str = ""  # the workspace key
    text: str = ""  # beginnings of prompts, for search
    deleted: bool = False


class Index:
    def __init__(self, data: Path) -> None:
        self._root = sessions_dir(data)
        self._file = self._root / "index.jsonl"
        self._known: dict[str, Summary] = {}
        self._read_to = 0
        self._inode = 0
        self._lines = 0
        self._one = msgspec.json.Decoder(Summary)
        self._many = msgspec.json.Decoder(list[Summary])
        self._encoder = msgspec.json.Encoder()
        self._reading = threading.Lock()
        self.words = FullText(data)

    def put(self, summary: Summary) -> None:
        """Remember this about the session, without secrets. It is a cache, so a full disk is no reason to fail."""
        summary = msgspec.structs.replace(summary, title=redact(summary.title), text=redact(summary.text))
        self._known[summary.session_id] = summary
        with contextlib.suppress(OSError):
            private_folder(self._root)
            fd = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                os.write(fd, self._encoder.encode(summary) + b"\n")
            finally:
                os.close(fd)

    def remove(self, session_id: str) -> None:
        self.words.forget(session_id)
        self.put(Summary(session_id=session_id, deleted=True))

    def get(self, session_id: str) -> Summary | None:
        with self._reading:
            self._refresh()
        found = self._known.get(session_id)
        return found if found and not found.deleted else None

    def all(self, *, cwd: str | None = None) -> list[Summary]:
        """Newest first."""
        with self._reading:
            self._refresh()
            self._reconcile()
            known = list(self._known.values())
        found = [s for s in known if not s.deleted and (cwd is None or s.cwd == cwd)]
        found.sort(key=lambda summary: summary.updated_at, reverse=True)
        return found

    def search(self, query: str, *, cwd: str | None = None) -> list[Summary]:
        """Sessions whose title or prompts hold every word."""
        words = query.casefold().split()
        found = self.all(cwd=cwd)
        return [s for s in found if _holds(f"{s.title}\n{s.text}\n{s.branch}".casefold(), words)]

    def _refresh(self) -> None:
        """Read what was appended since last time, by us or by another process."""
        try:
            status = self._file.stat()
        except OSError:
            return
        if status.st_ino != self._inode or status.st_size < self._read_to:
            self._inode, self._read_to, self._lines = status.st_ino, 0, 0
            self._known.clear()
        if status.st_size == self._read_to:
            return
        with self._file.open("rb") as file:
            file.seek(self._read_to)
            data = file.read(status.st_size - self._read_to)
        end = data.rfind(b"\n") + 1
        self._read_to += end
        lines = [line for line in data[:end].split(b"\n") if line]
        self._lines += len(lines)
        for summary in self._decoded(lines):
            self._known[summary.session_id] = summary

    def _decoded(self, lines: list[bytes]) -> list[Summary]:
        """All lines in one go; one by one if some are damaged, which are left out."""
        try:
            return self._many.decode(b"[" + b",".join(lines) + b"]")
        except msgspec.MsgspecError:
            pass
        found: list[Summary] = []
        for line in lines:
            with contextlib.suppress(msgspec.MsgspecError):
                found.append(self._one.decode(line))
        return found

    def _reconcile(self) -> None:
        """Compare with the files that are there; the directory is the truth."""
        before = list(self._known.items())  # what is put from here on may be missing in the listing, and is there
        there = dict(self._files())
        for session_id, folder in there.items():
            known = self._known.get(session_id)
            if known is None or known.deleted:
                self.put(summarise(self._root / folder / f"{session_id}.jsonl"))
            elif not known.title and (title := self._title_since(folder, known)):
                self.put(msgspec.structs.replace(known, title=title))
        for session_id, known in before:
            if session_id not in there and not known.deleted:
                self._known.pop(session_id, None)
        if self._lines > 1000 and self._lines > STALE * max(1, len(there)):
            self._rewrite()

    def _title_since(self, folder: str, known: Summary) -> str:
        """Of a session that had none when it was last summed up: its process may have died before it told."""
        path = self._root / folder / f"{known.session_id}.jsonl"
        with contextlib.suppress(OSError):
            if path.stat().st_mtime > known.updated_at + 1:
                return summarise(path).title
        return ""

    def _files(self) -> Iterator[tuple[str, str]]:
        with contextlib.suppress(OSError), os.scandir(self._root) as folders:
            for folder in folders:
                if not folder.is_dir(follow_symlinks=False):
                    continue
                with contextlib.suppress(OSError):
                    for name in os.listdir(folder.path):  # noqa: PTH208 -- ten thousand Path objects would be felt
                        if name.endswith(".jsonl"):
                            yield name[:-6], folder.name

    def _rewrite(self) -> None:
        live = [summary for summary in list(self._known.values()) if not summary.deleted]
        with contextlib.suppress(OSError):
            write_atomically(self._file, b"".join(self._encoder.encode(summary) + b"\n" for summary in live))
            self._inode = 0


def summarise(path: Path) -> Summary:
    """A session's summary from its transcript: the first line, and the newest state and result."""
    head: Json = {}
    state: Json = {}
    cost = 0.0
    updated = 0.0
    with contextlib.suppress(OSError):
        head = transcript.header(path)
        found = transcript.last_entry(path, "session/state")
        state = found.record if found else {}
        totals = transcript.last_entry(path, "spent") or transcript.last_entry(path, "result")
        cost = float(totals.record.get("total_cost_usd", 0.0)) if totals else 0.0
        updated = path.stat().st_mtime
    return Summary(
        session_id=path.stem,
        title=str(state.get("title", "")) or _first_words(path),
        cwd=str(head.get("cwd", "")),
        branch=str(state.get("branch", "") or head.get("branch", "")),
        updated_at=updated,
        turns=int(state.get("turns", 0)),
        cost_usd=cost,
        folder=path.parent.name,
    )


def _first_words(path: Path) -> str:
    """The beginning of the first prompt, for a session that was killed before it had a title."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        for line in itertools.islice(file, FIRST_LINES):
            record = decode(line)
            if record and record.get("type") in ("session/turn", "user") and not record.get("is_meta"):
                blocks = cast("list[Json]", record.get("content") or [])
                words = " ".join(own_words([each for each in blocks if each.get("type") == "text"]).split())
                if words:
                    return words[:TITLE]
    return ""


def _holds(text: str, words: list[str]) -> bool:
    return all(word in text for word in words)
