"""Added and removed lines are said to stand where they read best, and always make the same text."""

import random
from itertools import pairwise

import pytest

from assent.editor.hunks import make_hunks
from assent.text.diff import changed_blocks
from assent.text.sliding import slid

ONE = "def one():\n    if x:\n        return 1\n    return 0\n\n\n"


def applied(old: str, new: str) -> str:
    text, at = "", 0
    for hunk in make_hunks(old, new):
        assert old[hunk.start : hunk.end] == hunk.old_text
        text += old[at : hunk.start] + hunk.new_text
        at = hunk.end
    return text + old[at:]


def test_a_function_that_is_added_after_a_similar_one_is_told_whole() -> None:
    two = ONE.replace("one", "two")
    (hunk,) = make_hunks(ONE, ONE + two)
    assert hunk.new_text.strip() == two.strip() and hunk.old_text == ""
    (hunk,) = make_hunks("class A {\n  b() {\n  }\n}\n", "class A {\n  a() {\n  }\n  b() {\n  }\n}\n")
    assert hunk.new_text == "  a() {\n  }\n"


def test_a_function_that_is_removed_is_told_whole() -> None:
    two = ONE.replace("one", "two")
    (hunk,) = make_hunks(ONE + two + ONE, ONE + ONE)
    assert hunk.old_text.strip() == two.strip() and hunk.new_text == ""


@pytest.mark.parametrize("seed", range(20))
def test_the_text_is_the_same_wherever_a_change_is_said_to_stand(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(30):
        old = "".join(chance.choice(["a\n", "  b\n", "\n", "    c\n"]) for _ in range(chance.randrange(12)))
        new = "".join(chance.choice(["a\n", "  b\n", "\n", "    c\n"]) for _ in range(chance.randrange(12)))
        assert applied(old, new) == new
        blocks = slid(changed_blocks(old, new), old, new)
        assert all(one.end < two.start for one, two in pairwise(blocks)), "a line between any two"
