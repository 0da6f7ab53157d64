"""What the model is told of decisions."""

import pytest

from assent.editor.hunks import Hunk, State
from assent.editor.proposal import EditOrigin, Proposal
from assent.editor.reports import report


def proposal(*hunks: Hunk, message: str = "") -> Proposal:
    return Proposal(
        uri="file:///a",
        path="/a",
        origin=EditOrigin(session_id="s"),
        review="before",
        tool="Edit",
        tool_use_id="u",
        reason="",
        base_hash="",
        creates=False,
        hunks=list(hunks),
        message=message,
    )


def hunk(state: State, placed: str | None = None, why: str = "") -> Hunk:
    return Hunk(start=0, end=0, old_text="o\n", new_text="n\n", state=state, placed=placed, why=why)


@pytest.mark.parametrize(
    ("hunks", "message", "words"),
    [
        ([hunk("accepted"), hunk("landed")], "", ""),
        ([hunk("accepted")], "thanks", "1 of 1 hunks accepted.\nThe user says: thanks"),
        ([hunk("rejected")], "", "0 of 1 hunks accepted; hunk 1 rejected by the user."),
        ([hunk("accepted"), hunk("edited", "x\n")], "", "2 of 2 hunks accepted; hunk 2 changed by the user to `x`."),
        (
            [hunk("edited", "x\ny\n")],
            "",
            "1 of 1 hunks accepted; hunk 1 changed by the user to \n<text>\nx\ny\n</text>\n.",
        ),
        (
            [hunk("edited", "")],
            "",
            "1 of 1 hunks accepted; hunk 1 changed by the user to nothing (the lines were deleted).",
        ),
        (
            [hunk("conflict"), hunk("conflict", why="the file was deleted")],
            "",
            "0 of 2 hunks accepted; hunk 1 not made: the user changed the same lines meanwhile; "
            "hunk 2 not made: the file was deleted.",
        ),
        (
            [hunk("reverted"), hunk("superseded"), hunk("pending")],
            "",
            "0 of 3 hunks accepted; hunk 1 undone by the user; hunk 2 replaced by a later edit; hunk 3 not decided yet.",
        ),
        ([], "no", "The user says: no"),
    ],
)
def test_decisions_in_words(hunks: list[Hunk], message: str, words: str) -> None:
    assert report(proposal(*hunks, message=message)) == words


def test_a_very_long_text_of_the_person_is_cut() -> None:
    assert len(report(proposal(hunk("edited", "x" * 10_000)))) < 2_200
