"""Typing around and inside hunks: rules 1–6 of `rebase`, as tables of text before, change, and what becomes of it."""

import pytest

from assent.editor.hunks import Hunk, State, Target, make_hunks
from assent.editor.rebase import rebase, stands
from assent.text.diff3 import merged
from assent.text.splices import Splice, apply_each

OLD, NEW = "a\nb\nc\n", "a\nB\nc\n"  # one hunk, over "b\n" at 2


def follow(hunks: list[Hunk], text: str, *changes: Splice, ours: bool = False) -> str:
    after = apply_each(text, changes)
    rebase(hunks, text, changes, after, ours=ours)
    return after


@pytest.mark.parametrize(
    ("change", "state", "span"),
    [
        (Splice(0, 0, "x\n"), "pending", (4, 6)),
        (Splice(0, 1, "AAA"), "pending", (4, 6)),
        (Splice(0, 2, ""), "pending", (0, 2)),  # the line above deleted
        (Splice(2, 2, "x\n"), "pending", (4, 6)),  # a whole line right above
        (Splice(4, 4, "x\n"), "pending", (2, 4)),  # a whole line right below
        (Splice(4, 5, "C"), "pending", (2, 4)),  # the line below changed
        (Splice(4, 6, ""), "pending", (2, 4)),  # the line below deleted
        (Splice(2, 2, "x"), "conflict", (2, 5)),  # typing at its first column
        (Splice(3, 3, "x"), "conflict", (2, 5)),  # typing inside
        (Splice(2, 3, ""), "conflict", (2, 3)),
        (Splice(1, 2, ""), "conflict", (1, 3)),  # joined to the line above
        (Splice(3, 4, ""), "conflict", (2, 3)),  # joined to the line below
        (Splice(2, 4, ""), "conflict", (2, 2)),  # deleted whole
        (Splice(0, 6, ""), "conflict", (0, 0)),
        (Splice(2, 3, "B"), "accepted", (2, 4)),  # the person did it
        (Splice(1, 5, "\nB\nC"), "conflict", (1, 5)),  # and more in the same breath: theirs to sort out
    ],
)
def test_what_typing_does_to_a_pending_hunk(change: Splice, state: State, span: tuple[int, int]) -> None:
    hunks = make_hunks(OLD, NEW)
    after = follow(hunks, OLD, change)
    (hunk,) = hunks
    assert (hunk.state, (hunk.start, hunk.end)) == (state, span), after
    assert hunk.state != "pending" or (after[hunk.start : hunk.end] == "b\n" and stands(hunk, after))


@pytest.mark.parametrize(
    ("change", "state", "here"),
    [
        (Splice(0, 0, "x\n"), "landed", "B\n"),
        (Splice(2, 2, "x\n"), "landed", "B\n"),
        (Splice(4, 4, "x\n"), "landed", "B\n"),
        (Splice(3, 3, "x"), "edited", "Bx\n"),
        (Splice(2, 2, "x"), "edited", "xB\n"),
        (Splice(2, 3, ""), "edited", "\n"),
        (Splice(2, 4, ""), "edited", ""),
        (Splice(2, 3, "b"), "reverted", "b\n"),
        (Splice(1, 5, ""), "edited", ""),
    ],
)
def test_what_typing_does_to_a_landed_hunk(change: Splice, state: State, here: str) -> None:
    hunk = Hunk(start=2, end=4, old_text="b\n", new_text="B\n", state="landed")
    after = follow([hunk], NEW, change)
    assert (hunk.state, after[hunk.start : hunk.end]) == (state, here)


def test_undoing_the_typing_brings_a_pending_hunk_back() -> None:
    hunks = make_hunks(OLD, NEW)
    text = follow(hunks, OLD, Splice(3, 3, "x"))
    assert hunks[0].state == "conflict"
    follow(hunks, text, Splice(3, 4, ""))
    assert hunks[0].state == "pending"


def test_typing_new_text_letter_by_letter_is_an_accept() -> None:
    hunks = make_hunks("one\n", "two\n")
    text = "one\n"
    for change in (Splice(0, 3, ""), Splice(0, 0, "t"), Splice(1, 1, "w"), Splice(2, 2, "o")):
        text = follow(hunks, text, change)
    assert (hunks[0].state, hunks[0].decided) == ("accepted", True)


def test_one_conflict_leaves_the_others_alive() -> None:
    text = "a\nb\nc\nd\ne\n"
    hunks = make_hunks(text, "A\nb\nC\nd\nE\n")
    follow(hunks, text, Splice(5, 5, "x"))
    assert [hunk.state for hunk in hunks] == ["pending", "conflict", "pending"]


@pytest.mark.parametrize(
    ("old", "new", "typed", "state", "accepted"),
    [
        ("a\nc\n", "a\nb\nc\n", Splice(2, 2, "x"), "pending", "a\nb\nxc\n"),  # belongs to the line below
        ("a\nc\n", "a\nb\nc\n", Splice(2, 2, "x\n"), "pending", "a\nb\nx\nc\n"),
        ("a\nc\n", "a\nb\nc\n", Splice(1, 1, "x"), "pending", "ax\nb\nc\n"),
        ("a\nc\n", "a\nb\nc\n", Splice(2, 2, "b\n"), "accepted", "a\nb\nc\n"),  # just what was proposed
        ("a\nc\n", "a\nb\nc\n", Splice(1, 2, ""), "conflict", "ac\n"),  # no line starts there any more
        ("", "b\n", Splice(0, 0, "x"), "pending", "b\nx"),
        ("a", "a\nb", Splice(1, 1, "\nb"), "accepted", "a\nb"),
        ("a", "a\nb", Splice(1, 1, "x"), "conflict", "ax"),
        ("a", "A", Splice(1, 1, "\nx"), "pending", "A\nx"),  # a new last line is elsewhere
    ],
)
def test_insertions_and_the_end_of_the_file(old: str, new: str, typed: Splice, state: State, accepted: str) -> None:
    (hunk,) = hunks = make_hunks(old, new)
    text = follow(hunks, old, typed)
    assert hunk.state == state
    if state == "pending":
        text = apply_each(text, [Splice(hunk.start, hunk.end, hunk.new_text)])
    assert text == accepted


