"""What the model is told of a person's decisions, in words."""

from assent.editor.hunks import Hunk
from assent.editor.line_choice import left_out
from assent.editor.proposal import Proposal
from assent.types.ports import HunkOutcome

_MOST = 2_000  # characters of a person's own text that are quoted


def report(proposal: Proposal) -> str:
    """Empty when everything was taken as proposed and nothing was said."""
    hunks = proposal.hunks
    whole = [hunk for hunk in hunks if hunk.state in ("accepted", "landed")]
    if len(whole) == len(hunks) and not proposal.message:
        return ""
    lines: list[str] = []
    if hunks:
        taken = sum(hunk.made for hunk in hunks)
        notes = [note for number, hunk in enumerate(hunks, 1) if (note := _note(number, hunk))]
        lines.append("; ".join([f"{taken} of {len(hunks)} hunks accepted", *notes]) + ".")
    if proposal.message:
        lines.append(f"The user says: {proposal.message}")
    return "\n".join(lines)


def outcome_of(proposal: Proposal) -> tuple[str, bool]:
    """What became of it, for a model that was told nothing of it yet, or too little; and whether anything was made."""
    if not proposal.made:
        return f"{proposal.path} was not changed. {report(proposal)}".strip(), False
    change = "Created" if proposal.creates else "Changed"
    return f"{change} {proposal.path}. {report(proposal) or 'The user accepted all of it.'}", True


def late_report(proposal: Proposal) -> str:
    """A decision that came after the call had its result; empty when it changes nothing the model knows."""
    if proposal.review == "after" and not report(proposal):
        return ""  # accepted is what it was told already
    return f"Your earlier edit was decided by the user meanwhile. {outcome_of(proposal)[0]}"


def outcomes(proposal: Proposal) -> tuple[HunkOutcome, ...]:
    return tuple(
        HunkOutcome(
            hunk_id=hunk.hunk_id,
            state=hunk.state,
            new_text=hunk.landed_text if hunk.state == "edited" else "",
        )
        for hunk in proposal.hunks
    )


def _note(number: int, hunk: Hunk) -> str:
    match hunk.state:
        case "accepted" | "landed":
            return ""
        case "edited":
            return f"hunk {number} {_in_part(hunk)}changed by the user to {_quoted(hunk.landed_text)}"
        case "rejected":
            return f"hunk {number} rejected by the user"
        case "conflict":
            return f"hunk {number} not made: {hunk.why or 'the user changed the same lines meanwhile'}"
        case "reverted":
            return f"hunk {number} undone by the user"
        case "superseded":
            return f"hunk {number} replaced by a later edit"
        case "pending":
            return f"hunk {number} not decided yet"


def _in_part(hunk: Hunk) -> str:
    """Which lines of the change the user did not take, where single lines were chosen."""
    if hunk.lines is None:
        return ""
    stayed, dropped = left_out(hunk.old_text, hunk.new_text, hunk.lines)
    parts = [f"these old lines stay: {_quoted(''.join(stayed))}"] if stayed else []
    parts += [f"these new lines were left out: {_quoted(''.join(dropped))}"] if dropped else []
    return f"accepted in part ({'; '.join(parts)}) and so " if parts else ""


def _quoted(text: str) -> str:
    if not text:
        return "nothing (the lines were deleted)"
    if len(text) > _MOST:
        text = text[:_MOST] + "…\n"
    bare = text.rstrip("\r\n")
    if "\n" in bare or "\r" in bare:
        return f"\n<text>\n{bare}\n</text>\n"
    return f"`{bare}`"
