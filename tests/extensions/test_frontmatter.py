"""Headers of Markdown files as other tools write them: most of them are not strict YAML."""

from __future__ import annotations

import pytest

from assent.extensions.frontmatter import Complaint, Value, read

CASES: list[tuple[str, str, Value]] = [
    ("a plain text", "key: some words", "some words"),
    ("a text with a colon", "key: Use this: when a: b", "Use this: when a: b"),
    ("a text that begins with a star", "key: *.ts,*.tsx", "*.ts,*.tsx"),
    ("a text that begins with an at sign", "key: @scope/name", "@scope/name"),
    ("two brackets in a row are a text", "key: [file] [message]", "[file] [message]"),
    ("a list in brackets", "key: [a, 'b', \"c d\"]", ["a", "b", "c d"]),
    ("a list in brackets over several lines", "key: [\n  a,\n  b\n]", ["a", "b"]),
    ("a list by dashes", "key:\n  - a\n  - b: not a map?", ["a", {"b": "not a map?"}]),
    ("a list by dashes that is not indented", "key:\n- a\n- b", ["a", "b"]),
    ("a map in braces", "key: {a: 1, b: [x]}", {"a": 1, "b": ["x"]}),
    ("braces without a colon are a pattern", "key: {a,b}", "{a,b}"),
    ("a nested map indented by tabs", "key:\n\ta: 1\n\tb:\n\t\tc: yes", {"a": 1, "b": {"c": "yes"}}),
    ("a block keeps its lines", "key: |\n  one\n    two\n\n  three", "one\n  two\n\nthree\n"),
    ("a folded block is one line", "key: >-\n  one\n  two", "one two"),
    ("a quoted text keeps its number sign", 'key: "a # b"', "a # b"),
    ("a comment is left out", "key: a # b", "a"),
    ("a quotation that goes on is a text", 'key: "a" and more', '"a" and more'),
    ("an escaped character", r'key: "a\tbé"', "a\tbé"),
    ("continuation lines", "key: one\n  two: three\n  four", "one two: three four"),
    ("true", "key: true", True),
    ("nothing", "key:", None),
    ("a number", "key: 12", 12),
    ("a decimal number", "key: 1.5", 1.5),
    ("a key in quotation marks", '"key": a', "a"),
]


@pytest.mark.parametrize(("what", "header", "expected"), CASES, ids=[case[0] for case in CASES])
def test_values_are_read_as_their_authors_mean_them(what: str, header: str, expected: Value) -> None:
    found = read(f"---\n{header}\n---\nbody\n")
    assert (found.fields, found.body, found.complaints) == ({"key": expected}, "body\n", ())


def test_a_byte_order_mark_and_windows_line_ends_change_nothing() -> None:
    found = read("\ufeff---\r\nname: a\r\ntools: Read, Bash(git add:*, x)\r\n---\r\ntext\r\n")
    assert found.text("name") == "a"
    assert found.names("tools") == ("Read", "Bash(git add:*, x)")
    assert found.body == "text\n"


def test_a_broken_line_is_named_with_its_number_and_the_rest_counts() -> None:
    found = read("---\nname: a\nthis is no pair\ndescription: b\n---\nbody")
    assert found.complaints == (Complaint(line=3, text="expected `key: value`, found 'this is no pair'"),)
    assert (found.text("name"), found.text("description"), found.body) == ("a", "b", "body")
    assert found.body_line == 6


def test_a_header_that_is_never_closed_is_body_and_is_told() -> None:
    found = read("---\nname: a\nbody")
    assert found.fields == {}
    assert found.complaints[0].line == 1
    assert "closing" in found.complaints[0].text


def test_a_key_that_stands_twice_is_told_and_the_last_one_counts() -> None:
    found = read("---\nname: a\nname: b\n---\n")
    assert found.text("name") == "b"
    assert [each.line for each in found.complaints] == [3]


@pytest.mark.parametrize(
    ("word", "expected"), [("yes", True), ("ON", True), ("1", True), ("no", False), ("0", False), ("maybe", True)]
)
def test_flags_take_every_usual_word(word: str, expected: bool) -> None:
    assert read(f"---\nflag: {word}\n---\n").flag("flag", default=True) is expected


def test_a_hint_in_brackets_is_given_back_as_it_was_written() -> None:
    assert read("---\nargument-hint: [message]\n---\n").text("argument-hint") == "[message]"


def test_patterns_are_divided_outside_of_braces() -> None:
    assert read("---\nglobs: src/**/*.{ts,tsx}, *.md\n---\n").patterns("globs") == ("src/**/*.{ts,tsx}", "*.md")
    assert read("---\npaths:\n  - a\n  - 'b'\n---\n").patterns("paths") == ("a", "b")


@pytest.mark.parametrize(
    "header",
    [
        "key: " + "[" * 5_000,
        "key: " + "[" * 30_000 + "]" * 30_000,
        "\n".join(" " * depth + f"k{depth}:" for depth in range(300)),
        "key: [\n" + "a,\n" * 15_000,
        "key: '" + "x\n" * 15_000,
        "key: " + "a " * 100_000,
    ],
    ids=["open", "deep", "indented", "long list", "long text", "too long"],
)
@pytest.mark.timeout(300)
def test_hostile_headers_end_in_little_work(header: str) -> None:
    assert read(f"---\n{header}\n---\nbody").body == "body"


@pytest.mark.parametrize(
    ("header", "mark", "value"),
    [
        ('name: a\nx: "never closed\nlast: b', '"', '"never closed'),
        ("name: a\nx: 'tis\nlast: b", "'", "'tis"),
        ("name: a\nx: [Bash(git:*), Read\nlast: b", "[", "[Bash(git:*), Read"),
        ("name: a\nx: {b: c\nlast: b", "{", "{b: c"),
    ],
)
def test_what_is_never_closed_is_told_with_its_line_and_taken_as_text(header: str, mark: str, value: str) -> None:
    found = read(f"---\n{header}\n---\nbody")
    assert found.fields == {"name": "a", "x": value, "last": "b"}
    words = f"`{mark}` is never closed; the value is taken as plain text"
    assert [(each.line, each.text) for each in found.complaints] == [(3, words)]


def test_brackets_that_are_words_are_not_complained_of() -> None:
    found = read("---\nargument-hint: [file] [message]\nx: [a,\n  b]\ny: 'it''s'\n---\nbody")
    assert found.complaints == ()
