import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.text.lines import LineIndex, at_line_start, same_but_for_eol, split_lines, uniform_eol, with_eol
from assent.text.positions import (
    Encoding,
    edit_of,
    joined_surrogates,
    offset_at,
    place_at,
    position_at,
    splice_of,
    units,
)
from assent.text.splices import Splice, apply_each, apply_together, in_sequence, inverted, splice, trimmed
from fakeeditor.buffer import offset_of, position_of

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
odd_texts = st.text(alphabet="ab\r\n\u2028\x0c\x85é𝒳\ud800", max_size=40)


def test_lines_end_at_cr_lf_and_crlf_only() -> None:
    text = "a\nb\r\nc\rd\u2028e\x0bf\x0cg\x85h\x1ci"
    assert split_lines(text) == ["a\n", "b\r\n", "c\r", "d\u2028e\x0bf\x0cg\x85h\x1ci"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", ["\n"]),
        ("\r\r\n\n", ["\r", "\r\n", "\n"]),
        ("a", ["a"]),
        ("a\n", ["a\n"]),
        ("\n\r", ["\n", "\r"]),
    ],
)
def test_splitting_at_the_edges(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@given(odd_texts)
def test_lines_joined_give_the_text_back(text: str) -> None:
    assert "".join(split_lines(text)) == text


@given(odd_texts, st.data())
def test_an_index_that_follows_changes_equals_a_fresh_one(text: str, data: st.DataObject) -> None:
    index = LineIndex(text)
    for _ in range(data.draw(st.integers(1, 8))):
        start = data.draw(st.integers(0, len(text)))
        change = Splice(start, data.draw(st.integers(start, len(text))), data.draw(odd_texts))
        after = splice(text, change)
        index.follow(text, change, after)
        text = after
        fresh = LineIndex(text)
        assert [index.start(line) for line in range(len(index))] == [fresh.start(line) for line in range(len(fresh))]
        assert [index.line_of(at) for at in range(len(text) + 1)] == [fresh.line_of(at) for at in range(len(text) + 1)]


@given(odd_texts, st.sampled_from(ENCODINGS))
def test_every_offset_survives_the_way_to_a_position_and_back(text: str, encoding: Encoding) -> None:
    text = joined_surrogates(text)
    lines = LineIndex(text)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] == "\r\n" and offset:
            continue  # between the two no position lies
        position = position_at(text, lines, offset, encoding)
        assert position == position_of(text, offset, encoding)
        assert offset_at(text, lines, position, encoding) == offset == offset_of(text, position, encoding)


@pytest.mark.parametrize(
    ("line", "character", "offset"),
    [(0, 99, 2), (1, 99, 5), (2, 0, 7), (2, 5, 7), (9, 0, 7), (-1, 3, 0), (0, -1, 0), (1, 2, 5)],
)
def test_positions_outside_the_text_mean_its_nearest_end(line: int, character: int, offset: int) -> None:
    text = "ab\ncd\r\n"
    position = {"line": line, "character": character}
    assert offset_at(text, LineIndex(text), position, "utf-16") == offset
    assert position == {"line": line, "character": character}, "arguments are never changed"


@pytest.mark.parametrize(
    ("encoding", "character", "offset"),
    [
        ("utf-16", 1, 1),
        ("utf-16", 3, 2),
        ("utf-16", 4, 3),
        ("utf-8", 2, 1),
        ("utf-8", 6, 2),
        ("utf-8", 9, 3),
        ("utf-32", 2, 2),
    ],
)
def test_units_of_each_encoding(encoding: Encoding, character: int, offset: int) -> None:
    text = "é𝒳\ud800z"  # 2+4+3+1 bytes, 1+2+1+1 UTF-16 units
    assert offset_at(text, LineIndex(text), {"line": 0, "character": character}, encoding) == offset
    assert units(text, 0, 4, encoding) == {"utf-8": 10, "utf-16": 5, "utf-32": 4}[encoding]


def test_a_position_inside_a_character_is_its_start() -> None:
    text = "a𝒳b"
    lines = LineIndex(text)
    assert place_at(text, lines, {"line": 0, "character": 2}, "utf-16") == (1, True)
    assert place_at(text, lines, {"line": 0, "character": 3}, "utf-8") == (1, False)


@pytest.mark.parametrize(
    ("text", "span", "new", "after"),
    [
        ("a𝒳b", (2, 3), "", "a\ud835b"),  # a client cut the pair in two
        ("a\ud835b", (2, 2), "\udcb3", "a𝒳b"),  # and brings the other half
        ("\udcb3", (0, 0), "\ud835", "𝒳"),
        ("\ud835x\udcb3", (1, 2), "", "𝒳"),
        ("𝒳", (1, 1), "q", "\ud835q\udcb3"),
    ],
)
def test_halves_of_a_pair_part_and_meet_as_in_the_client(
    text: str, span: tuple[int, int], new: str, after: str
) -> None:
    change = {
        "range": {"start": {"line": 0, "character": span[0]}, "end": {"line": 0, "character": span[1]}},
        "text": new,
    }
    assert splice(text, splice_of(text, LineIndex(text), change, "utf-16")) == after


def test_a_range_given_backwards_is_turned_round() -> None:
    change = {"range": {"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 1}}, "text": "X"}
    assert splice_of("abcd", LineIndex("abcd"), change, "utf-16") == Splice(1, 3, "X")


def test_a_splice_becomes_a_text_edit() -> None:
    text = "𝒳\r\nb"
    assert edit_of(text, LineIndex(text), Splice(1, 4, "q"), "utf-16") == {
        "range": {"start": {"line": 0, "character": 2}, "end": {"line": 1, "character": 1}},
        "newText": "q",
    }


@pytest.mark.parametrize(
    ("text", "eol"), [("a\nb\n", "\n"), ("a\r\nb", "\r\n"), ("a\rb", "\r"), ("a\nb\r\n", None), ("a", None)]
)
def test_the_one_line_end_of_a_text(text: str, eol: str | None) -> None:
    assert uniform_eol(text) == eol


def test_texts_that_differ_in_line_ends_only() -> None:
    assert same_but_for_eol("a\r\nb\r", "a\nb\n")
    assert not same_but_for_eol("a\n", "a")
    assert with_eol("a\nb\r\nc\r", "\r\n") == "a\r\nb\r\nc\r\n"


@pytest.mark.parametrize(("offset", "is_start"), [(0, True), (1, False), (2, False), (3, True), (5, True), (6, False)])
def test_where_lines_start(offset: int, is_start: bool) -> None:
    assert at_line_start("a\r\nb\rc", offset) is is_start


@given(odd_texts, odd_texts, st.data())
def test_trimming_keeps_the_outcome(text: str, new: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    change = Splice(start, data.draw(st.integers(start, len(text))), new)
    small = trimmed(text, change)
    assert splice(text, small) == splice(text, change)
    assert small.end - small.start <= change.end - change.start


def test_changes_made_together_and_one_by_one_and_undone() -> None:
    text = "abcdef"
    changes = [Splice(0, 1, "XX"), Splice(2, 2, "-"), Splice(4, 6, "")]
    after = apply_together(text, changes)
    assert after == "XXb-cd"
    assert apply_each(text, in_sequence(changes)) == after
    assert apply_together(after, inverted(text, changes)) == text
