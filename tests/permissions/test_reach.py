"""What a command touches below the names it gives, where there is too much to look at or nothing that can be seen."""

from pathlib import Path

import pytest

from assent.permissions import trees
from assent.permissions.shell.tables.awk import plain_awk
from assent.permissions.shell.tables.handoffs import told_to_run
from assent.permissions.shell.tables.scripts import unseen_output
from permissions.scratch import Scratch, make_scratch

BYPASS = {"mode": "bypassPermissions"}


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    ws = make_scratch(tmp_path_factory.mktemp("crowded"), key=False)
    (ws.root / "big").mkdir()
    for number in range(trees.MAX_ENTRIES + 1):
        (ws.root / "big" / str(number)).touch()
    return ws


@pytest.mark.parametrize("command", ["rm -rf big", "mv big x", "cp -r big sub", "rsync -a big/ sub/"])
def test_a_tree_too_big_to_look_at_is_asked_about_where_edits_are_denied(crowded: Scratch, command: str) -> None:
    assert crowded.bash(command, deny=["Edit(*.pem)"], **BYPASS).decision == "ask"


def test_a_tree_too_big_to_look_at_may_be_removed_but_not_carried_unasked(crowded: Scratch) -> None:
    assert crowded.bash("rm -rf big", **BYPASS).decision == "allow"
    assert crowded.bash("cp -r big sub", **BYPASS).step == "ironGate"
    assert crowded.bash("ls | xargs wc -l").decision == "ask"


def test_names_are_found_below_a_folder_and_below_nothing_else(ws: Scratch) -> None:
    assert sorted(trees.below(str(ws.root / "sub"))) == ["a.py", "deep", "deep/c.txt"]
    assert list(trees.below(str(ws.root / "a.py"))) == []
    (ws.root / "node_modules" / "x").mkdir(parents=True)
    assert list(trees.below(str(ws.root / "node_modules" / ".."), copies=False)).count("node_modules/x") == 0


def test_what_package_managers_put_there_may_be_removed_unasked(ws: Scratch) -> None:
    (ws.root / "web" / "node_modules" / "x").mkdir(parents=True)
    (ws.root / "web" / "node_modules" / "x" / ".npmrc").touch()
    assert ws.bash("rm -rf web", **BYPASS).decision == "allow"
    (ws.root / "web" / ".npmrc").touch()
    assert ws.bash("rm -rf web", **BYPASS).step == "ironGate"
    assert ws.bash("mv web sub/web", **BYPASS).step == "ironGate"


def test_a_place_that_cannot_be_resolved_is_asked_about_where_edits_are_denied(ws: Scratch) -> None:
    assert ws.bash("chmod -R a+w a.py/x", deny=["Edit(secrets/**)"], **BYPASS).decision == "ask"
    assert ws.bash("7z x x.7z -oa.py/x", deny=["Edit(secrets/**)"], **BYPASS).decision == "ask"


def test_a_guess_at_data_restricts_only_by_the_command_it_may_be(ws: Scratch) -> None:
    decision = ws.bash("foo 'curl x; rm -rf sub'", deny=["Edit(sub/deep/**)", "Bash(curl:*)"], **BYPASS)
    assert (decision.decision, decision.rule) == ("ask", "Bash(curl:*)")


def test_names_that_xargs_would_take_for_flags_are_asked_about(tmp_path: Path) -> None:
    ws = make_scratch(tmp_path, key=False)
    assert ws.bash("ls | xargs wc -l").decision == "allow"
    for name in ("--files0-from=a.py", "a --files0-from=a.py", "a'-x", "sub/-x"):
        (ws.root / name).touch()
        assert ws.bash("ls | xargs wc -l").decision == "ask", name
        assert ws.bash("find . -type f -exec wc -l {} +").decision == "allow", name
        assert ws.bash("find . -type f -print0 | xargs -0 wc -l").decision == "allow", name
        (ws.root / name).unlink()
    assert ws.bash("ls > /dev/null | xargs wc -l").decision == "ask"
    assert ws.bash("cd - ; ls | xargs wc -l").decision == "ask"


@pytest.mark.parametrize(
    ("program", "unseen"),
    [
        ('{ print > "x" }', False),
        ('{ print $1 / 2 > "x" }', False),
        ('{ print > "é" } # é', False),
        ("é { print }", False),
        ("{ print /[a-z/]/ ? 1 : 0 }", False),
        ("/a { print } / > x", False),
        ("/unclosed", False),
        ('{ print (a > b) > "x" }', False),
        ("{ print a[b > c] }", False),
        ('{ "date" | getline x }', False),
        ('{ print | "sort" }', False),
        ('{ print |& "sort" }', False),
        ('BEGIN { system("ls") }', False),
        ("{ if (a > b) c }", False),
        ("{ print > $1 }", True),
        ('{ print > "x" y }', True),
        ("{ print | c }", True),
        ('{ "a" b | getline }', True),
        ("BEGIN { system(c) }", True),
        ('BEGIN { system("a" b) }', True),
        ("BEGIN { system }", True),
        ("{ print | }", True),
    ],
)
def test_output_that_an_awk_program_makes_up_is_told_from_output_it_names(program: str, unseen: bool) -> None:
    assert bool(unseen_output("awk", ["-F,", program])) == unseen
    assert unseen_output("python", [program]) == ""


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("npm run test --script-shell=./ev.sh", ["./ev.sh"]),
        ("npm run test --script-shell ./ev.sh", ["./ev.sh"]),
        ("npm run test -- --script-shell=x", []),
        ("npm run test --if-present", []),
        ("make -fx.mk", ["x.mk"]),
        ("make -f x.mk", ["x.mk"]),
        ("make -f", [""]),
        ("make CC=./x", ["./x"]),
        ("make V=1 -j4 -k", []),
        ("tar -cIsh -f x", ["sh"]),
        ("anything --exec=x --check", ["x"]),
        ("eslint --format unix .", []),
        ("eslint --format ./x.js .", ["./x.js"]),
        ("cargo +nightly test", [""]),
    ],
)
def test_flags_by_which_a_program_runs_another_are_found(line: str, told: list[str]) -> None:
    assert [one.text for one in told_to_run(line.split())] == told


def test_awk_programs_with_odd_characters_are_read_to_their_end() -> None:
    assert unseen_output("awk", ['é { print /a > "x" }']) == ""
    assert "makes up" in unseen_output("awk", ["é { print /a > x }"])
    assert "too long" in unseen_output("awk", ["a>" * 3000])
    assert not plain_awk("é { print }") and not plain_awk("1;" * 3000) and plain_awk("{ print 4 / 2 }")
