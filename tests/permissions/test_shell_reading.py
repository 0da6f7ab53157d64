"""How a line is read: words, directories, doubts; and that two readers must agree."""

import os

import pytest

from assent.permissions.shell.judge import judge
from assent.permissions.shell.syntax import lexer as shell_lexer
from assent.permissions.shell.syntax.grammar import _agree, read, warm_up
from assent.permissions.shell.syntax.lexer import LexError, lex
from assent.permissions.shell.syntax.statements import StatementReader
from permissions.scratch import Scratch


def argvs(text: str) -> list[tuple[str, ...]]:
    return [command.argv for command in read(text, cwd="/w", home="/h").commands]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo 'a b' \"c d\" e\\ f", [("echo", "a b", "c d", "e f")]),
        ('echo "x \\" \\$ \\\\ y"', [("echo", 'x " $ \\ y')]),
        ('echo "a $HOME b" $HOME ${HOME}/x ~ ~/y', [("echo", "a /h b", "/h", "/h/x", "/h", "/h/y")]),
        ("echo a'b'\"c\"", [("echo", "abc")]),
        ("echo \"a$\" 'b$'", [("echo", "a$", "b$")]),
        ('echo $? "$?"', [("echo", "0", "0")]),
        ('echo "$HOME $HOME"', [("echo", "/h /h")]),
        ('echo "a\n$HOME\n$HOME\n"', [("echo", "a\n/h\n/h\n")]),
        ("a; b && c | d", [("a",), ("b",), ("c",), ("d",)]),
        ("[ -f x ] && [ ! -d y ]", [("[", "-f", "x", "]"), ("[", "!", "-d", "y", "]")]),
        ("{ a; }; ( b )", [("a",), ("b",)]),
        ("a <<'E'\nx\nE\nb", [("a",), ("b",)]),
        ("a <<'E' | b\nx\nE", [("a",), ("b",)]),
        ("# words\na # more", [("a",)]),
        ("a && # why\nb", [("a",), ("b",)]),
        ("echo $'a\\tb\\101\\x41\\u00e9\\q'", [("echo", "a\tbAAéq")]),
    ],
)
def test_words_are_what_the_command_gets(text: str, expected: list[tuple[str, ...]]) -> None:
    assert argvs(text) == expected


@pytest.mark.parametrize(
    ("text", "directories"),
    [
        ("cd sub && x", {"sub"}),
        ("cd sub; x", {"", "sub"}),
        ("cd sub\nx", {"", "sub"}),
        ("cd sub || x", {"", "sub"}),
        ("cd sub || true && x", {"", "sub"}),
        ("(cd sub) && x", {""}),
        ("cd sub | true; x", {""}),
        ("cd sub && cd deep && x", {"sub/deep"}),
        ("cd sub/deep && cd .. && x", {"sub"}),
        ("! cd sub; x", {"", "sub"}),
        ("cd -- sub && x", {"sub"}),
        ("cd sub >/dev/null && x", {"sub"}),
        ("{ cd sub; } && x", {"sub"}),
        ("cd $y && x", None),
        ("cd && x", {"../home"}),
        ("cd - && x", None),
        ("cd s* && x", None),
        ("pushd sub && x", None),
        ("cd link && x", None),
        ("cd a\0 && x", None),
        ("eval cd sub && x", None),
        ("cd $y; cd sub && x", None),
        ("; ".join(f"cd d{n}" for n in range(12)) + "; x", None),
    ],
)
def test_every_directory_a_command_may_run_in_is_followed(ws: Scratch, text: str, directories: set[str] | None) -> None:
    (ws.root / "link").symlink_to("sub/deep")
    last = [
        command for command in read(text, cwd=str(ws.root), home=str(ws.home)).commands if command.argv[:1] == ("x",)
    ][-1]
    expected = None if directories is None else {os.path.normpath(ws.root / name) for name in directories}
    assert last.directories == expected


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_001, "\ud800", "a\0", "if", "a <<E\n$x\nE", "a <<", "a <<'E'\nx", "a <<E", "a <<E\\\n", "a <<-'E'\n\tx\n\tE\nb; c <<'F'", "a $(b <<E\nx\nE\n)",
        "(" * 200 + "a" + ")" * 200, "echo " + "$(" * 100 + "a" + ")" * 100, "> x", "a > b c > d <<< e", "a <<'E' b\nx\nE", "a <<'E' <<'F'\nx\nE\ny\nF", "a <&x", "a > $x",
        "[ a", "[[ a ]]", "a ((b", "a (b)", "a | (b", "f() { a; } > x", "a; ;b", "a;;", "for", "then a", "{ a", "echo a\x07", "x=1 y=2", "x=(a b)", "case x in x) a;; esac",
        "a <(b) >(c)", "a \"`b`\"", "echo \"${x:-`b`}\"", "a ${x[1]}", "a $((1))", "! ! a", "a & & b", "a\\", "\\", "a 'b", "$", "$x", "a=$(b) c", "echo ~x/y ~+",
        "echo $'\\U00110000'", "echo \"$'x'\"", "a $\"b\"", "a | b |", "<<E", "<<<x", "a <<<", "a <<<$(b)", "a >", "(a) b", "a)", "a `b", "test_ (", "[ $(a) ]", "[ -f $(a) ] > x", "coproc a", "a {b,c} d",
    ],
)  # fmt: skip
def test_whatever_comes_is_read_without_a_stumble_and_never_allowed(shared_ws: Scratch, text: str) -> None:
    judge(text, cwd=str(shared_ws.root), home=str(shared_ws.home))
    for allow in ([], ["Bash"]):
        assert shared_ws.bash(text, allow=allow).decision == "ask" or text == "! ! a"


