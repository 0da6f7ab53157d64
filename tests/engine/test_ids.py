"""Every behaviour of the engine that has an id is named in a comment of a test."""

import io
import re
import tokenize
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent

SECTIONS = {"Q": 12, "L": 15, "M": 10, "C": 8, "T": 2}
IDS = [f"{section}{number}" for section, count in SECTIONS.items() for number in range(1, count + 1)]


@pytest.fixture(scope="module")
def named() -> dict[str, set[str]]:
    """Each id that stands in a comment of a test file, with the files."""
    found: dict[str, set[str]] = {}
    for path in TESTS.rglob("test_*.py"):
        if path == Path(__file__):
            continue
        source = path.read_text(encoding="utf-8")
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT and not token.string.startswith("# ---"):
                for each in re.findall(r"\b[QLMCT]\d+\b", token.string):
                    found.setdefault(each, set()).add(path.name)
    return found


@pytest.mark.parametrize("id", IDS)
def test_a_test_names_the_behaviour(named: dict[str, set[str]], id: str) -> None:
    assert named.get(id), f"no comment in a test names {id}"
