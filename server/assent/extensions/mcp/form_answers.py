"""Whether an answer fits the form of a server, and what is wrong with it, field by field.

`flat_forms` decides which forms are shown at all. A limit that is no number limits nothing, and `pattern` is the
server's own affair: a hostile one could keep us busy for hours.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import cast

from assent.types.blocks import Json

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})")


def checked(schema: Json, content: Mapping[str, object]) -> tuple[Json, dict[str, str]]:
    """The answer as the server gets it, and what is wrong with it by field. An optional field may be left empty."""
    fields = cast("dict[str, Json]", schema.get("properties", {}))
    required = cast("list[str]", schema.get("required", []))
    given = {name: value for name, value in content.items() if value is not None}
    problems: dict[str, str] = {}
    for name, field in fields.items():
        if name not in given:
            if name in required:
                problems[name] = "it is required"
            continue
        value, problem = field_value(field, given[name])
        if not problem:
            given[name] = value
        elif given[name] == "" and name not in required:
            del given[name]
        else:
            problems[name] = problem
    return given, problems


def in_words(problems: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {problem}" for name, problem in problems.items())


def field_value(field: Json, value: object) -> tuple[object, str]:
    """A field's value, and what is wrong with it: empty when nothing is."""
    kind = field.get("type")
    if kind == "array":
        return value, _several(field, value)
    if options := choices(field):
        return value, "" if _among(value, options) else f"one of these is expected: {_listed(options)}"
    if kind == "boolean":
        return value, "" if isinstance(value, bool) else "yes or no is expected"
    if kind in ("integer", "number"):
        return _number(field, value, whole=kind == "integer")
    return value, _text(field, value)


def choices(field: Json) -> dict[str, object]:
    """What may be chosen, by what it is called; empty where anything may be given."""
    values: object = field.get("enum")
    if isinstance(values, list):
        named: object = field.get("enumNames")
        names = cast("list[object]", named) if isinstance(named, list) else []
        return {
            str(names[at] if at < len(names) else value): value for at, value in enumerate(cast("list[object]", values))
        }
    titled: object = field.get("oneOf") or field.get("anyOf")
    found: dict[str, object] = {}
    for option in cast("list[object]", titled) if isinstance(titled, list) else []:
        if isinstance(option, Mapping) and "const" in option:
            each = cast("Json", option)
            found[str(each.get("title") or each["const"])] = each["const"]
    return found


def _several(field: Json, value: object) -> str:
    options = choices(cast("Json", field.get("items") or {}))
    if not isinstance(value, list):
        return "a list is expected"
    chosen = cast("list[object]", value)
    if not all(_among(each, options) for each in chosen):
        return f"only these may be chosen: {_listed(options)}"
    least, most = _limit(field, "minItems"), _limit(field, "maxItems")
    if least is not None and len(chosen) < least:
        return f"at least {least:g} must be chosen"
    if most is not None and len(chosen) > most:
        return f"at most {most:g} may be chosen"
    return ""


def _number(field: Json, value: object, *, whole: bool) -> tuple[object, str]:
    expected = "a whole number is expected" if whole else "a number is expected"
    if isinstance(value, bool) or not isinstance(value, int | float) or (whole and value != value // 1):
        return value, expected
    if isinstance(value, float) and not math.isfinite(value):
        return value, expected  # JSON has no such number
    tests: Sequence[tuple[str, Callable[[float, float], bool], str]] = (
        ("minimum", lambda given, limit: given >= limit, "at least"),
        ("maximum", lambda given, limit: given <= limit, "at most"),
        ("exclusiveMinimum", lambda given, limit: given > limit, "more than"),
        ("exclusiveMaximum", lambda given, limit: given < limit, "less than"),
    )
    for name, fits, words in tests:
        limit = _limit(field, name)
        if limit is not None and not fits(value, limit):
            return value, f"{words} {limit:g} is expected"
    return int(value) if whole else value, ""


def _text(field: Json, value: object) -> str:
    if not isinstance(value, str):
        return "text is expected"
    least, most = _limit(field, "minLength"), _limit(field, "maxLength")
    if least is not None and len(value) < least:
        return f"at least {least:g} characters are expected"
    if most is not None and len(value) > most:
        return f"at most {most:g} characters are expected"
    fits, expected = _FORMATS.get(str(field.get("format")), (None, ""))
    return "" if fits is None or fits(value) else f"{expected} is expected"


def _is_date(text: str) -> bool:
    if _DATE.fullmatch(text) is None:
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_moment(text: str) -> bool:
    if not _is_date(text[:10]) or _TIME.fullmatch(text[10:]) is None:
        return False
    try:
        datetime.fromisoformat(re.sub(r"\.[0-9]+", "", text.upper()))
    except ValueError:
        return False
    return True


_FORMATS: dict[str, tuple[Callable[[str], bool], str]] = {
    "email": (lambda text: _EMAIL.fullmatch(text) is not None, "an e-mail address like name@example.org"),
    "uri": (lambda text: _URI.fullmatch(text) is not None, "an address like https://example.org/page"),
    "date": (_is_date, "a date like 2026-01-31"),
    "date-time": (_is_moment, "a date and time like 2026-01-31T09:30:00Z"),
}


def _limit(field: Json, name: str) -> float | None:
    value: object = field.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _among(value: object, options: Mapping[str, object]) -> bool:
    return any(type(value) is type(each) and value == each for each in options.values())


def _listed(options: Mapping[str, object]) -> str:
    return ", ".join(str(each) for each in options.values())
