"""Files that anybody can put into a project are read in time that grows with their size alone (H16).

They are read before the folder is trusted, and a regular expression holds the whole server while it goes back and
forth. Each text here took minutes or longer, or stands for a reader beside one that did.
"""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assent.extensions import frontmatter
from assent.extensions.import_.findings import without_json_comments
from assent.extensions.instructions.imports import imports, without_comments
from assent.storage.settings.reading import read_file
from assent.text.json_lines import key_lines
from assent.tools.search import patterns
from assent.tools.search.ignore_rules import parse_rule
from assent.types.git_config import parse
from permissions.test_time import bounded

SIZE = 300_000

Reader = Callable[[str], object]


def salvaged(folder: Path) -> Reader:
    def read(text: str) -> object:
        (folder / "settings.json").write_text(text)
        return read_file(folder / "settings.json", "project", None)

    return read


def ignoring(name: str) -> Reader:
    def read(text: str) -> object:
        rule = parse_rule(text)
        return rule and rule.pattern.fullmatch(name)

    return read


TEXTS: dict[str, list[tuple[str, str]]] = {
    "settings": [('{"deny": ["', '\\"'), ('{"deny"', " "), ("", '"deny":['), ('{"ask": ["', "\\\n")],
    "lines": [('{"', '\\"'), ("", '{"a":'), ('["', "\\"), ('{"' + "a" * 100_000 + '": [', "1,")],
    "json": [('"', '\\"'), ("/*", " "), ("", "/* "), (",", " "), ("", ", "), ("", "//")],
    "imports": [("@a\n", "`"), ("@a\n", "```x\n"), ("@a\n", "~~~\n```\n"), ("@a ", "``a`"), ("", "@a "), ("@a\n", "```\n~~~~\n")],
    "comments": [("<!--", " "), ("", "<!--\n"), ("", "<!-- -->x\n"), ("<!-- a\n", "```\n"), ("<!--", "-->")],
    "header": [("---\na", " "), ("---\n", "a: [\n"), ("---\na: ", "["), ("---\n", "- a\n"), ("---\n", "\n")],
    "ignored": [("", "*a"), ("", "**/a/"), ("", "*a*"), ("a", " "), ("", "a*?"), ("", "[a]*")],
    "git": [("", "[a]\n"), ('[a]\nb = "', '\\"'), ("[a]\nb = c", "\\\n"), ("[a", " ")],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in TEXTS.items() for text in texts])
def test_no_file_of_a_project_decides_how_long_reading_it_takes(
    tmp_path: Path, kind: str, text: tuple[str, str]
) -> None:
    readers: dict[str, Reader] = {
        "settings": salvaged(tmp_path),
        "lines": lambda text: key_lines(text.encode()),
        "json": without_json_comments,
        "imports": lambda text: list(imports(text)),
        "comments": without_comments,
        "header": lambda text: frontmatter.read(f"{text[:60_000]}\n---\n"),
        "ignored": lambda text: [ignoring("a" * 250)(text[:size]) for size in (40, 400, 4000, SIZE)],
        "git": lambda text: _quietly(parse, text),
    }
    first, unit = text
    with bounded():
        readers[kind](first + unit * (SIZE // len(unit)))


def _quietly(read: Callable[[str], Any], text: str) -> None:
    try:
        list(read(text))
    except Exception as error:
        assert "git" in type(error).__module__


def test_a_pattern_means_what_it_meant_before_it_was_made_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    pieces = ["a", "b", "*", "*", "?", "/", "**/", "/**", "**", "[ab]", "c"]
    made = ["".join(rng.choice(pieces) for _ in range(rng.randrange(1, 9))) for _ in range(1500)]
    quick = [patterns.translate(pattern) for pattern in made]
    monkeypatch.setattr(patterns, "_never_back", lambda tokens: tokens)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    for pattern, body in zip(made, quick, strict=True):
        plain = patterns.translate(pattern)
        for _ in range(5):
            names = ("".join(rng.choices("abc", k=rng.randrange(1, 4))) for _ in range(rng.randrange(1, 5)))
            path = "/".join(names)
            assert bool(re.fullmatch(body, path)) == bool(re.fullmatch(plain, path)), (pattern, path)


def test_code_and_comments_are_found_as_before() -> None:
    text = "@one\n```py\n@two <!-- x -->\n```\n`@three` ``@four ` x`` @five\n<!-- gone\n@six -->\nkept\n~~~\n@seven\n"
    assert [found.path for found in imports(text)] == ["one", "five", "six"]
    assert without_comments(text) == text.replace("<!-- gone\n@six -->\n", "")
    assert without_comments("a\n  <!-- x --> y -->\nb <!-- stays -->\n<!-- open") == "a\nb <!-- stays -->\n<!-- open"


def test_a_blank_that_a_backslash_quotes_belongs_to_the_rule() -> None:
    quoted, plain = parse_rule("a\\  "), parse_rule("a \t ")
    assert quoted is not None and quoted.pattern.fullmatch("a ")
    assert plain is not None and plain.pattern.fullmatch("a") and not plain.pattern.fullmatch("a ")