@pytest.mark.parametrize(
    "text",
    [
        "a $(b)",
        "a `b`",
        "while a",
        "a <<E\n$x\nE",
        "a <<E",
        "a <<'E'\nx",
        "a <<\nb",
        "'a",
        '"a',
        "a $x[",
        "for x y",
        '"$(a)"',
        "\\",
        "a <<E\n\\x\nE",
    ],
)
def test_the_lexer_knows_only_its_small_language(text: str) -> None:
    if text == "a $x[":
        lex(text.encode())
        return
    with pytest.raises(LexError):
        lex(text.encode())


@pytest.mark.parametrize(
    "other",
    ["ls b", "ls; a", "ls -l a", "ls > a", "ls\na"],
)
def test_two_readings_that_disagree_are_a_doubt(other: str) -> None:
    text = "ls a"
    warm_up()
    reader = StatementReader(home="/h", cwd="/w")
    from assent.permissions.shell.syntax.grammar import _parser

    reader.statement(_parser().parse(text.encode()).root_node, frozenset({"/w"}), 0)
    assert _agree(reader, lex(text.encode()))
    assert not _agree(reader, lex(other.encode()) if other != "ls b" else shell_lexer.Lexed())


def test_what_the_grammar_misreads_the_lexer_notices() -> None:
    """tree-sitter makes two words of this one."""
    text = "echo a'b'\"c\"\\d"
    assert argvs(text) == [("echo", "abc", "d")]
    assert read(text, cwd="/w", home="/h").doubts == ("two readings of the command disagree",)


def test_heredocs_must_agree_too() -> None:
    from assent.permissions.shell.syntax.grammar import _parser

    text = b"cat <<'E'\nx\nE\n"
    reader = StatementReader(home="/h", cwd="/w")
    reader.statement(_parser().parse(text).root_node, frozenset({"/w"}), 0)
    lexed = lex(text)
    assert _agree(reader, lexed)
    lexed.heredocs = []
    assert not _agree(reader, lexed)


def test_commands_merged_by_one_reader_are_a_doubt() -> None:
    from assent.permissions.shell.syntax.grammar import _parser

    text = b"a; b"
    reader = StatementReader(home="/h", cwd="/w")
    reader.statement(_parser().parse(text).root_node, frozenset({"/w"}), 0)
    lexed = lex(text)
    lexed.segments = [[span for segment in lexed.segments for span in segment]]
    assert not _agree(reader, lexed)
