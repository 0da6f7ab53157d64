import random
import string
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.editor.hunks import counts, make_hunks, short_diff
from assent.text.diff import changed_blocks, changed_lines, diff_splices, refined
from assent.text.lines import at_line_start
from assent.text.splices import Splice, apply_each, apply_together

texts = st.text(alphabet="ab\r\n\u2028", max_size=60)


@given(texts, texts)
def test_a_diff_applied_gives_the_new_text(old: str, new: str) -> None:
    assert apply_together(old, diff_splices(old, new)) == new


@given(texts, texts)
def test_blocks_are_whole_lines_and_never_touch(old: str, new: str) -> None:
    blocks = changed_blocks(old, new)
    for block in blocks:
        assert at_line_start(old, block.start) and (block.end == len(old) or at_line_start(old, block.end))
    for before, after in pairwise(blocks):
        assert before.end < after.start and before.new_end < after.new_start


@given(texts, texts)
def test_hunks_applied_together_give_the_new_text(old: str, new: str) -> None:
    hunks = make_hunks(old, new)
    assert apply_together(old, [Splice(hunk.start, hunk.end, hunk.new_text) for hunk in hunks]) == new
    assert [old[hunk.start : hunk.end] for hunk in hunks] == [hunk.old_text for hunk in hunks]


@given(texts, texts, st.data())
def test_a_refined_change_has_the_same_outcome(text: str, new: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    change = Splice(start, data.draw(st.integers(start, len(text))), new)
    after = apply_together(text, [change])
    assert apply_each(text, refined(text, change, after)) == after


def test_a_formatter_that_reports_everything_changed_only_what_it_changed() -> None:
    text = "a = 1\nb=2\nc = 3\nd=4\ne = 5\n"
    new = "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n"
    parts = refined(text, Splice(2, len(text) - 1, new[2:-1]), new)
    assert [text[part.start : part.end] for part in parts] == ["=", "="]


@pytest.mark.parametrize(
    ("old", "new", "hunks"),
    [
        ("a\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n", [("a\n", "A\n"), ("c\n", "C\n"), ("e\n", "E\n")]),
        ("a\nc\n", "a\nb\nc\n", [("", "b\n")]),
        ("a\nb\nc\n", "a\nc\n", [("b\n", "")]),
        ("", "new\n", [("", "new\n")]),
        ("gone\n", "", [("gone\n", "")]),
        ("a", "a\nb", [("a", "a\nb")]),
        ("a\nb", "a\nb\n", [("b", "b\n")]),
        ("a\r\nb\r\n", "a\r\nB\r\n", [("b\r\n", "B\r\n")]),
        ("a\rb\r", "a\rB\r", [("b\r", "B\r")]),
        ("x\u2028y\n", "x\u2028z\n", [("x\u2028y\n", "x\u2028z\n")]),
        ("same\n", "same\n", []),
    ],
)
def test_hunks_of_small_changes(old: str, new: str, hunks: list[tuple[str, str]]) -> None:
    assert [(hunk.old_text, hunk.new_text) for hunk in make_hunks(old, new)] == hunks


def test_a_moved_function_is_found_by_its_unique_lines() -> None:
    one = "def one():\n    return 1\n\n"
    two = "def two():\n    return 2\n\n"
    assert [hunk.new_text for hunk in make_hunks(one + two, one + "def mid():\n    return 1\n\n" + two)] == [
        "def mid():\n    return 1\n\n"
    ]


def test_big_rewrites_with_only_a_brace_between_are_one_hunk() -> None:
    old = "a1\na2\na3\n}\nb1\nb2\nb3\nend\n"
    new = "A1\nA2\nA3\n}\nB1\nB2\nB3\nend\n"
    assert len(make_hunks(old, new)) == 1
    assert len(make_hunks("a\n\nb\n", "A\n\nB\n")) == 2, "small changes stay apart"


def test_there_are_never_more_hunks_than_anyone_would_decide() -> None:
    old = "".join(f"line {number}\nkeep {number}\n" for number in range(1000))
    new = old.replace("line", "LINE")
    hunks = make_hunks(old, new)
    assert len(hunks) <= 200
    assert apply_together(old, [Splice(hunk.start, hunk.end, hunk.new_text) for hunk in hunks]) == new


def test_a_text_without_unique_lines_costs_one_block_not_minutes() -> None:
    rng = random.Random(1)
    old = "".join(rng.choice("xyz") + "\n" for _ in range(20_000))
    new = "".join(rng.choice("xyz") + "\n" for _ in range(20_000))
    assert apply_together(old, diff_splices(old, new)) == new


def test_many_unique_lines_shuffled() -> None:
    rng = random.Random(2)
    lines = ["".join(rng.choices(string.ascii_letters, k=12)) + "\n" for _ in range(3_000)]
    shuffled = rng.sample(lines, len(lines))
    assert apply_together("".join(lines), diff_splices("".join(lines), "".join(shuffled))) == "".join(shuffled)


def test_hunk_ids_are_minted_short_and_different() -> None:
    ids = [hunk.hunk_id for hunk in make_hunks("a\nb\nc\n", "A\nb\nC\n")]
    assert len(set(ids)) == 2 and all(len(found) <= 12 for found in ids)


def test_a_short_diff_leaves_the_middle_out() -> None:
    (small,) = make_hunks("a\r\nb\r\n", "a\r\nB\r\n")
    assert short_diff(small) == "-b\n+B"
    (big,) = make_hunks("x\n", "".join(f"{number}\n" for number in range(40)))
    shown = short_diff(big, most=6).split("\n")
    assert len(shown) == 6 and shown[0] == "-x" and shown[-1] == "+39" and "36 more lines" in shown[3]
    assert counts(big) == "-1 +40"


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [
        ("", "a\nb\n", (2, 0)),
        ("a\nb\nc\n", "a\nc\n", (0, 1)),
        ("a\nb\nc\n", "a\nx\nc\ny\n", (2, 1)),
        ("a\r\nb\r\n", "a\r\nb\r\n", (0, 0)),
        ("a\n" * 3000 + "x\n", "b\n" * 3000 + "y\n", (3001, 3001)),
    ],
)
def test_changed_lines_are_counted_as_a_diff_would(before: str, after: str, counts: tuple[int, int]) -> None:
    assert changed_lines(before, after) == counts
