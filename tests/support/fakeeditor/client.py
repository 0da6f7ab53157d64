"""The editor's side of the wire: what it sends, when, and how honestly it answers.

Two queues, one each way; a test decides when anything on them moves. `flow()` moves everything.
"""

import hashlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import anyio

from assent.editor.client_edits import ClientGone, Unsaved
from assent.editor.documents import Documents
from fakeeditor.buffer import Buffer, Char, offset_of, position_of

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What editors differ in."""

    queries: bool = True
    saves: bool = True
    debounces: bool = False  # didChange comes later than the answer to applyEdit
    lies: bool = False  # says applied: true to an edit it refused
    sync: Literal["exact", "diffed", "full"] = "exact"
    first_version: int = 1


VSCODE = Habits()
NEOVIM = Habits(debounces=True, lies=True, sync="diffed")
PLAIN = Habits(queries=False, saves=False)


@dataclass(slots=True)
class Open:
    buffer: Buffer
    version: int
    told: str  # the text the server has been told
    changes: list[Json]  # not yet sent
    on_disk: str
    history: dict[int, list[Char]]  # what each version held


@dataclass(slots=True)
class Applied:
    """One edit of the server as it arrived: what it replaced by what."""

    uri: str
    removed: list[tuple[Char, ...]]  # the characters of each edit, by identity
    inserted: list[str]
    version: int | None


class FakeEditor:
    """Implements `assent.editor.client_edits.ClientEdits`."""

    def __init__(self, habits: Habits = VSCODE, *, encoding: str = "utf-16") -> None:
        self.habits = habits
        self.encoding = encoding
        self.documents: Documents | None = None  # the server's store: where our notifications end up
        self.open_documents: dict[str, Open] = {}
        self.to_server: deque[Callable[[], None]] = deque()
        self.to_client: deque[Callable[[], None]] = deque()
        self.applied: list[Applied] = []
        self.refusing = False  # answers applied: false to everything
        self.deaf = False  # takes edits and neither applies nor answers them
        self.drops = False  # says applied and does nothing
        self.save_fails: dict[str, str] = {}
        self.formats: Callable[[str], str] | None = None
        self.unsaved_answer: Unsaved | None = None
        self.asked_unsaved: list[tuple[list[str], str]] = []
        self.diagnostics: Callable[[str], Json] = lambda _uri: {"status": "success", "value": [], "settled": True}
        self.queries: list[tuple[str, Json]] = []
        self.told: list[str] = []
        self.delivered: Callable[[str, int], None] | None = None
        self.automatic = True  # what is sent arrives at once; a simulation turns it off

    # --- the person's side -------------------------------------------------------------------------------------------

    def open(self, uri: str, text: str, language_id: str = "plaintext") -> None:
        version = self.habits.first_version
        self.open_documents[uri] = Open(Buffer(text), version, text, [], text, {})
        self.open_documents[uri].history[version] = list(self.open_documents[uri].buffer.chars)
        self._notify(lambda: self._store().open(uri, language_id, version, text))

    def type(self, uri: str, start: int, end: int, text: str) -> None:
        """Replace `[start, end)` of the buffer, as a keystroke, a paste or a deletion does."""
        document = self.open_documents[uri]
        before = document.buffer.text
        document.buffer.replace(start, end, text, by_user=True)
        self._changed(uri, before, [(start, end, text)])

    def undo(self, uri: str) -> bool:
        return self._travel(uri, Buffer.undo)

    def redo(self, uri: str) -> bool:
        return self._travel(uri, Buffer.redo)

    def save_by_hand(self, uri: str) -> None:
        document = self.open_documents[uri]
        if self.formats is not None:
            formatted = self.formats(document.buffer.text)
            if formatted != document.buffer.text:
                self.type(uri, 0, len(document.buffer.text), formatted)
        self.flush(uri)
        document.on_disk = document.buffer.text
        self._notify(lambda: self._store().save(uri))

    def close(self, uri: str) -> None:
        self.flush(uri)
        del self.open_documents[uri]
        self._notify(lambda: self._store().close(uri))

    def text(self, uri: str) -> str:
        return self.open_documents[uri].buffer.text

    # --- the wire ----------------------------------------------------------------------------------------------------

    def flush(self, uri: str) -> None:
        """Send the changes that were held back."""
        document = self.open_documents[uri]
        if document.changes:
            changes, version = document.changes, document.version
            document.changes = []
            self._notify(lambda: self._deliver(uri, version, changes))

    def flow(self) -> None:
        """Everything on the wire arrives, and everything held back is sent."""
        while self.to_client or self.to_server or any(opened.changes for opened in self.open_documents.values()):
            for uri in list(self.open_documents):
                self.flush(uri)
            if self.to_client:
                self.to_client.popleft()()
            if self.to_server:
                self.to_server.popleft()()

    def _deliver(self, uri: str, version: int, changes: list[Json]) -> None:
        self._store().change(uri, version, changes)
        if self.delivered is not None:
            self.delivered(uri, version)

    # --- ClientEdits -------------------------------------------------------------------------------------------------

    def tell(self, text: str) -> None:
        self.told.append(text)

    def answers_for(self, uri: str) -> bool:
        return self.can_query

    @property
    def can_query(self) -> bool:
        return self.habits.queries

    @property
    def can_save(self) -> bool:
        return self.habits.saves

    async def apply_edit(self, uri: str, version: int | None, edits: list[Json], label: str) -> bool:
        return bool(await self._request(lambda: self._apply(uri, version, edits)))

    async def save(self, uris: list[str]) -> Json:
        return dict(await self._request(lambda: self._save(uris)))

    async def ask_unsaved(self, uris: list[str], reason: str) -> Unsaved:
        self.asked_unsaved.append((uris, reason))
        answer = self.unsaved_answer
        if answer is None:
            await anyio.sleep_forever()  # nobody answers
            raise AssertionError("unreachable")
        return answer

    async def query(self, kind: str, params: Json) -> Json:
        self.queries.append((kind, params))
        if not self.habits.queries:
            raise ClientGone("no such request")
        return self.diagnostics(params["uri"]) if kind == "diagnostics" else {"status": "noServer", "value": None}

    async def document(self, uri: str) -> Json | None:
        return None if not self.habits.queries else await self._request(lambda: self._describe(uri))

    # --- what it does with requests ----------------------------------------------------------------------------------

    async def _request(self, handle: Callable[[], Any]) -> Any:
        done = anyio.Event()
        answer: list[Any] = []

        def answered(value: Any) -> None:
            answer.append(value)
            done.set()

        def arrive() -> None:
            value = handle()
            if not self.deaf:
                self._notify(lambda: answered(value))

        if self.automatic:
            arrive()
        else:
            self.to_client.append(arrive)
        await done.wait()
        return answer[0]

    def _apply(self, uri: str, version: int | None, edits: list[Json]) -> bool:
        document = self.open_documents.get(uri)
        if document is None or self.refusing:
            return False
        if self.deaf or self.drops:
            return True
        if version is not None and version > 0 and version != document.version:
            return self.habits.lies
        text = document.buffer.text
        made = [
            (
                offset_of(text, edit["range"]["start"], self.encoding),
                offset_of(text, edit["range"]["end"], self.encoding),
                edit["newText"],
            )
            for edit in edits
        ]
        self.applied.append(
            Applied(
                uri,
                [tuple(document.buffer.chars[start:end]) for start, end, _ in made],
                [new for _, _, new in made],
                version,
            )
        )
        document.buffer.replace_many(made, by_user=False)
        self._changed(uri, text, made)
        return True

    def _save(self, uris: list[str]) -> Json:
        failed: list[Json] = []
        for uri in uris:
            if uri in self.save_fails:
                failed.append({"uri": uri, "message": self.save_fails[uri]})
            else:
                self.save_by_hand(uri)
        return {"saved": [uri for uri in uris if uri not in self.save_fails], "failed": failed}

    def _describe(self, uri: str) -> Json | None:
        document = self.open_documents.get(uri)
        if document is None:
            return None
        self.flush(uri)
        text = document.buffer.text
        sha = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return {"version": document.version, "sha256": sha, "dirty": text != document.on_disk}

    # --- reporting changes -------------------------------------------------------------------------------------------

    def _changed(self, uri: str, before: str, edits: list[tuple[int, int, str]]) -> None:
        document = self.open_documents[uri]
        after = document.buffer.text
        self._next_version(document)
        match self.habits.sync:
            case "full":
                document.changes = [{"text": after}]
            case "diffed":
                document.changes.append(self._difference(before, after))
            case "exact":
                # Bottom up, so that each is in coordinates its predecessors left alone.
                for start, end, new in sorted(edits, reverse=True):
                    document.changes.append(self._change(before, start, end, new))
        if not self.habits.debounces:
            self.flush(uri)

    def _change(self, text: str, start: int, end: int, new: str) -> Json:
        while start and text[start - 1 : start + 1] == "\r\n":
            start, new = start - 1, "\r" + new
        if text[end - 1 : end + 1] == "\r\n" and end:
            end, new = end + 1, new + "\n"
        return {
            "range": {
                "start": position_of(text, start, self.encoding),
                "end": position_of(text, end, self.encoding),
            },
            "text": new,
        }

    def _difference(self, before: str, after: str) -> Json:
        head = 0
        while head < min(len(before), len(after)) and before[head] == after[head]:
            head += 1
        tail = 0
        while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
            tail += 1
        return self._change(before, head, len(before) - tail, after[head : len(after) - tail])

    def _travel(self, uri: str, step: Callable[[Buffer], bool]) -> bool:
        document = self.open_documents[uri]
        before, old = document.buffer.text, document.buffer.chars
        if not step(document.buffer):
            return False
        after = document.buffer.text
        if before != after:
            exact = self.habits.sync == "exact"
            change = self._identical(before, old, document.buffer.chars) if exact else self._difference(before, after)
            self._next_version(document)
            document.changes = [{"text": after}] if self.habits.sync == "full" else [*document.changes, change]
            if not self.habits.debounces:
                self.flush(uri)
        return True

    def _identical(self, before: str, old: list[Char], new: list[Char]) -> Json:
        """The change between two states by the identity of characters: equal texts, no ambiguity."""
        head = 0
        while head < min(len(old), len(new)) and old[head] is new[head]:
            head += 1
        tail = 0
        while tail < min(len(old), len(new)) - head and old[-1 - tail] is new[-1 - tail]:
            tail += 1
        text = "".join(char.text for char in new[head : len(new) - tail])
        return self._change(before, head, len(old) - tail, text)

    def _next_version(self, document: Open) -> None:
        document.version += 1
        document.history[document.version] = list(document.buffer.chars)

    def _notify(self, message: Callable[[], None]) -> None:
        if self.automatic:
            message()
        else:
            self.to_server.append(message)

    def _store(self) -> Documents:
        assert self.documents is not None
        return self.documents
