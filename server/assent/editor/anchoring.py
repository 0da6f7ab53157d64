"""Finding a stored hunk again in a file that may have changed while nobody watched: by its text and the lines around.

Prefers no answer to a wrong one: what cannot be told apart is a conflict.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from assent.editor.hunks import Hunk
from assent.text.lines import LineIndex, at_line_start
from assent.types.blocks import Json

_LINES = 3


def context_of(text: str, lines: LineIndex, start: int, end: int) -> Json:
    """Up to three lines before and after a place."""
    first, last = lines.line_of(start), lines.line_of(end)
    stop = last + _LINES
    return {
        "before": text[lines.start(max(0, first - _LINES)) : start],
        "after": text[end : lines.start(stop) if stop < len(lines) else len(text)],
    }


def anchor(text: str, stored: Mapping[str, Any]) -> int | None:
    """The offset at which the stored hunk's text stands now, or None when it is gone or could be in several places."""
    here, at = str(stored["here"]), int(stored["start"])
    context: Mapping[str, Any] = stored.get("context") or {}
    before, after = str(context.get("before", "")), str(context.get("after", ""))
    if at <= len(text) and text.startswith(here, at) and _agrees(text, at, here, before, after):
        return at
    found = [place for place in _places(text, here, before, after) if at_line_start(text, place)]
    if len(found) <= 1:
        return found[0] if found and (here.strip() or _agrees(text, found[0], here, before, after)) else None
    exact = [place for place in found if _agrees(text, place, here, before, after)]
    return exact[0] if len(exact) == 1 else None


def lose(hunks: Iterable[Hunk], why: str) -> None:
    """There is no text any more that they could stand in."""
    for hunk in hunks:
        if hunk.open:
            hunk.state, hunk.why = "conflict", why
        hunk.start = hunk.end = 0


def reanchor(hunk: Hunk, stored: Mapping[str, Any], text: str) -> None:
    """Put a stored hunk where it belongs in today's text, or into conflict."""
    place = anchor(text, stored)
    if place is not None:
        hunk.start, hunk.end = place, place + len(str(stored["here"]))
        return
    hunk.start, hunk.end = min(hunk.start, len(text)), min(hunk.start, len(text))
    if hunk.open:
        hunk.state, hunk.why = "conflict", "the lines it was made for are not in the file any more"


def _places(text: str, here: str, before: str, after: str) -> list[int]:
    needle, skip = (here, 0) if here.strip() else (before + here + after, len(before))
    if not needle:
        return [0] if not text else []
    places: list[int] = []
    at = text.find(needle)
    while at >= 0 and len(places) < 1000:
        places.append(at + skip)
        at = text.find(needle, at + 1)
    return places


def _agrees(text: str, at: int, here: str, before: str, after: str) -> bool:
    return text.endswith(before, 0, at) and text.startswith(after, at + len(here))
