"""Every state of a hunk × every decision, as one table: the state machine of protocol.md."""

import pytest

from assent.editor.decisions import Choice, Nothing, Put, Refuse, Settle, Step, Verb, revert_step, step_for
from assent.editor.hunks import STATES, Hunk, State, Target

OLD, NEW, TYPED = "old\n", "new\n", "typed\n"
THEIRS = "theirs\n"


def refuse(state: str) -> Refuse:
    return Refuse(f"it was already {state}")


ROWS: list[tuple[State, bool, str, Verb, Step]] = [
    # state, decided, the text there, decision, what it comes to
    ("pending", False, OLD, "accept", Put(OLD, Target(NEW, "accepted"))),
    ("pending", False, OLD, "reject", Settle("rejected")),
    ("pending", False, OLD, "edit", Put(OLD, Target(THEIRS, "edited"))),
    ("landed", False, NEW, "accept", Settle("accepted")),
    ("landed", False, NEW, "reject", Put(NEW, Target(OLD, "rejected"))),
    ("landed", False, NEW, "edit", Put(NEW, Target(THEIRS, "edited"))),
    ("edited", False, TYPED, "accept", Settle("edited")),
    ("edited", False, TYPED, "reject", Refuse("the text there has been changed by hand since")),
    ("edited", False, NEW + "more\n", "reject", Refuse("the text there has been changed by hand since")),
    ("edited", False, TYPED, "edit", Put(TYPED, Target(THEIRS, "edited"))),
    ("reverted", False, OLD, "accept", Put(OLD, Target(NEW, "accepted"))),
    ("reverted", False, OLD, "reject", Settle("rejected")),
    ("reverted", False, OLD, "edit", Put(OLD, Target(THEIRS, "edited"))),
    ("conflict", False, TYPED, "accept", Refuse("the text there has been changed by hand since")),
    ("conflict", False, TYPED, "reject", Settle("rejected")),
    ("conflict", False, TYPED, "edit", Put(TYPED, Target(THEIRS, "edited"))),
    ("accepted", True, NEW, "accept", Nothing()),
    ("accepted", True, NEW, "reject", refuse("accepted")),
    ("accepted", True, NEW, "edit", refuse("accepted")),
    ("edited", True, THEIRS, "accept", Nothing()),
    ("edited", True, THEIRS, "reject", refuse("edited")),
    ("edited", True, THEIRS, "edit", refuse("edited")),
    ("rejected", True, OLD, "accept", refuse("rejected")),
    ("rejected", True, OLD, "reject", Nothing()),
    ("rejected", True, OLD, "edit", refuse("rejected")),
    ("conflict", True, TYPED, "accept", refuse("conflict")),
    ("superseded", False, TYPED, "accept", refuse("superseded")),
    ("superseded", False, TYPED, "reject", refuse("superseded")),
    ("superseded", False, TYPED, "edit", refuse("superseded")),
    ("pending", False, OLD, "reopen", Nothing()),
    ("landed", False, NEW, "reopen", Nothing()),
    ("accepted", True, NEW, "reopen", Put(NEW, Target(OLD, "pending"))),
    ("accepted", True, TYPED, "reopen", Refuse("the text there has been changed by hand since")),
    ("edited", True, NEW, "reopen", Put(NEW, Target(OLD, "pending"))),
    ("rejected", True, OLD, "reopen", Settle("pending", decided=False)),
    ("rejected", True, TYPED, "reopen", Refuse("the text there has been changed by hand since")),
    ("reverted", True, OLD, "reopen", Settle("pending", decided=False)),
    ("conflict", True, TYPED, "reopen", refuse("conflict")),
    ("superseded", False, TYPED, "reopen", refuse("superseded")),
]


@pytest.mark.parametrize(("state", "decided", "here", "verb", "step"), ROWS)
def test_a_decision_in_each_state(state: State, decided: bool, here: str, verb: Verb, step: Step) -> None:
    hunk = Hunk(start=2, end=2 + len(here), old_text=OLD, new_text=NEW, state=state, decided=decided)
    assert step_for(Choice(hunk=hunk, verb=verb, new_text=THEIRS), f"a\n{here}z\n") == step


