"""What a person is shown and offered."""

import pytest

from assent.permissions.suggestions import path_suggestions
from assent.text.visible import MAX_SHOWN, has_hidden, shown, too_big, visible
from assent.types.permissions import Ask
from permissions.scratch import Scratch


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u00a0b", "a⟨U+00A0⟩b"),
        ("a\x1b[31mb", "a⟨U+001B⟩[31mb"),
        ("a\rb", "a⟨U+000D⟩b"),
        ("a\nb\tc", "a\nb\tc"),
        ("é ü 日本", "é ü 日本"),
        ("\u3164\ufe0f\U000e0041", "⟨U+3164⟩⟨U+FE0F⟩⟨U+E0041⟩"),
    ],
)
def test_hidden_characters_are_spelled_out(text: str, expected: str) -> None:
    assert visible(text) == expected
    assert has_hidden(text) is ("⟨" in expected)


def test_long_text_is_cut_and_says_so() -> None:
    assert shown("a" * 10, 4) == "aaaa… (6 more characters)"
    assert too_big("a" * (MAX_SHOWN + 1))
    assert too_big("a\n" * 101)
    assert not too_big("a")


def offered(ws: Scratch, command: str) -> list[str]:
    decision = ws.bash(command)
    assert isinstance(decision, Ask)
    return [s.rule for s in decision.suggestions if s.scope == "session" and not s.rules]


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("npm test", ["Bash(npm test:*)"]),
        ("npm run build -- --fast", ["Bash(npm run build:*)"]),
        ("npm install left-pad", ["Bash(npm install left-pad)"]),
        ("cargo build --release", ["Bash(cargo build:*)"]),
        ("git commit -m 'a b'", ["Bash(git commit:*)"]),
        ("git push origin main", ["Bash(git push origin main)"]),
        ("make all", ["Bash(make all)"]),
        ("pytest -q tests", ["Bash(pytest:*)"]),
        ("ruff check .", ["Bash(ruff check:*)"]),
        ("python x.py", ["Bash(python x.py)"]),
        ("curl https://example.org", ["Bash(curl https://example.org)"]),
        ("rm a.py", ["Bash(rm a.py)"]),
        ("./build.sh x", ["Bash(./build.sh x)"]),
        ("find . -name x -exec ls ';'", ["Bash(find . -name x -exec ls ';')"]),
        ("echo 'it'\"'\"'s'; mk x", ["Bash(mk x:*)"]),
        ("mk 'a\"b'", ["Bash(mk:*)"]),
        ("git stash && npm test", ["Bash(git stash)", "Bash(npm test:*)"]),
        ("cat ../x", ["Bash(cat ../x)"]),
        ("python 'a\nb'", []),
        ("python 'a'\"'\"'b'", ["Bash(python 'a'\"'\"'b')"]),
        ("echo x > y", []),
        ("echo $(x)", []),
        ("mk\u00e9 x", ["Bash('mké' x:*)"]),
        ("a; b; c; d; e", []),
        ("rm -rf ~", []),
    ],
)
def test_suggested_rules_are_narrow_and_cover_the_call(ws: Scratch, command: str, rules: list[str]) -> None:
    assert offered(ws, command) == rules
    if rules:
        assert ws.bash(command, allow=rules).decision == "allow"


@pytest.mark.parametrize("command", ["git stash && npm test", "touch a.txt && mkdir b; make all", "mk x | sort -o y"])
def test_a_line_of_several_commands_is_covered_by_one_answer_that_names_each_of_them(ws: Scratch, command: str) -> None:
    decision = ws.bash(command)
    assert isinstance(decision, Ask)
    together = [s for s in decision.suggestions if s.rules]
    assert decision.suggestions[:2] == tuple(together)
    assert [s.scope for s in together] == ["session", "project"]
    for suggestion in together:
        assert list(suggestion.rules) == offered(ws, command)
        assert suggestion.rule == suggestion.rules[0]
        assert ws.bash(command, allow=suggestion.rules[:1]).decision == "ask"
        assert ws.bash(command, allow=suggestion.rules).decision == "allow"


def test_one_command_said_twice_needs_no_answer_for_several(ws: Scratch) -> None:
    decision = ws.bash("npm test && npm test -- --slow")
    assert isinstance(decision, Ask)
    assert [s.rules for s in decision.suggestions] == [(), ()]


def test_what_is_too_big_to_show_cannot_be_allowed_for_good(ws: Scratch) -> None:
    assert offered(ws, "npm test " + "a" * MAX_SHOWN) == []


def test_files_hosts_and_tools_get_suggestions_of_their_kind(ws: Scratch) -> None:
    def rules(tool: str, input: dict[str, str]) -> list[str]:
        decision = ws.decide(tool, input)
        assert isinstance(decision, Ask)
        return [s.rule for s in decision.suggestions]

    assert rules("Edit", {"file_path": "sub/a.py"}) == ["Edit(sub/**)"] * 2
    assert rules("Edit", {"file_path": "a.py"}) == ["Edit(./a.py)"] * 2
    assert rules("Read", {"file_path": "/etc/hosts"}) == ["Read(/etc/hosts)"]
    assert rules("Write", {"file_path": "../x"}) == []
    assert rules("WebFetch", {"url": "https://example.org/x"}) == ["WebFetch(domain:example.org)"] * 2
    assert rules("WebFetch", {"url": "https://[2606:4700::1111]/"}) == []
    assert rules("mcp__a__b", {}) == ["mcp__a__b"] * 2
    assert rules("Write", {"file_path": "a\u200b.py"}) == []
    assert path_suggestions("Read", (), ()) == ()


def test_what_is_hidden_in_a_command_is_spelled_out_in_the_reason_too(shared_ws: Scratch) -> None:
    hidden = "\u202e\u2028\x85\u200b"
    lines = [
        f"git pull {hidden}", f"rm -rf /etc/{hidden}", f"strange{hidden} x", f"git log --x{hidden}", f"tee .git/{hidden}",
        f"cat /outside/{hidden}", f"echo $({hidden})", f"find . -exec x{hidden} {{}} +", f"x{hidden} | y", f"sed {hidden} a.py",
    ]  # fmt: skip
    for line in lines:
        for options in ({}, {"mode": "bypassPermissions"}, {"deny": [f"Edit(*{hidden})", "Bash(y:*)"]}):
            decision = shared_ws.bash(line, **options)
            said = (
                [decision.reason, *(part.reason for part in decision.parts)]
                if isinstance(decision, Ask)
                else [decision.reason]
            )
            assert not any(has_hidden(text) for text in said), (line, said)
    for tool in ("Read", "Write"):
        assert not has_hidden(shared_ws.decide(tool, {"file_path": f"/outside/{hidden}"}).reason)
