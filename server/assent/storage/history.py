"""File history (S3): what every file was before the agent changed it, so that code can go back to any message.

An append-only list of changes, each with the transcript offset at which it happened, and the contents by hash. A
change is two records: `before` is written ahead of the edit, `after` when it is done. Only what the agent changed is
ever in here, and `after` is how we know whether someone else has touched the file since. Several threads may write.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What one file was at some moment: None means that it was not there."""

    path: str
    text: str | None
    encoding: str = "utf-8"
    bom: bytes = b""
    left: str | None = None  # hash of what the agent last left there; None when it left nothing or we do not know
    known: bool = True  # False: the process died between the two records of the last change

    @property
    def data(self) -> bytes | None:
        return None if self.text is None else self.bom + self.text.encode(self.encoding, "replace")


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
        with self._writing:
            self._last.pop(path, None)
            self._open().append(record)

    def since(self, at: int) -> list[Past]:
        """Every file the agent changed at or after this offset, as it was before the first of those changes."""
        first: dict[str, Json] = {}
        left: dict[str, str | None] = {}
        complete: dict[str, bool] = {}
        for record in self._records():
            path = str(record.get("path"))
            if record.get("type") == "before":
                complete[path] = False
                if int(record.get("at", 0)) >= at:
                    first.setdefault(path, record)
            else:
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
        if isinstance(digest, str):
            data = (self._folder / digest).read_bytes()
            text = data.removeprefix(bom).decode(encoding, "replace")
        return Past(path=str(record["path"]), text=text, encoding=encoding, bom=bom, left=left, known=known)

    def _keep(self, file: FileText | None) -> str | None:
        if file is None:
            return None
        digest = digest_of(file)
        assert digest is not None
        private_folder(self._folder)
        kept = self._folder / digest
        if not kept.exists():
            temporary = kept.with_suffix(f".part{secrets.token_hex(4)}")
            with open(temporary, "xb", opener=create_private) as new:
                new.write(content_of(file))
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


def content_of(file: FileText) -> bytes:
    return file.bom + file.text.encode(file.encoding, "surrogatepass" if file.encoding.startswith("utf") else "replace")


def digest_of(file: FileText | None) -> str | None:
    return hashlib.sha256(content_of(file)).hexdigest() if file is not None else None
