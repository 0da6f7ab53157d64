"""Arguments and commands inside the text of a command (X)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assent.extensions.substitution import Arguments, filled, shell_parts

VARIABLES = {"CLAUDE_SKILL_DIR": "/skills/x"}


def expanded(text: str, arguments: str, *, names: Sequence[str] = (), first: int = 0) -> str:
    return filled(text, Arguments(text=arguments, variables=VARIABLES, names=names, first=first), [], [])


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        ("fix $ARGUMENTS now", "a b", "fix a b now"),
        ("fix $0 then $1", "'a b' c", "fix a b then c"),
        ("fix $ARGUMENTS[1]", "a b", "fix b"),
        ("it costs $5 or $ARGUMENTS[7]", "a", "it costs $5 or $ARGUMENTS[7]\n\nARGUMENTS: a"),
        ("fix $0, not $1", "a", "fix a, not $1"),
        ("$file, then $0", "", ", then $0"),
        ("costs \\$1 and $0", "x", "costs $1 and x"),
        ("\\$ARGUMENTS, \\$file and \\$HOME", "a", "$ARGUMENTS, $file and \\$HOME\n\nARGUMENTS: a"),
        ("\\\\$0 and \\${CLAUDE_SKILL_DIR}", "a", "\\\\a and \\/skills/x"),
        ("run ${CLAUDE_SKILL_DIR}/go ${UNKNOWN}", "", "run /skills/x/go ${UNKNOWN}"),
        ("$file in $other", "a.py", "a.py in $other"),
        ("no place", "a b", "no place\n\nARGUMENTS: a b"),
        ("no place", "", "no place"),
        ("it's $0", "don't stop", "it's don't"),
        ("say $0", "'$1' x", "say $1"),
    ],
)
def test_arguments_go_where_the_text_wants_them(text: str, arguments: str, expected: str) -> None:
    assert expanded(text, arguments, names=("file",)) == expected


def test_opencode_counts_arguments_from_one() -> None:
    assert expanded("fix $1", "a b", first=1) == "fix a"
    assert expanded("fix $1 and $2", "a", first=1) == "fix a and"


def test_commands_are_found_at_the_start_of_a_line_after_a_space_and_in_blocks() -> None:
    text = "Now:\n!`git status`\nand !`date` but not x!`no`\n```!\nls\npwd\n```\n`!`no`\n"
    assert [(part.command, part.line) for part in shell_parts(text)] == [
        ("git status", 2),
        ("date", 3),
        ("ls\npwd", 4),
    ]


def test_what_a_command_prints_is_not_looked_at_again() -> None:
    text = "a !`cmd` $0"
    arguments = Arguments(text="'!`evil`'", variables={})
    assert filled(text, arguments, shell_parts(text), ["$0 !`more`\n"]) == "a $0 !`more` !`evil`"
