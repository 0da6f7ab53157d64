"""Three-way merges: laws that hold for any texts, and the same answers as `git merge-file` where that is installed."""

import shutil
import subprocess
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assent.text.diff3 import Piece, merged, pieces

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\r\n", "\n", "x\r", "end"]), max_size=8).map("".join)
GIT = shutil.which("git")


@given(LINES, LINES, LINES)
def test_the_pieces_joined_are_the_three_texts(base: str, ours: str, theirs: str) -> None:
    found = pieces(base, ours, theirs)
    assert "".join(piece.base for piece in found) == base
    assert "".join(piece.ours for piece in found) == ours
    assert "".join(piece.theirs for piece in found) == theirs


@given(LINES, LINES)
def test_a_side_that_changed_nothing_or_the_same_leaves_the_others_text(base: str, text: str) -> None:
    assert merged(base, text, base) == text
    assert merged(base, base, text) == text
    assert merged(base, text, text) == text
    assert merged(base, base, base) == base


@given(LINES, LINES, LINES)
def test_it_does_not_matter_whose_change_is_named_first(base: str, ours: str, theirs: str) -> None:
    assert merged(base, ours, theirs) == merged(base, theirs, ours)
    assert [piece.merged for piece in pieces(base, ours, theirs)] == [
        piece.merged for piece in pieces(base, theirs, ours)
    ]


@given(LINES, LINES, LINES)
def test_a_conflict_holds_what_both_sides_wrote(base: str, ours: str, theirs: str) -> None:
    conflicts = [piece for piece in pieces(base, ours, theirs) if piece.merged is None]
    assert bool(conflicts) == (merged(base, ours, theirs) is None)
    for piece in conflicts:
        assert len({piece.base, piece.ours, piece.theirs}) == 3


def test_changes_that_only_touch_are_a_conflict() -> None:
    assert pieces("a\nb\n", "A\nb\n", "a\nB\n") == [Piece("a\nb\n", "A\nb\n", "a\nB\n")]
    assert merged("a\n", "a\nx\n", "a\ny\n") is None
    assert merged("a\nb\n", "a\nx\nb\n", "a\n") is None
    assert merged("a\nb\nc\n", "x\na\nb\nc\n", "a\nb\nc\ny\n") == "x\na\nb\nc\ny\n"


EDITS = st.lists(
    st.tuples(st.sampled_from(["keep"] * 5 + ["drop", "change", "insert"]), st.sampled_from("pq")), max_size=12
)


def edited(sides: list[tuple[str, str]], size: int) -> str:
    """A base of `size` lines that are all different, and one side's edits of it; `p` and `q` may edit alike."""
    lines: list[str] = []
    for number in range(size):
        what, name = sides[number] if number < len(sides) else ("keep", "")
        new = f"{what} {number} {name}\n"
        match what:
            case "drop":
                pass
            case "change":
                lines.append(new)
            case "insert":
                lines += [f"line {number}\n", new]
            case _:
                lines.append(f"line {number}\n")
    return "".join(lines)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ours=EDITS, theirs=EDITS, size=st.integers(1, 12))
def test_git_merges_the_same_texts_to_the_same_result(
    ours: list[tuple[str, str]], theirs: list[tuple[str, str]], size: int, tmp_path: Path
) -> None:
    texts = {
        "base": "".join(f"line {number}\n" for number in range(size)),
        "ours": edited(ours, size),
        "theirs": edited(theirs, size),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert GIT is not None, "git is needed: it is the oracle here"
    done = subprocess.run(
        [GIT, "merge-file", "-p", "ours", "base", "theirs"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    mine = merged(texts["base"], texts["ours"], texts["theirs"])
    assert mine == (done.stdout if done.returncode == 0 else None)
