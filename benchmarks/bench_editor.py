"""What a keystroke costs: taking it into the document store, and moving what is anchored in the document along.

Floors: pygls' own text document taking the same change; a bare loop that shifts a hundred pairs of integers; difflib on
the same two lists of lines. Ours and the floor alternate in one run; medians.
"""

import itertools
import statistics
import time
from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Any

from lsprotocol import types
from pygls.workspace import TextDocument

from assent.editor.buffer_edits import DocumentEdits
from assent.editor.client_edits import NoClient
from assent.editor.diagnostics import EditDiagnostics
from assent.editor.documents import Documents
from assent.editor.hunks import Hunk, make_hunks
from assent.editor.landing import Landings
from assent.editor.proposal import EditOrigin
from assent.editor.proposals import Proposals
from assent.editor.rebase import rebase
from assent.text.lines import split_lines
from assent.text.splices import Splice
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.types.ports import EditPlan, FileText

LINES = 20_000
ROUNDS = 400
PATH, URI = "/bench/a.py", "file:///bench/a.py"
TEXT = "".join(f"    value_{number} = compute({number})  # line {number}\n" for number in range(LINES))

Row = dict[str, Any]


def main() -> list[Row]:
    return [
        _row(f"didChange, one key in {LINES:,} lines", *keystrokes(hunks=0, listening=False)),
        _row("  … with 100 pending hunks below it", *keystrokes(hunks=100, listening=False)),
        _row("  … and editUpdated built for each key", *keystrokes(hunks=100, listening=True)),
        _row("rebase of 100 hunks by one key (floor: shifting 100 pairs)", *_rebases()),
        _row(f"hunks of 3 edits in {LINES:,} lines (floor: difflib)", *_diffs(), scale=1e3, unit="ms"),
    ]


def _row(name: str, ours: list[float], floor: list[float], *, scale: float = 1e6, unit: str = "µs") -> Row:
    mine, bare = statistics.median(ours) * scale, statistics.median(floor) * scale
    return {"name": name, "ours": round(mine, 2), "floor": round(bare, 2), "unit": unit, "ratio": mine / bare}


def keystrokes(*, hunks: int, listening: bool) -> tuple[list[float], list[float]]:
    ours, floor = typing(hunks=hunks, listening=listening)
    pairs = [(_timed(ours), _timed(floor)) for _ in range(ROUNDS)]
    return [mine for mine, _ in pairs], [bare for _, bare in pairs]


def typing(*, hunks: int = 100, listening: bool = True) -> tuple[Callable[[], object], Callable[[], object]]:
    """One key more in our document, and in that of pygls."""
    documents = Documents()
    documents.open(URI, "python", 1, TEXT)
    if hunks:
        proposals = _proposing(documents, hunks)
        if listening:
            proposals.listen(lambda _event: None)
    bare = TextDocument(URI, source=TEXT, version=1, language_id="python")
    at = {"line": 10, "character": 4}
    versions = itertools.count(2)
    position = types.Position(line=10, character=4)
    event = types.TextDocumentContentChangePartial(range=types.Range(start=position, end=position), text="x")
    change = {"range": {"start": at, "end": at}, "text": "x"}
    return lambda: documents.change(URI, next(versions), [change]), lambda: bare.apply_change(event)


def _proposing(documents: Documents, hunks: int) -> Proposals:
    landings = Landings(documents, DocumentEdits(documents, NoClient()), DiskWorkspace())
    proposals = Proposals(documents, landings, news=EditDiagnostics(NoClient()).news)
    lines = split_lines(TEXT)
    for index in range(hunks):
        lines[100 + index * (LINES // (hunks + 2))] = "changed\n"
    plan = EditPlan(
        path=PATH, before=FileText(path=PATH, text=TEXT), new_text="".join(lines), tool="Edit", tool_use_id="u"
    )
    assert len(proposals.propose(plan, EditOrigin(session_id="s"))["hunks"]) == hunks
    return proposals


def _rebases() -> tuple[list[float], list[float]]:
    text = TEXT
    hunks = [Hunk(start=1000 + n * 100, end=1040 + n * 100, old_text="", new_text="") for n in range(100)]
    pairs = [[hunk.start, hunk.end] for hunk in hunks]
    change = Splice(10, 10, "x")
    after = text[:10] + "x" + text[10:]

    def shift() -> None:
        for pair in pairs:
            pair[0] += 1
            pair[1] += 1

    ours, floor = list[float](), list[float]()
    for _ in range(ROUNDS * 5):
        ours.append(_timed(lambda: rebase(hunks, text, (change,), after)))
        floor.append(_timed(shift))
    return ours, floor


def _diffs() -> tuple[list[float], list[float]]:
    lines = split_lines(TEXT)
    for index in (50, LINES // 2, LINES - 50):
        lines[index] = "changed\n"
    new = "".join(lines)
    ours, floor = list[float](), list[float]()
    for _ in range(5):
        ours.append(_timed(lambda: make_hunks(TEXT, new)))
        floor.append(
            _timed(lambda: SequenceMatcher(None, TEXT.splitlines(True), new.splitlines(True), False).get_opcodes())
        )
    return ours, floor


def _timed(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began
