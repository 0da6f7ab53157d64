"""sed scripts: which are plain, and that older versions of sed would not take them for something else."""

import pytest

from assent.permissions.shell.tables.sed import plain_sed


@pytest.mark.parametrize(
    "script",
    [
        "", "p", " p ; d ", "1p", "1~2p", "$p", "$!p", "1,5p", "1,$p", "1 , 5 !p", "/a/p", "/a/Ip", "/a/,/b/p", "/a/,+3p", "/a/,~4p", "1,/b/I d", "5q", "q", "q5", "Q", "=", "n;d", "x;G;h;H;g;N;P;D",
        "/a/{p;q}", "/a/{p\n}", "{{p}}", "/a/!{p}", "s/a/b/", "s|a|b|g", "s,a,b,gp2I;p", "s/\\//x/", "s/a/\\n\\1&/", "s/[/]/x/", "s/[^/]*$//", "s/[]/]/x/", "s/[^]/]/x/", "s/[[:space:]]*$//", "s/[ \\t]*$//",
        "s/a/[/", "/[/]/d", "s#a#b#;s:a:b:", "1!s/a/b/p",
    ],
)  # fmt: skip
def test_printing_deleting_and_substituting_are_plain(script: str) -> None:
    assert plain_sed(script)


@pytest.mark.parametrize(
    "script",
    [
        "w x", "1w x", "r x", "e", "e ls", "1e", "s/a/b/w x", "s/a/b/e", "s/a/b/we", "s/a/b/gw x", "z", "a x", "i\\", "c x", "y/a/b/", "l", "b", ":a", "t", "F", "R x", "W x", "v", "#n", "}", "{p", "p}", "1,", "1,p", "/a", "/a/,/b", "1", "1!", "/a\nb/p",
        "s", "s/", "s/a", "s/a/", "s/a/b", "sxaxbx", "s a b ", "s\\a\\b\\", "s/a\n/b/", "s/a/b\n/", "s/a/b\\\n/", "s/[/b/", "s/[a\n]/b/", "s/[[a]]/b/", "s/[[:a/b/", "s/[\\]]/b/", "s/[\\/]/b/", "s/[a\\",
        "s/[/]/w PWNED/", "p x", "p/", "\\,a,p", "1,,5p", "M", "s/a/b/M", "p w", "5q w", "/a/M p", "1,5", "{}w", "s/[",
    ],
)  # fmt: skip
def test_everything_else_is_not(script: str) -> None:
    # "s/[/]/w PWNED/" substitutes today, and is `s/[/]/` with the flag `w` to an older sed
    assert not plain_sed(script)
