"""Answers to forms of servers: what fits is handed on, what does not is named by its field (T9)."""

from typing import Any

import pytest

from assent.extensions.mcp.flat_forms import flat
from assent.extensions.mcp.form_answers import checked

TITLED = {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]}
SEVERAL = {
    "type": "array",
    "minItems": 1,
    "maxItems": 2,
    "items": {"anyOf": [{"const": "s"}, {"const": "m"}, {"const": "l"}]},
}


def problem(field: dict[str, Any], value: object, *, required: bool = True) -> str:
    form = {"type": "object", "properties": {"field": field}, "required": ["field"] if required else []}
    assert flat(form) == form, "only forms that are shown are answered"
    return checked(form, {"field": value})[1].get("field", "")


@pytest.mark.parametrize(
    ("field", "fits", "wrong"),
    [
        ({"type": "string", "format": "date"}, ["2026-02-28"], ["2026-02-30", "tomorrow", "20260228", "", 3]),
        (
            {"type": "string", "format": "date-time"},
            ["2026-02-28T09:30:00Z", "2026-02-28t09:30:00.1234+02:00"],
            ["2026-02-28", "2026-02-28T09:30:00", "2026-02-28T25:00:00Z", "2026-13-01T09:30:00Z"],
        ),
        ({"type": "string", "format": "email"}, ["a@b.org"], ["a", "@b.org", "a@", "a b@c.org", "a@b@c"]),
        (
            {"type": "string", "format": "uri"},
            ["https://example.org", "mailto:a@b"],
            ["example.org", "https:", "a b:c"],
        ),
        ({"type": "string", "format": "unknown"}, ["anything"], [1]),
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "äöü"], ["a", "abcd"]),
        ({"type": "integer", "minimum": 1, "maximum": 5}, [1, 5, 3.0], [0, 6, 1.5, "3", True, float("nan")]),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, [0.5], [0, 1, "0.5", False]),
        ({"type": "number"}, [0, -1.5], [float("inf"), float("-inf"), float("nan"), ""]),
        ({"type": "boolean"}, [True, False], ["yes", 1, 0]),
        ({"type": "string", "enum": ["a", "b"]}, ["a"], ["c", "", 1]),
        ({"enum": [1, 2]}, [1], [True, "1", 3]),
        (TITLED, ["r"], ["Red", ""]),
        (SEVERAL, [["s"], ["s", "m"]], [[], ["s", "m", "l"], ["x"], "s"]),
    ],
)
def test_a_value_fits_its_field_or_the_reason_says_what_is_expected(
    field: dict[str, Any], fits: list[object], wrong: list[object]
) -> None:
    assert [problem(field, value) for value in fits] == [""] * len(fits)
    for value in wrong:
        assert "expected" in problem(field, value) or "chosen" in problem(field, value), value


def test_required_fields_are_named_and_optional_ones_may_be_absent_null_or_empty() -> None:
    when, many = {"type": "string", "format": "date"}, {"type": "integer"}
    form = {
        "type": "object",
        "properties": {"when": when, "many": many, "note": {"type": "string"}},
        "required": ["many"],
    }
    assert checked(form, {}) == ({}, {"many": "it is required"})
    assert checked(form, {"many": None, "when": ""})[1] == {"many": "it is required"}
    assert checked(form, {"many": 2.0, "when": "", "note": ""}) == ({"many": 2, "note": ""}, {})
    assert checked(form, {"many": "", "when": "soon"})[1].keys() == {"many", "when"}


def test_limits_that_are_no_numbers_limit_nothing_and_forms_of_odd_types_are_not_shown() -> None:
    assert problem({"type": "string", "minLength": "many", "maxLength": None, "format": ["date"]}, "a") == ""
    assert problem({"type": "integer", "minimum": True, "maximum": {}}, -5) == ""
    assert flat({"type": "object", "properties": {"field": {"type": ["string", "null"]}}}) is None
    assert flat({"type": "object", "properties": {"field": {"type": "string"}}, "required": [5]}) is None
