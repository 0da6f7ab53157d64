"""What a person's decision on a hunk means, by the state the hunk is in. Pure; one table, tested as one.

state            accept                        reject                        edit
pending          put newText → accepted        rejected                      put theirs → edited
landed           accepted                      put oldText → rejected        put theirs → edited
edited, open     edited for good               three-way → rejected, refuse  put theirs → edited
reverted         put it again → accepted       rejected                      put theirs → edited
conflict         three-way → edited, refuse    rejected                      put theirs → edited
decided          nothing, or refuse            nothing, or refuse            refuse
superseded       refuse                        refuse                        refuse

Taking a decision back (`reopen`) makes the hunk what it was before: pending, or landed where changes land first. What
the decision did to the text is undone with it, unless the text there has been changed since.
"""

from dataclasses import dataclass
from typing import Literal

from assent.editor.hunks import Hunk, State, Target
from assent.editor.line_choice import LineChoice, chosen_text
from assent.text.diff3 import merged
from assent.text.lines import ends_line, uniform_eol, with_eol

Verb = Literal["accept", "reject", "edit", "reopen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    hunk: Hunk
    verb: Verb
    new_text: str = ""
    lines: LineChoice | None = None  # with accept: only these lines
    landed_first: bool = False  # the change was in the text before anyone decided on it


@dataclass(frozen=True, slots=True)
class Settle:
    """Only the state changes, not the text."""

    state: State
    decided: bool = True


@dataclass(frozen=True, slots=True)
class Put:
    """The document must change: `target` goes where `over` stands now. If it no longer stands there, nothing goes."""

    over: str
    target: Target


@dataclass(frozen=True, slots=True)
class Refuse:
    reason: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """It is so already."""


Step = Settle | Put | Refuse | Nothing

TYPED_OVER = "the text there has been changed by hand since"
_DONE = "it was already {state}"


def step_for(choice: Choice, text: str) -> Step:
    """`text` is the document's; the hunk stands at its offsets in it."""
    hunk = choice.hunk
    here = text[hunk.start : hunk.end]
    match choice.verb:
        case "accept" if choice.lines is not None:
            return _accept_lines(hunk, here, choice.lines, uniform_eol(text) or "\n")
        case "accept":
            return _accept(hunk, here)
        case "reject":
            return _reject(hunk, here)
        case "edit":
            return _edit(hunk, here, _as_lines(choice.new_text, hunk, text))
        case "reopen":
            return _reopen(hunk, here, landed_first=choice.landed_first)


def revert_step(hunk: Hunk, text: str) -> Step:
    """Take a landed hunk back, decided or not ("Revert hunk" on the hover)."""
    here = text[hunk.start : hunk.end]
    if hunk.state not in ("landed", "accepted", "edited"):
        return Refuse(_DONE.format(state=hunk.state))
    return _put_back(hunk, here)


def _accept(hunk: Hunk, here: str) -> Step:
    if hunk.decided:
        return Nothing() if hunk.state in ("accepted", "edited") else Refuse(_DONE.format(state=hunk.state))
    match hunk.state:
        case "pending":
            return Put(here, Target(hunk.new_text, "accepted"))
        case "landed":
            return Settle("accepted")
        case "edited":
            return Settle("edited")
        case "reverted":
            return Put(here, Target(hunk.landed_text, "accepted"))
        case "conflict":
            both = merged(hunk.old_text, here, hunk.new_text) if here else None
            if both is None:
                return Refuse(hunk.why or TYPED_OVER)
            return Put(here, Target(both, "edited"))
        case "accepted" | "rejected" | "superseded":
            return Refuse(_DONE.format(state=hunk.state))


def _accept_lines(hunk: Hunk, here: str, lines: LineChoice, eol: str) -> Step:
    """Only where the proposed or the old text stands unchanged: the lines were chosen in those."""
    stands = {"pending": hunk.old_text, "reverted": hunk.old_text, "landed": hunk.new_text}.get(hunk.state)
    if not hunk.decided and hunk.state in ("edited", "conflict"):
        return Refuse(hunk.why or TYPED_OVER)
    if not hunk.decided and stands is not None and here != stands:
        return Refuse(TYPED_OVER)
    return _edit(hunk, here, chosen_text(hunk.old_text, hunk.new_text, lines, eol=eol))


def _reject(hunk: Hunk, here: str) -> Step:
    if hunk.decided:
        return Nothing() if hunk.state == "rejected" else Refuse(_DONE.format(state=hunk.state))
    match hunk.state:
        case "pending" | "conflict" | "reverted":
            return Settle("rejected")
        case "landed" | "edited":
            return _put_back(hunk, here)
        case "accepted" | "rejected" | "superseded":
            return Refuse(_DONE.format(state=hunk.state))


def _edit(hunk: Hunk, here: str, theirs: str) -> Step:
    if hunk.decided or hunk.state in ("accepted", "rejected", "superseded"):
        return Refuse(_DONE.format(state=hunk.state))
    if theirs == here:
        return Settle("rejected" if theirs == hunk.old_text else "accepted" if theirs == hunk.new_text else "edited")
    if theirs == hunk.new_text:
        return Put(here, Target(theirs, "accepted"))
    return Put(here, Target(theirs, "rejected" if theirs == hunk.old_text else "edited"))


def _reopen(hunk: Hunk, here: str, *, landed_first: bool) -> Step:
    if hunk.open:
        return Nothing()
    if hunk.state in ("landed", "pending", "conflict", "superseded"):
        return Refuse(_DONE.format(state=hunk.state))
    if landed_first and hunk.state in ("accepted", "edited"):
        return Settle("landed" if hunk.state == "accepted" else "edited", decided=False)
    if hunk.state in ("accepted", "edited"):
        stands = here == hunk.landed_text
        return Put(here, Target(hunk.old_text, "pending")) if stands else Refuse(TYPED_OVER)
    if here != hunk.old_text:
        return Refuse(TYPED_OVER)
    return Put(here, Target(hunk.new_text, "landed")) if landed_first else Settle("pending", decided=False)


def _put_back(hunk: Hunk, here: str) -> Step:
    back = merged(hunk.landed_text, here, hunk.old_text)
    if back is None:
        return Refuse(TYPED_OVER)
    return Settle("rejected") if back == here else Put(here, Target(back, "rejected"))


def _as_lines(theirs: str, hunk: Hunk, text: str) -> str:
    """Hunks are whole lines: what a person typed into a box gets the document's line ends, and one at its end."""
    eol = uniform_eol(text)
    if eol is not None:
        theirs = with_eol(theirs, eol)
    if theirs and not ends_line(theirs) and hunk.end < len(text) and (not hunk.new_text or ends_line(hunk.new_text)):
        theirs += eol or "\n"
    return theirs
