"""A decision takes time in proportion to the line, whatever the line holds (H16)."""

import gc
import signal
import sys
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from types import FrameType

import pytest

from assent.permissions.shell.judge import judge
from assent.permissions.shell.syntax.grammar import read
from assent.text import globs
from permissions.scratch import Scratch
from permissions.time_cases import ONCE_OVER_THE_LIMIT, ONCE_SLOW, RULES, SLOW_IN_THE_GRAMMAR, all_pairs, line, pairs

PATIENCE = 5  # seconds of processor time for one decision, so that a hang is a failure and not a hang
ROUNDS = 5
MOST_CALLS = 75_000  # of functions in one decision
SLACK = 0.02  # below this nothing can be said about proportions


@contextmanager
def bounded() -> Generator[None]:
    """By processor time, so that a busy machine makes no difference."""

    def too_long(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"not decided after {PATIENCE} s of processor time")

    before = signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def cost(ws: Scratch, command: str) -> float:
    """Without the collector, which looks at everything that the test run holds (50 ms) when it pleases."""
    taken: list[float] = []
    gc.disable()
    try:
        for _ in range(3):
            start = time.process_time()
            with bounded():
                ws.bash(command, mode="bypassPermissions", **RULES)
                ws.bash(command)
            taken.append(time.process_time() - start)
            if taken[-1] < SLACK:
                break
    finally:
        gc.enable()
    return min(taken)


def disproportionate(ws: Scratch, frame: str, unit: str) -> tuple[str, str, float, float] | None:
    """Processor time is not free of a neighbour's noise: what looks slow is measured in turn until it does not.

    A line that takes four times as long for twice its length looks slow every time.
    """
    whole, half = cost(ws, line(frame, unit, 9900)), 0.0
    for _ in range(ROUNDS):
        if whole <= SLACK:
            return None
        again = cost(ws, line(frame, unit, 4950))
        half = min(half, again) if half else again
        if whole <= 3 * half + SLACK:
            return None
        whole = min(whole, cost(ws, line(frame, unit, 9900)))
    return (frame, unit, half, whole)


def out_of_proportion(ws: Scratch, cases: Iterable[tuple[str, str]]) -> list[tuple[str, str, float, float]]:
    return [found for frame, unit in cases if (found := disproportionate(ws, frame, unit))]


def test_what_once_took_seconds_takes_time_in_proportion_to_its_length(plain_ws: Scratch) -> None:
    # H16
    assert out_of_proportion(plain_ws, ONCE_SLOW) == []


def test_no_reader_takes_more_than_in_proportion(plain_ws: Scratch) -> None:
    assert out_of_proportion(plain_ws, pairs(12, 150)) == []


@pytest.mark.torture
def test_no_reader_takes_more_than_in_proportion_for_any_pair(plain_ws: Scratch) -> None:
    assert out_of_proportion(plain_ws, all_pairs()) == []


def test_a_line_with_too_much_structure_is_asked_about_in_every_mode(plain_ws: Scratch) -> None:
    for text in ("a|" * 600, "a;" * 600, "[ " * 600, "$(" * 300, "echo $((1))" + "(" * 600):
        assert read(text, cwd="/w", home="/h").unread
        assert plain_ws.bash(text, mode="bypassPermissions").decision == "ask"
    assert read("true\n" * 1500, cwd="/w", home="/h").unread


@pytest.mark.parametrize("begun", ["[[ ", "x[[ ", "[[$x ", "! [[\t", "function x "])
def test_a_test_or_name_that_many_words_follow_is_asked_about_unread(plain_ws: Scratch, begun: str) -> None:
    """The grammar took 100 ms and more to find that 2,400 words are no test."""
    text = begun + "env " * 2400
    assert read(text, cwd="/w", home="/h").unread
    assert plain_ws.bash(text, mode="bypassPermissions").decision == "ask"
    assert not read(begun + "env " * 90, cwd="/w", home="/h").unread


@pytest.mark.parametrize(("frame", "unit"), SLOW_IN_THE_GRAMMAR)
def test_what_the_grammar_takes_long_for_is_asked_about_unread(plain_ws: Scratch, frame: str, unit: str) -> None:
    """The grammar took between 70 ms and 2 s for these: it looks for an end that does not come."""
    text = line(frame, unit, 9900)
    assert read(text, cwd="/w", home="/h").unread
    assert plain_ws.bash(text, mode="bypassPermissions").decision == "ask"
    assert not read(line(frame, unit, 200), cwd="/w", home="/h").unread


def test_a_long_heredoc_beside_expansions_is_still_read() -> None:
    script = "cat > notes.md <<E\n" + "some plain words for a file, and $HOME\n" * 200 + "E\n"
    script += "for i in 1 2; do echo $((i + 1)) ${x[1]}; done\ncase $x in a) b;; *) c;; esac\nexport A=1 B=2\n"
    assert not read(script, cwd="/w", home="/h").unread


def calls(ws: Scratch, command: str, **options: object) -> int:
    """How many functions a decision calls: unlike time, the same on every machine."""
    number = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        ws.bash(command, **options)
    finally:
        sys.setprofile(None)
    return number


@pytest.mark.parametrize(("frame", "unit"), ONCE_OVER_THE_LIMIT)
def test_a_decision_calls_no_more_functions_than_fit_into_its_time(plain_ws: Scratch, frame: str, unit: str) -> None:
    """They called up to 200,000, which is 50 ms of processor time and more."""
    text = line(frame, unit, 9900)
    plain_ws.bash(text)
    for options in ({}, {"mode": "bypassPermissions"}, {"mode": "bypassPermissions", **RULES}):
        assert calls(plain_ws, text, **options) < MOST_CALLS