@pytest.mark.parametrize("eol", ["\r\n", "\r"])
def test_other_line_ends(eol: str) -> None:
    old = eol.join(["a", "b", "c", ""])
    hunks = make_hunks(old, old.replace("b", "B"))
    text = follow(hunks, old, Splice(0, 0, "x" + eol))
    assert hunks[0].state == "pending" and text[hunks[0].start : hunks[0].end] == "b" + eol
    follow(hunks, text, Splice(hunks[0].start, hunks[0].start + 1, "B"))
    assert hunks[0].state == "accepted"


def test_a_line_feed_typed_behind_a_lone_cr_is_inside_the_line_it_ends() -> None:
    hunks = make_hunks("a\rb\r", "A\rb\r")
    follow(hunks, "a\rb\r", Splice(2, 2, "\n"))
    assert hunks[0].state == "conflict"


def test_line_ends_rewritten_by_the_editor_are_still_our_text() -> None:
    hunk = Hunk(start=0, end=3, old_text="a\r\n", new_text="x\ny\n", target=Target("x\ny\n", "accepted"))
    follow([hunk], "a\r\n", Splice(0, 3, "x\r\ny\r\n"))
    assert hunk.state == "accepted"


def test_an_editor_that_keeps_a_last_line_end_has_still_landed_our_text() -> None:
    hunk = Hunk(start=0, end=2, old_text="a\n", new_text="b", target=Target("b", "landed"))
    follow([hunk], "a\n", Splice(0, 1, "b"))
    assert hunk.state == "landed"


def test_undo_reverts_and_redo_lands_again() -> None:
    hunk = Hunk(start=2, end=4, old_text="b\n", new_text="B\n", state="landed")
    text = follow([hunk], NEW, Splice(2, 4, "b\n"))
    assert hunk.state == "reverted"
    follow([hunk], text, Splice(2, 4, "B\n"))
    assert hunk.state == "landed"


@pytest.mark.parametrize(("old", "new"), [("", "b\n"), ("b\n", "")])
def test_undo_and_redo_of_insertions_and_deletions(old: str, new: str) -> None:
    hunk = Hunk(start=2, end=2 + len(new), old_text=old, new_text=new, state="landed")
    landed = "a\n" + new + "c\n"
    undone = follow([hunk], landed, Splice(2, 2 + len(new), old))
    assert hunk.state == "reverted"
    follow([hunk], undone, Splice(2, 2 + len(old), new))
    assert hunk.state == "landed"


def test_undoing_an_accepted_hunk_reverts_it_and_redo_accepts_again() -> None:
    hunk = Hunk(start=2, end=4, old_text="b\n", new_text="B\n", state="accepted", decided=True)
    text = follow([hunk], NEW, Splice(2, 3, "b"))
    assert hunk.state == "reverted"
    follow([hunk], text, Splice(2, 3, "B"))
    assert hunk.state == "accepted"


@pytest.mark.parametrize("state", ["landed", "edited"])
def test_a_later_edit_of_ours_supersedes_and_its_undo_gives_back(state: State) -> None:
    hunk = Hunk(start=2, end=4, old_text="b\n", new_text="B\n", state=state)
    text = follow([hunk], NEW, Splice(2, 4, "again\n"), ours=True)
    assert hunk.state == "superseded"
    follow([hunk], text, Splice(2, 8, "B\n"))
    assert hunk.state == "landed"


def test_an_edit_of_ours_inside_a_pending_hunk_is_a_conflict_for_it() -> None:
    hunks = make_hunks(OLD, NEW)
    follow(hunks, OLD, Splice(2, 3, "z"), ours=True)
    assert hunks[0].state == "conflict"


def test_a_rejected_hunk_stays_rejected_whatever_is_typed() -> None:
    hunk = Hunk(start=2, end=4, old_text="b\n", new_text="B\n", state="rejected", decided=True)
    follow([hunk], OLD, Splice(2, 3, "B"))
    assert hunk.state == "rejected"


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "both"),
    [
        ("a\nb\nc\n", "a\nb\nC\n", "A\nb\nc\n", "A\nb\nC\n"),
        ("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n", None),
        ("a\n", "a\n", "b\n", "b\n"),
        ("a\n", "b\n", "a\n", "b\n"),
        ("a\n", "b\n", "b\n", "b\n"),
        ("a\rb\rc\r", "a\rb\rC\r", "A\rb\rc\r", "A\rb\rC\r"),
        ("x\u2028y\nb\nc\n", "x\u2028y\nb\nC\n", "X\u2028y\nb\nc\n", "X\u2028y\nb\nC\n"),
    ],
)
def test_a_three_way_merge_takes_both_or_neither(base: str, ours: str, theirs: str, both: str | None) -> None:
    assert merged(base, ours, theirs) == both
