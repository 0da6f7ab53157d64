"""`docs/behaviours.md` and the tests name the same behaviours: each id stands in a comment or a module docstring."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "behaviours.md"
ID = re.compile(r"\b[QLMCTPS]\d{1,2}\b")
IDS = re.findall(r"^\| ([QLMCTPS]\d{1,2}) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


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
        for each in ID.findall("\n".join(words)):
            found.setdefault(each, set()).add(path.name)
    return found


def test_the_page_lists_each_behaviour_once() -> None:
    assert len(IDS) == len(set(IDS)) and len(IDS) > 60


@pytest.mark.parametrize("id", IDS)
def test_a_test_names_the_behaviour(named: dict[str, set[str]], id: str) -> None:
    assert named.get(id), f"no test names {id}"


def test_tests_name_only_behaviours_that_the_page_lists(named: dict[str, set[str]]) -> None:
    ten_steps = {f"P{number}" for number in range(1, 11)}
    assert {each: sorted(files) for each, files in named.items() if each not in IDS and each not in ten_steps} == {}
