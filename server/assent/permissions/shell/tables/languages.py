"""Arguments that are little languages: printf formats, `test`, jq filters; and other small checks.

Each checker knows a small harmless part of its language and calls everything else a hazard.
"""

import re
from collections.abc import Sequence

from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.options import CommandUsage

_PRINTF = re.compile(r"(?:[^%]|%%|%[-+ #0']{0,5}(?:[1-9][0-9]{0,3})?(?:\.[0-9]{1,4})?[sdiouxXcbqfeEgG])*")


def read_anything(words: Sequence[Word], usage: CommandUsage) -> None:
    """echo, true, false, `:`: no word of theirs does anything but appear."""
    usage.operands.extend(words)


def read_printf(words: Sequence[Word], usage: CommandUsage) -> None:
    """`-v` and `%n` store into variables, and a subscript there is executed; words after the format are only shown."""
    if not words or not words[0].plain or words[0].text.startswith("-") or not _PRINTF.fullmatch(words[0].text):
        usage.hazard("a printf format that is not plain", words[0].text if words else "printf")


_TEST_FILES = frozenset(f"-{letter}" for letter in "efdsrwxLhbcpSOGugk")
_TEST_TEXT = frozenset({"-n", "-z"})
_TEST_NUMBERS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})


def read_test(words: Sequence[Word], usage: CommandUsage) -> None:
    """File tests and comparisons; `-v` and arithmetic evaluate their operands, so no word may become several."""
    args = list(words)
    while args and args[0].text == "!":
        args.pop(0)
    texts = [word.text for word in args]
    if any(word.splits or (word.wild and not word.single and not word.text.isdigit()) for word in args):
        usage.hazard("a word in a test that may become several", "*")
    match texts:
        case [] | [_] if texts[:1] not in (["-v"], ["-R"]):
            return
        case [operator, _] if operator in _TEST_FILES:
            _tested(args[1:], usage)
        case [operator, _] if operator in _TEST_TEXT:
            return
        case [_, "=" | "==" | "!=", _]:
            return
        case [_, "-nt" | "-ot" | "-ef", _]:
            _tested([args[0], args[2]], usage)
        case [left, operator, right] if operator in _TEST_NUMBERS and left.isdigit() and right.isdigit():
            return
        case _:
            usage.hazard(f"the test `{' '.join(texts)}`", texts[0])


def _tested(files: Sequence[Word], usage: CommandUsage) -> None:
    usage.reads.extend(files)
    for word in files:
        if not word.known:
            usage.hazard(f"`{word.text}`, whose value is not known", word.text)


def read_bracket(words: Sequence[Word], usage: CommandUsage) -> None:
    if not words or words[-1].text != "]":
        usage.hazard("`[` without `]`", "[")
        return
    read_test(words[:-1], usage)


def read_double_bracket(words: Sequence[Word], usage: CommandUsage) -> None:
    """Only tests of files and of emptiness: the rest matches patterns or evaluates arithmetic."""
    plain = [word for word in words if word.text != "!"]
    if len(plain) != 3 or plain[-1].text != "]]" or plain[0].text not in _TEST_FILES | _TEST_TEXT:
        usage.hazard("a test in double brackets", "[[")
        return
    read_test(plain[:-1], usage)


_JQ_STRING = re.compile(r'"[^"\\]*"')  # one with a backslash may hold a filter of its own
_JQ_REACHES_OUT = re.compile(r"(?<![.\w])(?:env|ENV|import|include|modulemeta|get_search_list)\b|\$__|\$ENV\b")
"""Names that stand alone: after a dot they are keys of the input."""


def check_jq(_words: Sequence[Word], usage: CommandUsage, _used: set[str]) -> None:
    if not usage.operands:
        usage.hazard("jq without a filter", "jq")
        return
    usage.literal.append(usage.operands[0])
    if not usage.operands[0].known or _JQ_REACHES_OUT.search(_JQ_STRING.sub('""', usage.operands[0].text)):
        usage.hazard("a jq filter that reads more than its input", usage.operands[0].text)
    usage.reads[:] = [word for word in usage.operands[1:] if word.text != "-"]


def check_tac(_words: Sequence[Word], usage: CommandUsage, _used: set[str]) -> None:
    """What it cannot read backwards, a pipe, it first puts into a file of its own."""
    if not usage.operands or any(word.text == "-" for word in usage.operands):
        usage.hazard("its input, which it keeps in a file", "tac")


def check_tail(_words: Sequence[Word], usage: CommandUsage, _used: set[str]) -> None:
    if usage.operands and re.fullmatch(r"\+[0-9]*[bcl]?f", usage.operands[0].text):
        usage.hazard(f"`{usage.operands[0].text}`, which waits for more", usage.operands[0].text)


def check_ls(_words: Sequence[Word], usage: CommandUsage, used: set[str]) -> None:
    if used & {"-R", "--recursive"} and used & {"-L", "--dereference"}:
        usage.hazard("links followed out of the tree", "-L")


_SEQ_NUMBER = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{1,9})?")
_SEQ_MOST = 1_000_000  # lines


def check_seq(_words: Sequence[Word], usage: CommandUsage, _used: set[str]) -> None:
    """`seq inf` never ends, and a small step makes a short line a long list."""
    texts = [word.text for word in usage.operands]
    if not 1 <= len(texts) <= 3 or not all(word.plain and _SEQ_NUMBER.fullmatch(word.text) for word in usage.operands):
        usage.hazard("numbers that are not plain", texts[0] if texts else "seq")
        return
    first, last = (float(texts[0]), float(texts[-1])) if len(texts) > 1 else (1.0, float(texts[0]))
    step = float(texts[1]) if len(texts) == 3 else 1.0
    if step == 0 or (last - first) / step > _SEQ_MOST:
        usage.hazard("a list without end, or nearly so", texts[-1])


def read_sleep(words: Sequence[Word], usage: CommandUsage) -> None:
    if len(words) != 1 or not words[0].plain or not re.fullmatch(r"\d{1,2}(?:\.\d+)?s?", words[0].text):
        usage.hazard("a long sleep", words[0].text if words else "sleep")


def check_strings(words: Sequence[Word], usage: CommandUsage, _used: set[str]) -> None:
    """`@file` is read for more arguments wherever it stands, also as a flag's value and after `--`."""
    for word in words:
        if word.text.startswith("@") or (word.may_be_flag and word in usage.operands):
            usage.hazard(f"`{word.text}` may name a file of arguments", word.text)


def check_cd(words: Sequence[Word], usage: CommandUsage, _used: set[str]) -> None:
    """Only to a named directory: home and `-` are wherever the shell says."""
    if len(usage.operands) != 1 or usage.operands[0].text in ("-", ""):
        usage.hazard("a directory that is not named", words[0].text if words else "cd")


def read_ps(words: Sequence[Word], usage: CommandUsage) -> None:
    """Never with `e`, which shows environments."""
    for word in words:
        if not word.plain or word.text not in ("aux", "ax", "-e", "-ef", "-A", "-f", "-l", "-a", "-x", "-u"):
            usage.hazard(f"ps's `{word.text}`", word.text)


def check_command(words: Sequence[Word], usage: CommandUsage, used: set[str]) -> None:
    """Only `command -v name`; running one is the wrapper's business."""
    if not used & {"-v", "-V"}:
        usage.hazard("`command` runs a program", words[0].text if words else "command")
