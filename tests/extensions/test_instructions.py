"""Instruction files of other tools: rules, imports, quick notes (X)."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.extensions.instructions.imports import imports, without_comments
from assent.extensions.instructions.instruction_rules import expanded, matches
from assent.extensions.instructions.quick_add import note_file, note_of, with_note
from assent.extensions.memory import MemoryFile, MemoryFiles, refusals
from definition_files import Ground, ground


@pytest.fixture
def place(tmp_path: Path) -> Ground:
    return ground(tmp_path)


def files(place: Ground) -> MemoryFiles:
    return MemoryFiles(
        user_dirs=[place.home / "config"], home=place.home, claude_home=place.home / ".claude", auto=None
    )


def shown(place: Ground, found: list[MemoryFile]) -> list[tuple[str, str, str]]:
    return [(str(Path(file.path).relative_to(place.home)), file.scope, file.reason) for file in found]


async def test_every_tools_files_are_loaded_the_users_first(place: Ground) -> None:
    place.write("~/config/ASSENT.md", "mine")
    place.write("~/.claude/CLAUDE.md", "mine too")
    place.write("~/.claude/rules/style.md", "always")
    place.write("ASSENT.md", "a")
    place.write("AGENTS.md", "b")
    place.write("CLAUDE.md", "c")
    place.write(".claude/CLAUDE.md", "d")
    place.write("CLAUDE.local.md", "e")
    place.write(".claude/rules/deep/one.md", "f")
    place.write(".github/copilot-instructions.md", "g")
    place.write(".github/instructions/all.instructions.md", "---\napplyTo: '**'\n---\nh")
    place.write(".cursor/rules/always.mdc", "---\nalwaysApply: true\n---\ni")
    place.write(".cursorrules", "j")
    found = await files(place).load(str(place.project))
    assert shown(place, found) == [
        ("config/ASSENT.md", "user", "session_start"),
        (".claude/CLAUDE.md", "user", "session_start"),
        ("work/app/ASSENT.md", "project", "session_start"),
        ("work/app/AGENTS.md", "project", "session_start"),
        ("work/app/CLAUDE.md", "project", "session_start"),
        ("work/app/.claude/CLAUDE.md", "project", "session_start"),
        ("work/app/CLAUDE.local.md", "local", "session_start"),
        (".claude/rules/style.md", "user", "session_start"),
        ("work/app/.claude/rules/deep/one.md", "project", "session_start"),
        ("work/app/.github/instructions/all.instructions.md", "project", "session_start"),
        ("work/app/.cursor/rules/always.mdc", "project", "session_start"),
        ("work/app/.github/copilot-instructions.md", "project", "session_start"),
        ("work/app/.cursorrules", "project", "session_start"),
    ]
    assert found[-4].text == "h"


async def test_a_rule_with_patterns_counts_when_a_file_it_covers_is_touched(place: Ground) -> None:
    place.write(".claude/rules/ts.md", "---\npaths:\n  - src/**/*.{ts,tsx}\n---\nts")
    place.write(".github/instructions/py.instructions.md", "---\napplyTo: '**/*.py'\n---\npy")
    place.write(".cursor/rules/css.mdc", "---\ndescription: styles\nglobs: *.css,*.scss\nalwaysApply: false\n---\ncss")
    place.write("web/CLAUDE.md", "web")
    source = files(place)
    assert await source.load(str(place.project)) == []

    async def touched(path: str) -> list[tuple[str, str]]:
        return [(file.text, file.reason) for file in await source.nested(str(place.project / path), str(place.project))]

    assert await touched("src/deep/a.tsx") == [("ts", "path_glob_match")]
    assert await touched("a.py") == [("py", "path_glob_match")]
    assert await touched("web/x/a.css") == [("web", "nested_traversal"), ("css", "path_glob_match")]
    assert await touched("a.ts") == []


async def test_a_rule_that_only_describes_itself_is_offered_by_name(place: Ground) -> None:
    place.write(".cursor/rules/db.mdc", "---\ndescription: how we write migrations\n---\nsecret sauce")
    place.write(".cursor/rules/manual.mdc", "only when asked for")
    (offered,) = await files(place).load(str(place.project))
    assert offered.kind == "rules"
    assert "db.mdc: how we write migrations" in offered.text
    assert "sauce" not in offered.text


async def test_cyclic_and_missing_imports_are_told_with_their_line_and_the_rest_is_read(place: Ground) -> None:
    first = place.write("CLAUDE.md", "top\n\n@a.md\n@nowhere.md\nask @somebody about @types/node\n")
    second = place.write("a.md", "see @b.md for more\n")
    third = place.write("b.md", "@CLAUDE.md\n")
    found = await files(place).load(str(place.project))
    assert [file.path for file in found if not file.refused] == [str(first), str(second), str(third)]
    assert [file.parent for file in found if not file.refused] == ["", str(first), str(second)]
    assert refusals(found) == (
        f"{third}:1 imports CLAUDE.md, which leads back to it; the import is left out",
        f"{first}:4 imports nowhere.md, which is not there",
    )


async def test_imports_end_after_four_hops(place: Ground) -> None:
    place.write("CLAUDE.md", "@1.md")
    for number in range(1, 7):
        place.write(f"{number}.md", f"@{number + 1}.md")
    found = await files(place).load(str(place.project))
    assert [Path(file.path).name for file in found if not file.refused] == [
        "CLAUDE.md",
        "1.md",
        "2.md",
        "3.md",
        "4.md",
    ]


def test_imports_count_outside_of_code_only() -> None:
    text = "@a.md and `@b.md`\n```\n@c.md\n```\nmail me@example.org, see @~/d.md.\n~~~\n@e.md"
    assert [(each.path, each.line) for each in imports(text)] == [("a.md", 1), ("~/d.md", 5)]


def test_comments_on_lines_of_their_own_are_left_out_but_not_those_in_code() -> None:
    text = "a\n<!-- for\npeople -->\nb <!-- stays -->\n```\n<!-- code -->\n```\n"
    assert without_comments(text) == "a\nb <!-- stays -->\n```\n<!-- code -->\n```\n"


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "/w/a/b.py", True),
        ("src/**", "/w/src/a/b", True),
        ("./src/*.ts", "/w/src/a.ts", True),
        ("src/*.ts", "/w/src/x/a.ts", False),
        ("**/*.{js,ts{,x}}", "/w/q/a.tsx", True),
        ("../*", "/a", False),
        ("", "/w/a", False),
    ],
)
def test_patterns_start_at_the_folder_of_the_rules(pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path, "/w") is expected


def test_braces_are_expanded_up_to_a_limit() -> None:
    assert expanded("a.{b,c{d,e}}") == ["a.b", "a.cd", "a.ce"]
    assert len(expanded("{a,b}" * 30)) <= 64


@pytest.mark.parametrize(
    ("prompt", "note"),
    [
        ("# use tabs", "use tabs"),
        ("#use tabs", "use tabs"),
        ("## Heading", None),
        ("# Title\nand a text", None),
        ("fix #12", None),
        ("#", None),
    ],
)
def test_a_prompt_of_one_line_that_begins_with_a_number_sign_is_a_note(prompt: str, note: str | None) -> None:
    assert note_of(prompt) == note


def test_a_note_goes_into_the_file_that_is_there(place: Ground) -> None:
    cwd, config = str(place.project), str(place.home / "config")
    assert note_file("project", cwd=cwd, config=config) == f"{cwd}/ASSENT.md"
    place.write("CLAUDE.md", "x")
    assert note_file("project", cwd=cwd, config=config) == f"{cwd}/CLAUDE.md"
    assert note_file("user", cwd=cwd, config=config) == f"{config}/ASSENT.md"
    assert note_file("local", cwd=cwd, config=config) == f"{cwd}/CLAUDE.local.md"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "- use tabs\n"),
        ("# Notes\n", "# Notes\n\n- use tabs\n"),
        ("- one", "- one\n- use tabs\n"),
        ("- use tabs\n", "- use tabs\n"),
    ],
)
def test_a_note_becomes_an_item_at_the_end_once(before: str, after: str) -> None:
    assert with_note(before, "use tabs") == after


async def test_a_broken_header_of_a_rule_is_told_with_its_line_and_the_rule_counts(place: Ground) -> None:
    rule = place.write(".claude/rules/style.md", "---\npaths: src/**\nno key here\n---\nUse tabs.\n")
    never = place.write(".cursor/rules/open.mdc", "---\nalwaysApply: true\nUse spaces.\n")
    found = await files(place).load(str(place.project))
    told = refusals(found)
    assert [words.split(" ")[0] for words in told] == [f"{rule}:3:", f"{never}:1:"], told
    touched = await files(place).nested(str(place.project / "src" / "a.py"), str(place.project))
    assert [file.text.strip() for file in touched] == ["Use tabs."]


async def test_the_file_of_whoever_manages_the_machine_comes_first(place: Ground) -> None:
    managed = place.write("~/etc/CLAUDE.md", "\ufeffSay please.")
    place.write("CLAUDE.md", "b")
    source = MemoryFiles(home=place.home, managed=managed)
    found = await source.load(str(place.project))
    assert [(file.scope, file.text) for file in found] == [("managed", "Say please."), ("project", "b")]
