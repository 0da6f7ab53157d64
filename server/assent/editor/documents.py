"""The document store: the editor's buffers as we know them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from assent.editor.positions import Encoding
from assent.editor.splices import Splice
from assent.types.blocks import Json

EventKind = Literal["opened", "changed", "saved", "closed", "renamed", "deleted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentEvent:
    kind: EventKind
    uri: str
    version: int | None = None
    splices: tuple[Splice, ...] = ()
    before: str = ""
    after: str = ""
    by_agent: bool = False
    old_uri: str = ""


Listener = Callable[[DocumentEvent], None]


class Document:
    uri: str
    path: str | None
    language_id: str
    version: int | None  # None: closed, followed on disk
    text: str
    dirty: bool
    agent_dirty: bool


class Documents:
    def __init__(self, *, encoding: Encoding = "utf-16") -> None:
        self.encoding: Encoding = encoding  # set once, at initialize

    def open(self, uri: str, language_id: str, version: int, text: str) -> None: ...
    def change(self, uri: str, version: int, changes: Sequence[Json]) -> bool:
        """LSP contentChanges. False: stale, or not open; nothing was changed."""
        ...

    def save(self, uri: str, text: str | None = None) -> None: ...
    def close(self, uri: str) -> None: ...
    def rename(self, old_uri: str, new_uri: str) -> None: ...
    def delete(self, uri: str) -> None: ...
    def get(self, uri: str) -> Document | None: ...
    def by_path(self, path: str) -> Document | None: ...
    def opened(self) -> list[Document]: ...
    def listen(self, listener: Listener) -> Callable[[], None]: ...
