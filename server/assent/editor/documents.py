"""The document store: the editor's buffers as the client told us, and files that something of ours is anchored in.

Rules:
1. A buffer changes by what the client reports, in version order; a stale version changes nothing.
2. Every change is told to listeners as splices that lead from the text before to the text after, whatever its cause:
   typing, our own edit coming back, an undo, a reload, a save that formats, a file changed on disk while closed.
3. A file someone `follow`s stays known after it is closed (version None), with the text it has on disk.
4. When the text after a change is one we expect (our edit, or its undo or redo), the splices told are the ones we
   meant: clients report equal texts by different, equally right changes.

Not aware of LSP libraries, of proposals, or of the disk: whoever watches files calls `disk`.
"""

import hashlib
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from assent.text.diff import diff_splices, refined
from assent.text.lines import LineIndex, is_empty
from assent.text.positions import Encoding, joined_surrogates, splice_of, well_formed
from assent.text.splices import Splice, apply_together, in_sequence, inverted, splice, trimmed
from assent.text.uris import notebook_of, path_of, same_document, uri_of
from assent.types.ports import FileText

log = logging.getLogger(__name__)

EventKind = Literal["opened", "changed", "saved", "closed", "renamed", "deleted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentEvent:
    """`splices` turn `before` into `after`, one after the other. `landed` names the expectation that was met."""

    kind: EventKind
    uri: str
    version: int | None = None
    splices: tuple[Splice, ...] = ()
    before: str = ""
    after: str = ""
    landed: "Expectation | None" = None
    old_uri: str = ""


Listener = Callable[[DocumentEvent], None]


@dataclass(frozen=True, slots=True, eq=False)
class Expectation:
    """An edit of ours under way: `changes` apply together to `before`. Equal only to itself."""

    before: str
    changes: tuple[Splice, ...]
    after: str
    hunks: bool  # the agent's work on a file, which commands must see; not the text of a conversation

    @classmethod
    def of(cls, before: str, changes: Sequence[Splice], *, hunks: bool = False) -> "Expectation":
        return cls(before, tuple(changes), apply_together(before, changes), hunks)


@dataclass(slots=True, kw_only=True)
class Document:
    uri: str  # in the one spelling we key by
    client_uri: str  # as the client spells it: what goes back on the wire
    path: str | None
    language_id: str
    version: int | None  # None: closed, and followed on disk
    text: str
    lines: LineIndex
    saved: str | None  # what the file holds, as far as we know; None: nothing yet
    agent_dirty: bool = False  # holds an edit of ours that is not saved
    expected: Expectation | None = None
    landings: deque[Expectation] = field(default_factory=lambda: deque[Expectation](maxlen=8))

    @property
    def open(self) -> bool:
        return self.version is not None

    @property
    def dirty(self) -> bool:
        return self.text != self.saved

    @property
    def absent(self) -> bool:
        """There is no file yet, as far as we know. An editor opens what the file holds, or an empty buffer for none."""
        return self.saved is None and self.path is not None


def text_sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Documents:
    def __init__(self, *, encoding: Encoding = "utf-16") -> None:
        self.encoding: Encoding = encoding  # agreed once, at initialize
        self._documents: dict[str, Document] = {}
        self._followers: dict[str, int] = {}
        self._notebooks: set[str] = set()
        self._listeners: list[Listener] = []
        self.on_interest: Callable[[], None] = lambda: None  # the set of followed closed files has changed

    # --- what the client tells ---------------------------------------------------------------------------------------

    def open(self, uri: str, language_id: str, version: int | None, text: str) -> None:
        client_uri, uri = uri, same_document(uri)
        text = joined_surrogates(text)
        known = self._documents.get(uri)
        before = text if known is None else known.text
        document = Document(
            uri=uri,
            client_uri=client_uri,
            path=path_of(uri),
            language_id=language_id,
            version=0 if version is None else version,
            text=text,
            lines=LineIndex(text),
            saved=known.saved if known is not None and (known.open or (known.absent and is_empty(text))) else text,
        )
        if known is not None:
            document.landings = known.landings
            document.agent_dirty = known.agent_dirty and known.open
        self._documents[uri] = document
        self._tell("opened", document, before, in_sequence(diff_splices(before, text)))
        if known is not None and not known.open:
            self.on_interest()

    def change(self, uri: str, version: int | None, changes: Sequence[Mapping[str, Any]]) -> bool:
        """LSP contentChanges. False: stale, malformed or not open; nothing was changed."""
        document = self._documents.get(same_document(uri))
        if document is None or document.version is None:
            return False
        if version is not None and version <= document.version:
            return False
        spans = [change["range"] for change in changes if change.get("range") is not None]
        if not well_formed(spans) or not all(isinstance(change.get("text"), str) for change in changes):
            log.warning("a malformed change of %s was ignored", document.uri)
            return False
        document.version = document.version + 1 if version is None else version
        before, pending, told = document.text, list[Splice](), False
        for change in changes:
            pending += self._absorb(document, change)
            meant = self._meant(document, before)
            if meant is not None:
                landed, splices = meant
                self._tell("changed", document, before, splices, landed=landed)
                before, pending, told = document.text, [], True
        if pending or not told:
            self._tell("changed", document, before, pending)
        return True

    def save(self, uri: str, text: str | None = None) -> None:
        """didSave; the text is there when the client includes it, and is believed."""
        document = self._documents.get(same_document(uri))
        if document is None or not document.open:
            return
        document.saved = document.text if text is None else joined_surrogates(text)
        document.agent_dirty = document.agent_dirty and document.dirty
        self._tell("saved", document, document.text, ())

    def close(self, uri: str) -> None:
        document = self._documents.get(same_document(uri))
        if document is None or not document.open:
            return
        document.version, document.expected, document.agent_dirty = None, None, False
        before = document.text
        if document.saved is not None and document.path is not None:
            self._replace(document, document.saved)  # an unsaved buffer is gone; the file is what is left
        elif document.absent and is_empty(document.text):
            self._replace(document, "")
        if not self._followers.get(document.uri):
            del self._documents[document.uri]
        else:
            self.on_interest()
        self._tell("closed", document, before, in_sequence(diff_splices(before, document.text)))

    def rename(self, old_uri: str, new_uri: str) -> None:
        """A file or a folder. Clients send it before or after closing the old document and opening the new one."""
        spelt = new_uri
        old_uri, new_uri = same_document(old_uri), same_document(new_uri)
        for uri in [uri for uri in self._documents if uri == old_uri or uri.startswith(old_uri + "/")]:
            self._rename_one(uri, new_uri + uri[len(old_uri) :], spelt if uri == old_uri else "")

    def delete(self, uri: str) -> None:
        """A file or a folder is gone. A buffer of it may live on in the editor."""
        gone = same_document(uri)
        for key in [key for key in self._documents if key == gone or key.startswith(gone + "/")]:
            document = self._documents[key]
            document.saved = None
            if not document.open:
                del self._documents[key]
                self._followers.pop(key, None)
            self._tell("deleted", document, document.text, ())

    def open_notebook(self, uri: str) -> None:
        self._notebooks.add(same_document(uri))

    def close_notebook(self, uri: str) -> None:
        self._notebooks.discard(same_document(uri))

    # --- what the disk and our own edits tell ------------------------------------------------------------------------

    def disk(self, uri: str, text: str | None, *, landed: Expectation | None = None) -> None:
        """The file now holds this text (None: it is gone). An open buffer is not changed by it: its editor decides."""
        document = self._documents.get(same_document(uri))
        if document is None:
            return
        if text is None:
            if document.saved is not None:
                self.delete(uri)
            return
        document.saved = text
        if document.open:
            document.agent_dirty = document.agent_dirty and document.dirty
        elif document.text != text:
            before = document.text
            self._replace(document, text)
            told = in_sequence(diff_splices(before, text) if landed is None else landed.changes)
            if landed is not None:
                document.landings.append(landed)
            self._tell("changed", document, before, told, landed=landed)

    def follow(self, uri: str, text: str | None) -> Document:
        """Keep knowing this file once it is closed; `text` is what it holds if it is not open now (None: no file)."""
        uri = same_document(uri)
        self._followers[uri] = self._followers.get(uri, 0) + 1
        if uri not in self._documents:
            self._documents[uri] = Document(
                uri=uri,
                client_uri=uri,
                path=path_of(uri),
                language_id="",
                version=None,
                text=text or "",
                lines=LineIndex(text or ""),
                saved=text,
            )
            self.on_interest()
        return self._documents[uri]

    def unfollow(self, uri: str) -> None:
        uri = same_document(uri)
        count = self._followers.get(uri, 0) - 1
        if count > 0:
            self._followers[uri] = count
            return
        self._followers.pop(uri, None)
        document = self._documents.get(uri)
        if document is not None and not document.open:
            del self._documents[uri]
            self.on_interest()

    def expect(self, uri: str, expectation: Expectation | None) -> None:
        """An edit of ours is under way (None: no longer). Its coming back is told with `landed`."""
        document = self._documents.get(same_document(uri))
        if document is not None:
            document.expected = expectation

    # --- questions ---------------------------------------------------------------------------------------------------

    def get(self, uri: str) -> Document | None:
        """The open document."""
        document = self._documents.get(same_document(uri))
        return document if document is not None and document.open else None

    def known(self, uri: str) -> Document | None:
        """The open document, or the closed one that is followed."""
        return self._documents.get(same_document(uri))

    def by_path(self, path: str) -> Document | None:
        return self.get(uri_of(path))

    def opened(self) -> list[Document]:
        return [document for document in self._documents.values() if document.open]

    def followed(self) -> list[Document]:
        """Closed documents whose files should be watched."""
        return [document for document in self._documents.values() if not document.open]

    def is_notebook(self, path: str) -> bool:
        """Whether the editor holds this file as a notebook, where its unsaved cells are out of our sight and reach."""
        return uri_of(path) in self._notebooks or any(
            document.dirty and notebook_of(document.uri) == path for document in self.opened()
        )

    def listen(self, listener: Listener) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # --- how a change comes in ---------------------------------------------------------------------------------------

    def _absorb(self, document: Document, change: Mapping[str, Any]) -> list[Splice]:
        before = document.text
        made = splice_of(before, document.lines, change, self.encoding)
        if change.get("range") is None:
            self._replace(document, made.text)
            return in_sequence(diff_splices(before, made.text))
        document.text = splice(before, made)
        document.lines.follow(before, made, document.text)
        return refined(before, trimmed(before, made), document.text)

    def _meant(self, document: Document, before: str) -> tuple[Expectation | None, list[Splice]] | None:
        """Whether the text just reached is one of ours, and by which splices we think it was reached."""
        text, expected = document.text, document.expected
        if expected is not None and text == expected.after and expected.after != expected.before:
            document.expected = None
            document.landings.append(expected)
            document.agent_dirty = document.agent_dirty or expected.hunks
            if before == expected.before:
                return expected, in_sequence(expected.changes)
            return expected, in_sequence(diff_splices(before, text))
        for landing in reversed(document.landings):
            if text == landing.before and before == landing.after:
                return None, in_sequence(inverted(landing.before, landing.changes))
            if text == landing.after and before == landing.before:
                document.agent_dirty = document.agent_dirty or landing.hunks
                return None, in_sequence(landing.changes)
        return None

    def _replace(self, document: Document, text: str) -> None:
        if document.text != text:
            document.text = text
            document.lines = LineIndex(text)

    def _rename_one(self, old: str, new: str, spelt: str) -> None:
        document = self._documents.pop(old)
        there = self._documents.get(new)
        followers = self._followers.pop(old, 0)
        if followers:
            self._followers[new] = self._followers.get(new, 0) + followers
        document.uri, document.client_uri, document.path = new, spelt or new, path_of(new)
        if there is None:
            self._documents[new] = document
        self._tell("renamed", there or document, document.text, (), old_uri=old)
        self.on_interest()
        if there is not None:
            self._tell("changed", there, document.text, in_sequence(diff_splices(document.text, there.text)))

    def _tell(
        self,
        kind: EventKind,
        document: Document,
        before: str,
        splices: Sequence[Splice],
        *,
        landed: Expectation | None = None,
        old_uri: str = "",
    ) -> None:
        event = DocumentEvent(
            kind=kind,
            uri=document.uri,
            version=document.version,
            splices=tuple(splices),
            before=before,
            after=document.text,
            landed=landed,
            old_uri=old_uri,
        )
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:
                log.exception("a listener failed on %s of %s", kind, document.uri)


def of_buffer(document: Document, path: str) -> FileText:
    return FileText(
        path=path,
        text=document.text,
        sha256=text_sha256(document.text),
        version=0 if document.version is None else document.version,
    )
