"""Accepting single lines of a hunk: unselected old lines stay, unselected new ones are dropped."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.editor.line_choice import LineChoice, chosen_text, left_out, read_lines
from assent.text.lines import split_lines
from assent.types.errors import ProtocolError
from editor.scene import Scene

BASE = "a\nb\nc\nd\n"
line = st.sampled_from(["a", "b", "c", "", "  x", "é"])


@st.composite
def choices(draw: st.DrawFn) -> tuple[str, str, LineChoice]:
    old = "".join(f"{each}\n" for each in draw(st.lists(line, max_size=8)))
    new = "".join(f"{each}\n" for each in draw(st.lists(line, max_size=8)))
    numbers_old, numbers_new = range(len(split_lines(old))), range(len(split_lines(new)))
    picked_old = draw(st.sets(st.sampled_from(numbers_old))) if numbers_old else set[int]()
    picked_new = draw(st.sets(st.sampled_from(numbers_new))) if numbers_new else set[int]()
    return old, new, LineChoice(frozenset(picked_old), frozenset(picked_new))


@given(choices())
def test_the_text_is_the_unselected_old_lines_and_the_selected_new_lines_each_in_order(
    case: tuple[str, str, LineChoice],
) -> None:
    old, new, lines = case
    stay = [each for at, each in enumerate(split_lines(old)) if at not in lines.old]
    come = [each for at, each in enumerate(split_lines(new)) if at in lines.new]
    text = split_lines(chosen_text(old, new, lines))
    assert Counter(text) == Counter([*stay, *come])
    assert _in_order(stay, text) and _in_order(come, text)


@given(choices())
def test_all_lines_are_the_whole_change_and_no_line_is_none_of_it(case: tuple[str, str, LineChoice]) -> None:
    for old, new in ((case[0], case[1]), (case[0].rstrip("\n"), case[1]), (case[0], case[1].rstrip("\n"))):
        _check_all_and_none(old, new)


def _check_all_and_none(old: str, new: str) -> None:
    everything = LineChoice(frozenset(range(len(split_lines(old)))), frozenset(range(len(split_lines(new)))))
    assert chosen_text(old, new, everything) == new
    assert chosen_text(old, new, LineChoice(frozenset(), frozenset())) == old


@given(choices())
def test_a_choice_survives_being_stored(case: tuple[str, str, LineChoice]) -> None:
    assert LineChoice.from_json(case[2].to_json()) == case[2]


def test_kept_lines_stand_where_they_were_and_a_missing_line_end_is_added() -> None:
    assert chosen_text("a\nb\nc\n", "A\nb\nC\n", LineChoice(frozenset({0}), frozenset({0}))) == "A\nb\nc\n"
    assert chosen_text("a", "b", LineChoice(frozenset(), frozenset({0}))) == "a\nb"
    assert chosen_text("a", "b", LineChoice(frozenset(), frozenset({0})), eol="\r\n") == "a\r\nb"


def test_lines_that_the_change_did_not_touch_are_not_told_as_left_out() -> None:
    lines = LineChoice(frozenset({0}), frozenset({0}))
    assert left_out("a\nb\nc\n", "A\nb\nC\n", lines) == (["c\n"], ["C\n"])


@pytest.mark.parametrize("wrong", [[[0, 9]], [[2, 1]], [[-1, 1]], [0], [["0", "1"]], "all"])
def test_ranges_outside_the_hunk_are_refused(wrong: object) -> None:
    with pytest.raises(ProtocolError) as caught:
        read_lines({"old": wrong}, "a\n", "b\n")
    assert caught.value.kind == "invalidParams"


@pytest.mark.parametrize("review", ["before", "after"])
async def test_a_hunk_accepted_in_part_lands_so_is_edited_and_the_model_is_told_both(review: str) -> None:
    scene = Scene(BASE)
    wire = await scene.propose("a\nB1\nB2\nC\nd\n", review="before" if review == "before" else "after")
    (hunk,) = wire["hunks"]
    decision = {"hunkId": hunk["hunkId"], "decision": "accept", "lines": {"old": [[0, 1]], "new": [[0, 1]]}}
    answer = await scene.proposals.resolve(wire["proposalId"], [decision])
    assert answer["refused"] == []
    assert scene.text == "a\nc\nB1\nd\n"
    assert scene.states(wire) == ["edited"]
    assert "accepted in part (these old lines stay: `c`; these new lines were left out:" in answer["report"]
    assert "B2\nC" in answer["report"] and "c\nB1" in answer["report"]
    told = scene.events[-1]
    assert told.decisions == ({"hunkId": hunk["hunkId"], "decision": "edit", "newText": "c\nB1\n"},)


async def test_choosing_every_line_accepts_and_choosing_none_rejects() -> None:
    scene = Scene(BASE)
    wire = await scene.propose("a\nB\nc\nd\n")
    whole = {"hunkId": wire["hunks"][0]["hunkId"], "decision": "accept", "lines": {"old": [[0, 1]], "new": [[0, 1]]}}
    await scene.proposals.resolve(wire["proposalId"], [whole])
    assert (scene.states(wire), scene.text) == (["accepted"], "a\nB\nc\nd\n")
    other = await scene.propose("a\nB\nc\nD\n")
    nothing: dict[str, Any] = {"hunkId": other["hunks"][0]["hunkId"], "decision": "accept", "lines": {}}
    await scene.proposals.resolve(other["proposalId"], [nothing])
    assert (scene.states(other), scene.text) == (["rejected"], "a\nB\nc\nd\n")


async def test_lines_cannot_be_chosen_where_the_user_typed_or_with_a_reject() -> None:
    scene = Scene(BASE)
    wire = await scene.propose("a\nB\nc\nd\n")
    hunk_id = wire["hunks"][0]["hunkId"]
    with pytest.raises(ProtocolError):
        rejected = {"hunkId": hunk_id, "decision": "reject", "lines": {"old": [[0, 1]]}}
        await scene.proposals.resolve(wire["proposalId"], [rejected])
    scene.type("b\n", "my ")
    chosen = {"hunkId": hunk_id, "decision": "accept", "lines": {"old": [[0, 1]], "new": []}}
    answer = await scene.proposals.resolve(wire["proposalId"], [chosen])
    assert [refused["hunkId"] for refused in answer["refused"]] == [hunk_id]
    assert scene.text == "a\nmy b\nc\nd\n"


def _in_order(part: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(each in rest for each in part)