def test_structure_in_quotes_and_heredocs_does_not_count(plain_ws: Scratch) -> None:
    names = "[[ [[package " + "name " * 200
    assert plain_ws.bash(f"cat <<'E'\n{names}\nE").decision == "allow"
    assert plain_ws.bash(f"echo '{names}'").decision == "allow"
    script = "[[ -f a ]]\n" + "echo name\n" * 150 + "function f {\n" + "echo name\n" * 150 + "}\n"
    assert not read(script, cwd="/w", home="/h").unread
    table = "| a | b | (c) |\n" * 200
    assert plain_ws.bash(f"cat <<'E'\n{table}E").decision == "allow"
    assert plain_ws.bash(f"echo '{table}'").decision == "allow"


def test_a_line_with_too_many_words_needs_a_person(plain_ws: Scratch) -> None:
    for text in ("rm " + "x " * 600, "frob a" + ":a" * 600, "echo x > " + "x " * 600):
        judged = judge(text, cwd=str(plain_ws.root), home=str(plain_ws.home))
        assert judged.blind and judged.doubts
        assert plain_ws.bash(text, mode="bypassPermissions").decision == "ask"
    assert plain_ws.bash("echo " + "x " * 400).decision == "allow"


def test_more_guesses_than_can_be_looked_at_are_said(plain_ws: Scratch) -> None:
    def unchecked(text: str) -> str:
        return " ".join(judge(text, cwd=str(plain_ws.root), home=str(plain_ws.home)).unchecked)

    many = "; ".join(f"x{number} '$(y)'" for number in range(30))
    assert "more shell text" in unchecked("; ".join(f"bash -c '{part}'" for part in ["a;b"] * 50))
    assert "more shell text" in unchecked("bash -c '" + "a;b " * 2000 + "'; bash -c '" + "c;d " * 2100 + "'")
    assert unchecked("bash -c '" + "echo a-long-word-here-and-there-and-there-and-everywhere\n" * 150 + "'") == ""
    assert "more commands may run" in unchecked("sudo " + "a " * 150)
    assert unchecked(many) == ""


def test_wildcards_without_end_are_not_followed(plain_ws: Scratch) -> None:
    for word in ("*/" * 2000, "*" * 100, "a*" + "b" * 5000):
        assert plain_ws.bash(f"ls {word}").decision == "ask"


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("/w/*a*b", "/w/xaxb", "/w/xbxa"),
        ("/w/*a*b", "/w/ab/below", "/w/a/b"),
        ("/w/**/x/**/y", "/w/x/y", "/w/x"),
        ("/w/**/x/**/y", "/w/1/x/2/3/y/4", "/w/1/y/x"),
        ("/w/a**b", "/w/a/x/b", "/w/a/x"),
        ("/w/a**b*c", "/w/a/bb/bxc", "/w/a/bx/c"),
        ("/w/*[a-c]*[!d]", "/w/xaxe", "/w/xaxd"),
        ("/w/*?*x", "/w/ax", "/w/x"),
        ("/w/**/**/**/x", "/w/x", "/w/y"),
        ("/w/*.[*", "/w/a.[b", "/w/a.b"),
        ("/w/*[z-a]*", "/w/[z-a]", "/w/z"),
        ("/w/[z-a]", "/w/[z-a]", "/w/z"),
        ("/w/[!a]", "/w/b", "/w/a"),
        ("/w/?", "/w/b", "/w//"),
        ("/w/**/*.py", "/w/a/b.py", "/w/a/b.pyc"),
    ],
)  # fmt: skip
def test_path_patterns_match_alike_whichever_way_they_are_followed(pattern: str, matching: str, other: str) -> None:
    assert globs.compiled(pattern, folded=False).fullmatch(matching)
    assert not globs.compiled(pattern, folded=False).fullmatch(other)
    every_way = globs._Places(globs._tokens(pattern))
    assert every_way.fullmatch(matching) and not every_way.fullmatch(other)


@pytest.mark.parametrize(
    ("pattern", "text", "matching"),
    [
        ("a", "a", True), ("a", "ab", False), ("a*", "ab", True), ("*b", "ab", True), ("a*b*c", "axbxc", True), ("a*b*c", "axcxb", False), ("a*b*c", "ab", False), ("aa*a", "aa", False), ("*a*a*", "a", False),
        ("*", "", True), ("a*b*b", "ab", False), ("a*bb*b", "abbb", True), ("x*b", "ab", False), ("a*b*bc", "abc", False),
    ],
)  # fmt: skip
def test_pieces_are_found_in_their_order(pattern: str, text: str, matching: bool) -> None:
    assert globs.matches_pieces(pattern.split("*"), text) is matching


def test_what_xargs_is_handed_is_looked_at_up_to_a_limit_that_is_said(plain_ws: Scratch) -> None:
    judged = judge(f"xargs rm <<< '{'a ' * 300}'", cwd=str(plain_ws.root), home=str(plain_ws.home))
    assert any("xargs hands on more" in why for why in judged.unchecked)


def test_quotes_that_no_line_closes_hide_none_of_the_others(plain_ws: Scratch) -> None:
    code = "\"a\\'b\\'c" + "\n" + "d('curl x')\""
    judged = judge(f"python3 -c {code}", cwd=str(plain_ws.root), home=str(plain_ws.home))
    assert any(part.argv[:1] == ("curl",) for part in judged.parts)
