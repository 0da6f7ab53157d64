"""Three-way rebase: a hunk made on one text, followed through what happens to that text.

Rules (a hunk's lines are the whole lines it covers):
1. A change elsewhere only moves the hunk. Whole lines put right before or after it are elsewhere.
2. A pending hunk stands as long as its lines read `old_text`. Read `new_text`: somebody did it, accepted. Anything
   else: conflict, for this hunk alone; undoing the typing brings it back.
3. A landed hunk whose lines no longer read what landed is edited, the person's text staying; reading `old_text` again
   it is reverted, and landed once more after a redo.
4. While our own edit is under way (`target`), its text arriving is its landing.
5. A later edit of ours over a landed hunk supersedes it; undoing that edit brings it back.
6. No hunk is ever split, merged, or dropped by a change.

Pure: knows hunks and texts, not documents or clients.
"""

from collections.abc import Iterable, Sequence

from assent.editor.hunks import Hunk
from assent.text.lines import at_line_start, ends_line, same_but_for_eol
from assent.text.splices import Splice, splice


def rebase(hunks: Iterable[Hunk], before: str, changes: Sequence[Splice], after: str, *, ours: bool = False) -> bool:
    """Follow `changes` (one after the other, from `before` to `after`). True when any hunk changed its state.

    `ours`: the changes are an edit of the agent's landing, which may supersede.
    """
    hunks = list(hunks)
    changed = False
    text = before
    for index, change in enumerate(changes):
        text = after if index == len(changes) - 1 else splice(text, change)
        start, end, _ = change
        delta = change.delta
        for hunk in hunks:
            if end < hunk.start:
                hunk.start += delta
                hunk.end += delta
            elif start <= hunk.end:
                changed |= _follow(hunk, change, text, ours=ours)
    return changed


def stands(hunk: Hunk, text: str) -> bool:
    """Whether the hunk's lines are still whole lines of the text: nothing was joined to them at either end."""
    if not at_line_start(text, hunk.start):
        return False
    start, end = hunk.start, hunk.end
    if start == end or end == len(text):
        return True
    if ends_line(text[start:end]):
        return at_line_start(text, end)
    return text[end] in "\r\n"


def _follow(hunk: Hunk, change: Splice, after: str, *, ours: bool) -> bool:
    start, end, new = change
    old_state, delta = hunk.state, change.delta
    if start < hunk.end and end > hunk.start:
        hunk.end = hunk.end + delta if end <= hunk.end else start + len(new)
        hunk.start = min(hunk.start, start)
        _judge(hunk, after, ours=ours)
        return hunk.state != old_state
    outside, inside = _beside(hunk, change, after)
    if _wanted(hunk, after[inside[0] : inside[1]]):
        hunk.start, hunk.end = inside
    else:
        hunk.start, hunk.end = outside
        if stands(hunk, after):
            return False
        hunk.start, hunk.end = inside
    _judge(hunk, after, ours=ours)
    return hunk.state != old_state


def _beside(hunk: Hunk, change: Splice, after: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """For a change that only touches the hunk: where it stands if that is not its business, and where if it is."""
    start, end, new = change
    a, b, delta = hunk.start, hunk.end, change.delta
    if a == b == start == end:
        # What is typed where lines are to be inserted belongs to the line below, if there is one.
        stay = at_line_start(after, a)
        return ((a, a) if stay else (a + delta, a + delta)), (a, a + delta)
    if end == a:
        return (a + delta, b + delta), (start, b + delta)
    return (a, b), (a, start + len(new))


def _wanted(hunk: Hunk, text: str) -> bool:
    """Whether this is a text the hunk is waiting to see."""
    if hunk.target is not None:
        return same_but_for_eol(text, hunk.target.text)
    match hunk.state:
        case "pending" | "conflict":
            return same_but_for_eol(text, hunk.new_text)
        case "landed" | "edited" | "accepted" | "reverted" | "superseded":
            return same_but_for_eol(text, hunk.old_text) or same_but_for_eol(text, hunk.landed_text)
        case "rejected":
            return False


def _judge(hunk: Hunk, after: str, *, ours: bool) -> None:
    text = after[hunk.start : hunk.end]
    if hunk.target is not None and _arrived(hunk, text, after):
        hunk.state = hunk.target.state
        hunk.placed = None if hunk.state == "pending" or hunk.target.text == hunk.new_text else hunk.target.text
        hunk.decided = hunk.state in ("accepted", "edited", "rejected")
        hunk.target = None
        return
    match hunk.state:
        case "pending" | "conflict":
            if same_but_for_eol(text, hunk.new_text):
                hunk.state, hunk.decided, hunk.target = "accepted", True, None
            elif hunk.decided:
                pass
            elif text == hunk.old_text and stands(hunk, after):
                hunk.state, hunk.why = "pending", ""
            else:
                hunk.state = "conflict"
        case "landed" | "edited" | "accepted" | "reverted" | "superseded":
            _judge_landed(hunk, text, ours=ours)
        case "rejected":
            pass


def _judge_landed(hunk: Hunk, text: str, *, ours: bool) -> None:
    if same_but_for_eol(text, hunk.landed_text):
        if hunk.state in ("reverted", "superseded") or (hunk.state == "edited" and not hunk.decided):
            by_hand = hunk.landed_text != hunk.new_text
            hunk.state = ("edited" if by_hand else "accepted") if hunk.decided else "landed"
    elif same_but_for_eol(text, hunk.old_text):
        hunk.state = "reverted"
    elif hunk.state in ("landed", "edited") and not hunk.decided:
        hunk.state = "superseded" if ours else "edited"


def _arrived(hunk: Hunk, text: str, after: str) -> bool:
    target = hunk.target
    if target is None:
        return False
    if same_but_for_eol(text, target.text):
        return True
    # Some editors keep a line end at the end of the file whatever we ask for.
    at_end = hunk.end == len(after) and bool(target.text)
    return at_end and ends_line(text) and same_but_for_eol(text, target.text + "\n")


def cover_empty(hunks: Sequence[Hunk], text: str) -> None:
    """What a new file holds goes in place of an empty buffer's line end, not before it."""
    for hunk in hunks:
        if hunk.state == "pending":
            hunk.start, hunk.end, hunk.old_text = 0, len(text), text
