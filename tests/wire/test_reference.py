"""docs/protocol.md: every method has an example, and the structs read it back as it is."""

from pathlib import Path

import msgspec
import pytest

from assent.wire import METHODS
from assent.wire.events import EVENTS
from assent.wire.generate.examples import EXAMPLES
from assent.wire.methods import Method
from assent.wire.shapes import Wire

PAGE = (Path(__file__).parents[2] / "docs/protocol.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("row", METHODS, ids=lambda row: row.name)
def test_the_example_of_a_method_is_what_its_structs_hold(row: Method) -> None:
    params, result = EXAMPLES[row.name]
    assert _read_back(params, row.params) == params
    if row.result is not None:
        assert _read_back(result or {}, row.result) == (result or {})
    else:
        assert result is None


def test_there_is_no_example_without_a_method() -> None:
    assert set(EXAMPLES) == {row.name for row in METHODS}


def test_the_page_names_every_method_and_event_and_draws_the_four_sequences() -> None:
    for row in METHODS:
        assert f"\n### {row.name}\n" in PAGE
    for event in EVENTS:
        assert f"\n### {event.__struct_config__.tag}\n" in PAGE
    assert PAGE.count("```mermaid") == 4
    for title in ("A turn", "An ask", "A review", "An attach"):
        assert f"\n## {title}\n" in PAGE


def _read_back(example: object, struct: type[Wire]) -> object:
    return msgspec.json.decode(msgspec.json.encode(msgspec.convert(example, struct)))
