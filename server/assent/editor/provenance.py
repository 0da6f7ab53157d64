"""Who wrote this line: which turn, asked by which prompt. Marks follow the text they were put on through every edit.

What a person types into marked text is theirs: the mark is cut around it. Deleted text takes its mark along.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assent.editor.documents import DocumentEvent, Documents
from assent.editor.hunks import Hunk
from assent.editor.proposal import Proposal
from assent.text.diff import diff_splices
from assent.text.positions import range_at
from assent.text.splices import Splice, in_sequence
from assent.types.blocks import Json

_MOST_SPANS = 5_000  # per document; the oldest writing is forgotten first
_PROMPT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    session_id: str
    turn_id: str
    prompt: str
    tool: str
    proposal_id: str
    hunk_id: str


class Span(NamedTuple):
    start: int
    end: int
    mark: Mark


class Provenance:
    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._spans: dict[str, list[Span]] = {}
        documents.listen(self._heard)

    def wrote(self, proposal: Proposal, hunks: Sequence[Hunk]) -> None:
        """These hunks have just landed, and stand where they say."""
        spans = self._spans.setdefault(proposal.uri, [])
        for hunk in hunks:
            if hunk.state == "rejected" or hunk.start == hunk.end:
                continue
            spans[:] = [*_without(spans, hunk.start, hunk.end), Span(hunk.start, hunk.end, _mark(proposal, hunk))]
        del spans[:-_MOST_SPANS]

    def restored(self, proposal: Proposal) -> None:
        """A proposal of an earlier process, found again: what of its text still stands there is marked as before."""
        document = self._documents.known(proposal.uri)
        if document is None:
            return
        spans = self._spans.setdefault(proposal.uri, [])
        for hunk in proposal.hunks:
            if not hunk.made:
                continue
            left = [Span(0, len(hunk.landed_text), _mark(proposal, hunk))]
            for change in in_sequence(diff_splices(hunk.landed_text, document.text[hunk.start : hunk.end])):
                _follow(left, change)
            for span in left:
                start, end = hunk.start + span.start, hunk.start + span.end
                spans[:] = [*_without(spans, start, end), Span(start, end, span.mark)]
        del spans[:-_MOST_SPANS]

    def at(self, uri: str, line: int) -> Span | None:
        """The writing on a line (from 0); the latest if there are several."""
        document = self._documents.known(uri)
        if document is None or not 0 <= line < len(document.lines):
            return None
        start = document.lines.start(line)
        end = max(document.lines.content_end(document.text, line), start + 1)
        found = [span for span in self._spans.get(document.uri, ()) if span.start < end and span.end > start]
        return found[-1] if found else None

    def hover(self, uri: str, line: int) -> Json | None:
        """What the hover needs: Markdown, the range it is about, and what to name in a Revert hunk command."""
        document = self._documents.known(uri)
        span = self.at(uri, line)
        if document is None or span is None:
            return None
        mark = span.mark
        return {
            "markdown": _markdown(mark),
            "range": range_at(document.text, document.lines, span.start, span.end, self._documents.encoding),
            "hunkId": mark.hunk_id,
            "proposalId": mark.proposal_id,
            "sessionId": mark.session_id,
            "turnId": mark.turn_id,
            "prompt": mark.prompt,
            "command": {"title": "Revert hunk", "command": "assent.revertHunk", "arguments": [mark.hunk_id]},
        }

    def spans(self, uri: str) -> list[Span]:
        return sorted(self._spans.get(uri, ()), key=lambda span: span.start)

    def _heard(self, event: DocumentEvent) -> None:
        if event.kind == "renamed":
            spans = self._spans.pop(event.old_uri, None)
            if spans:
                self._spans[event.uri] = spans
            return
        if event.kind == "deleted":
            self._spans.pop(event.uri, None)
            return
        spans = self._spans.get(event.uri)
        if not spans:
            return
        for change in event.splices:
            _follow(spans, change)
        if event.kind == "closed" and self._documents.known(event.uri) is None:
            del self._spans[event.uri]  # nobody follows the file, so the marks would drift


def _mark(proposal: Proposal, hunk: Hunk) -> Mark:
    return Mark(
        session_id=proposal.origin.session_id,
        turn_id=proposal.origin.turn_id,
        prompt=proposal.origin.prompt,
        tool=proposal.tool,
        proposal_id=proposal.proposal_id,
        hunk_id=hunk.hunk_id,
    )


def _follow(spans: list[Span], change: Splice) -> None:
    start, end, _ = change
    delta = change.delta
    moved: list[Span] = []
    for span in spans:
        if span.end <= start:
            moved.append(span)
        elif span.start >= end:
            moved.append(Span(span.start + delta, span.end + delta, span.mark))
        else:
            if span.start < start:
                moved.append(Span(span.start, start, span.mark))
            if span.end > end:
                moved.append(Span(end + delta, span.end + delta, span.mark))
    spans[:] = moved


def _without(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    kept: list[Span] = []
    for span in spans:
        if span.start < start:
            kept.append(Span(span.start, min(span.end, start), span.mark))
        if span.end > end:
            kept.append(Span(max(span.start, end), span.end, span.mark))
    return kept


def _markdown(mark: Mark) -> str:
    prompt = " ".join(mark.prompt.split())
    if len(prompt) > _PROMPT:
        prompt = prompt[:_PROMPT] + "…"
    # The prompt is a person's text in a Markdown surface: no markup of it may take effect.
    quoted = "".join("\\" + char if char in "\\`*_{}[]()<>#+-.!|~$&@:" else char for char in prompt)
    said = f"\n\n> {quoted}" if quoted else ""
    return f"**Assent** wrote this with {mark.tool or 'an edit'} (turn {mark.turn_id or 'unknown'}).{said}"
