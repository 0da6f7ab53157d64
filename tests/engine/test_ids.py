"""Every behaviour of the engine that has an id is named by a test: in a comment, or in its module's docstring."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent

SECTIONS = {
    "Q": range(1, 13),
    "L": range(1, 16),
    "M": range(1, 11),
    "C": range(1, 9),
    "T": range(1, 11),
    "P": range(11, 15),  # the ten steps before them are rows of permissions/test_chain.py
    "S": range(1, 8),
}
TO_COME = {"T9"}  # MCP: settings say that its servers have no effect yet
IDS = [f"{section}{number}" for section, numbers in SECTIONS.items() for number in numbers]


@pytest.fixture(scope="module")
def named() -> dict[str, set[str]]:
    """Each id that a test file names, with the files."""
    found: dict[str, set[str]] = {}
    for path in TESTS.rglob("test_*.py"):
        if path == Path(__file__):
            continue
        source = path.read_text(encoding="utf-8")
        words = [ast.get_docstring(ast.parse(source)) or ""]
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT and not token.string.startswith("# ---"):
                words.append(token.string)
        for each in re.findall(r"\b[QLMCTPS]\d+\b", "\n".join(words)):
            found.setdefault(each, set()).add(path.name)
    return found


@pytest.mark.parametrize("id", IDS)
def test_a_test_names_the_behaviour(named: dict[str, set[str]], id: str) -> None:
    assert bool(named.get(id)) is (id not in TO_COME), f"no test names {id}, or one that was to come is here"