@pytest.mark.parametrize(
    ("state", "here", "step"),
    [
        ("accepted", NEW, Settle("landed", decided=False)),
        ("edited", TYPED, Settle("edited", decided=False)),
        ("rejected", OLD, Put(OLD, Target(NEW, "landed"))),
        ("rejected", TYPED, Refuse("the text there has been changed by hand since")),
    ],
)
def test_taking_a_decision_back_where_changes_land_first_lets_them_stand(state: State, here: str, step: Step) -> None:
    hunk = Hunk(start=2, end=2 + len(here), old_text=OLD, new_text=NEW, state=state, decided=True)
    assert step_for(Choice(hunk=hunk, verb="reopen", landed_first=True), f"a\n{here}z\n") == step


def test_the_table_has_every_state_and_every_decision() -> None:
    assert {(state, verb) for state, _, _, verb, _ in ROWS} == {
        (state, verb) for state in STATES for verb in ("accept", "reject", "edit", "reopen")
    }


def hunk_of(old: str, new: str, here: str, state: State) -> tuple[Hunk, str]:
    return Hunk(start=2, end=2 + len(here), old_text=old, new_text=new, state=state), f"a\n{here}z\n"


def test_rejecting_a_hunk_edited_elsewhere_in_it_merges_the_persons_change() -> None:
    hunk, text = hunk_of("1\n2\n3\n4\n5\n", "ONE\n2\n3\n4\n5\n", "ONE\n2\n3\n4\nFIVE\n", "edited")
    assert step_for(Choice(hunk=hunk, verb="reject"), text) == Put(
        "ONE\n2\n3\n4\nFIVE\n", Target("1\n2\n3\n4\nFIVE\n", "rejected")
    )


def test_accepting_a_conflict_merges_when_the_changes_do_not_touch() -> None:
    hunk, text = hunk_of("1\n2\n3\n4\n5\n", "ONE\n2\n3\n4\n5\n", "1\n2\n3\n4\nFIVE\n", "conflict")
    assert step_for(Choice(hunk=hunk, verb="accept"), text) == Put(
        "1\n2\n3\n4\nFIVE\n", Target("ONE\n2\n3\n4\nFIVE\n", "edited")
    )


def test_the_words_of_a_lost_file_are_the_refusal() -> None:
    hunk = Hunk(start=0, end=0, old_text=OLD, new_text=NEW, state="conflict", why="the file was deleted")
    assert step_for(Choice(hunk=hunk, verb="accept"), "") == Refuse("the file was deleted")


@pytest.mark.parametrize(
    ("text", "theirs", "put"),
    [
        ("old\nz\n", "x", "x\n"),  # a box strips the line end
        ("old\r\nz\r\n", "x\ny", "x\r\ny\r\n"),
        ("old\nz\n", "", ""),
    ],
)
def test_a_persons_words_become_whole_lines_of_the_document(text: str, theirs: str, put: str) -> None:
    old = text[: text.index("z")]
    hunk = Hunk(start=0, end=len(old), old_text=old, new_text="new" + old[3:])
    assert step_for(Choice(hunk=hunk, verb="edit", new_text=theirs), text) == Put(old, Target(put, "edited"))


@pytest.mark.parametrize(("theirs", "step"), [(NEW, Put(OLD, Target(NEW, "accepted"))), (OLD, Settle("rejected"))])
def test_editing_to_what_it_is_anyway(theirs: str, step: Step) -> None:
    hunk, text = hunk_of(OLD, NEW, OLD, "pending")
    assert step_for(Choice(hunk=hunk, verb="edit", new_text=theirs), text) == step


@pytest.mark.parametrize("state", ["landed", "accepted", "edited"])
def test_revert_takes_back_what_landed_decided_or_not(state: State) -> None:
    hunk, text = hunk_of(OLD, NEW, NEW, state)
    assert revert_step(hunk, text) == Put(NEW, Target(OLD, "rejected"))


def test_revert_refuses_what_never_landed() -> None:
    hunk, text = hunk_of(OLD, NEW, OLD, "pending")
    assert isinstance(revert_step(hunk, text), Refuse)
