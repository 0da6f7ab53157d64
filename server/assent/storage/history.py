"""File history (S3): what every file was before the agent changed it, so that code can go back to any message.

An append-only list of changes, each with the transcript offset at which it happened, and the contents by hash. A
change is two records: `before` is written ahead of the edit, `after` when it is done. Only what the agent changed is
ever in here, and `after` is how we know whether someone else has touched the file since. What commands changed is
found out afterwards, as bytes, and what nobody could look at is an `untracked` record. Several threads may write.
"""

import contextlib
import hashlib
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assent.storage.journal import Journal
from assent.storage.lines import decode
from assent.types.blocks import Json
from assent.types.ports import FileText
from assent.types.private_files import create_private, private_folder

MOST_LEFT = 1024 * 1024  # characters of what an edit left that are kept for merging


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What one file was at some moment: None means that it was not there."""

    path: str
    text: str | None
    encoding: str = "utf-8"
    bom: bytes = b""
    left: str | None = None  # hash of what the agent last left there; None when it left nothing or we do not know
    known: bool = True  # False: the process died between the two records of the last change
    content: bytes | None = None
    left_content: bytes | None = None  # where it was kept
    mode: int | None = None  # where it is known

    @property
    def existed(self) -> bool:
        return self.content is not None


class FileHistory:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._journal: Journal | None = None
        self._last: dict[str, str | None] = {}  # path → hash of the last `before`, to leave out the second of a pair
        self._writing = threading.Lock()  # for the list; contents have names of their own

    def before(self, path: str, file: FileText | None, *, at: int, turn_id: str = "", tool_use_id: str = "") -> None:
        """The file is about to be changed."""
        digest = self._keep(file)
        record: Json = {"type": "before", "path": path, "sha256": digest, "at": at, "turnId": turn_id}
        if tool_use_id:
            record["toolUseId"] = tool_use_id
        if file is not None:
            record |= {"encoding": file.encoding, "bom": file.bom.hex()}
        with self._writing:
            if path in self._last and self._last[path] == digest:
                return
            self._last[path] = digest
            self._open().append(record)

    def after(self, path: str, file: FileText | None) -> None:
        """The change is made; the file is this now."""
        record: Json = {"type": "after", "path": path, "sha256": digest_of(file)}
        if file is not None and len(file.text) <= MOST_LEFT:
            with contextlib.suppress(OSError):  # it serves merging with later changes of others, and nothing else
                self._keep(file)
        with self._writing:
            self._last.pop(path, None)
            self._open().append(record)

    def changed(
        self, path: str, before: bytes | None, after: bytes | None, *, at: int, turn_id: str = "", mode: int = 0o644
    ) -> None:
        """A command has changed the file; it began at this offset."""
        was, left = self._keep_bytes(before), self._keep_bytes(after)
        record: Json = {"type": "before", "path": path, "sha256": was, "at": at, "turnId": turn_id}
        with self._writing:
            self._last.pop(path, None)
            self._open().append({**record, "mode": mode, "bytes": True})
            self._open().append({"type": "after", "path": path, "sha256": left})

    def untracked(self, words: str, *, at: int) -> None:
        """Something may have changed here that no rewind can take back."""
        with self._writing:
            self._open().append({"type": "untracked", "words": words, "at": at})

    def untracked_since(self, at: int) -> list[str]:
        said = [r for r in self._records() if r.get("type") == "untracked" and int(r.get("at", 0)) >= at]
        return list(dict.fromkeys(str(record.get("words")) for record in said))

    def since(self, at: int) -> list[Past]:
        """Every file the agent changed at or after this offset, as it was before the first of those changes."""
        first: dict[str, Json] = {}
        left: dict[str, str | None] = {}
        complete: dict[str, bool] = {}
        for record in self._records():
            path = str(record.get("path"))
            if record.get("type") == "before":
                complete[path] = False
                # A command's change is written down when it is over: what came first is told by where it began.
                begun = int(record.get("at", 0))
                if begun >= at and (path not in first or begun < int(first[path].get("at", 0))):
                    first[path] = record
            elif record.get("type") == "after":
                left[path] = record.get("sha256")
                complete[path] = True
        return [self._past(record, left.get(path), complete[path]) for path, record in first.items()]

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _past(self, record: Json, left: str | None, known: bool) -> Past:
        digest = record.get("sha256")
        encoding = str(record.get("encoding", "utf-8"))
        bom = bytes.fromhex(str(record.get("bom", "")))
        text: str | None = None
        data: bytes | None = None
        if isinstance(digest, str):
            data = (self._folder / digest).read_bytes()
            text = data.removeprefix(bom).decode(encoding, "replace")
            if record.get("bytes"):
                text = _text_of(data)
        left_content: bytes | None = None
        if left is not None:
            with contextlib.suppress(OSError):
                left_content = (self._folder / left).read_bytes()
        mode = record.get("mode")
        return Past(
            path=str(record["path"]),
            text=text,
            encoding=encoding,
            bom=bom,
            left=left,
            known=known,
            content=data,
            left_content=left_content,
            mode=mode if isinstance(mode, int) else None,
        )

    def _keep(self, file: FileText | None) -> str | None:
        return self._keep_bytes(content_of(file)) if file is not None else None

    def _keep_bytes(self, content: bytes | None) -> str | None:
        if content is None:
            return None
        digest = hashlib.sha256(content).hexdigest()
        private_folder(self._folder)
        kept = self._folder / digest
        if not kept.exists():
            temporary = kept.with_suffix(f".part{secrets.token_hex(4)}")
            with open(temporary, "xb", opener=create_private) as new:
                new.write(content)
            temporary.replace(kept)
        return digest

    def _records(self) -> Iterator[Json]:
        with contextlib.suppress(FileNotFoundError), (self._folder / "changes.jsonl").open("rb") as file:
            for line in file:
                record = decode(line)
                if record is not None:
                    yield record

    def _open(self) -> Journal:
        if self._journal is None:
            self._journal = Journal(self._folder / "changes.jsonl")
        return self._journal


def _text_of(data: bytes) -> str | None:
    """Plain UTF-8 text; None for anything else, which is put back byte for byte."""
    try:
        return data.decode() if b"\0" not in data and not data.startswith(b"\xef\xbb\xbf") else None
    except UnicodeDecodeError:
        return None


def content_of(file: FileText) -> bytes:
    return file.bom + file.text.encode(file.encoding, "surrogatepass" if file.encoding.startswith("utf") else "replace")


def digest_of(file: FileText | None) -> str | None:
    return hashlib.sha256(content_of(file)).hexdigest() if file is not None else None
