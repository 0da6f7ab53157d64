"""Arguments that are little languages: find's expression, sed programs, printf formats, `test`, jq filters.

Each checker knows a small harmless part of its language and calls everything else a hazard.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from assent.permissions.shell_options import Usage
from assent.permissions.shell_words import Word
from assent.permissions.text import names

_FIND_ALONE = names("""
    -empty -readable -writable -executable -nouser -nogroup -depth -d -mount -xdev -noleaf -prune -print -print0
    -quit -true -false -not ! -a -and -o -or ( ) , -ls -daystart -ignore_readdir_race -noignore_readdir_race -warn
    -nowarn -help --help -version --version
""")
_FIND_VALUED = names("""
    -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -maxdepth -mindepth
    -size -mtime -mmin -atime -amin -ctime -cmin -newermt -newerat -newerct -newerBt -perm -user -group -uid -gid
    -links -inum -fstype -lname -ilname -printf -used -context
""")
_FIND_FILES = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})


def check_find(words: Sequence[Word], usage: Usage, _used: set[str]) -> None:
    """Only tests and printing; `-exec`, `-delete`, `-fprintf` and their kin do things."""
    usage.hazards.clear()
    usage.spelled.clear()
    usage.reads.clear()
    position = 0
    while position < len(words) and words[position].text in ("-H", "-P"):
        position += 1
    while position < len(words) and words[position].text[:1] not in ("-", "(", "!", ","):
        usage.reads.append(words[position])
        position += 1
    usage.wildcards.extend(word for word in words if word.wild_start)
    while position < len(words):
        text = words[position].text
        if text in _FIND_ALONE:
            position += 1
        elif text in _FIND_VALUED and position + 1 < len(words):
            position += 2
        elif text in _FIND_FILES and position + 1 < len(words):
            usage.reads.append(words[position + 1])
            position += 2
        else:
            usage.hazard(f"find's `{text}`", text)
            usage.recursive = True  # what it runs may read what it finds
            position += 1


_SED_SET = r"\[\^?\]?(?:\[[:.=][a-z]*[:.=]\]|[^\]\[\\\n])*\]"  # a delimiter inside brackets does not delimit
_SED_ADDRESS = rf"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n\[]|\\[^\n]|{_SED_SET})*/I?)"
_SED_RANGE = rf"(?:{_SED_ADDRESS}(?:\s*,\s*(?:{_SED_ADDRESS}|\+\d+))?)?\s*!?\s*"
_SED_SIMPLE = re.compile(rf"\s*{_SED_RANGE}(?:[pdPDgGhHxnN=]|q\d*)?\s*(?:[;\n]|$)")
_SED_SUBSTITUTE = re.compile(
    rf"\s*{_SED_RANGE}s([/|,#:@!%+])(?:(?!\1)[^\\\n\[]|\\[^\n]|{_SED_SET})*\1"
    r"(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiI0-9]*\s*(?:[;\n]|$)"
)


_SED_SCRIPT = re.compile(r"-[nErsuz]*e|--expression")
_SED_ODD = re.compile(r"-(?![nErsuz]+e\Z)[a-zA-Z]+e")


def check_sed(words: Sequence[Word], usage: Usage, used: set[str]) -> None:
    """Print, delete, substitute; `e` runs, `w` writes, `r` reads, `-i` edits."""
    scripts = [following.text for word, following in pairwise(words) if _SED_SCRIPT.fullmatch(word.text)]
    scripts += [word.text.partition("=")[2] for word in words if word.text.startswith("--expression=")]
    scripts += [word.text[2:] for word in words if re.match(r"-e.", word.text)]
    if used & {"-e", "--expression"}:
        if not scripts or any(_SED_ODD.match(word.text) for word in words):
            usage.hazard("a sed script in an unusual place", "-e")
    elif usage.operands:
        scripts = [usage.operands[0].text]
        usage.literal.append(usage.operands[0])
        usage.reads[:] = [word for word in usage.operands[1:] if word.text != "-"]
    else:
        usage.hazard("sed without a script", "sed")
    for script in scripts:
        if not plain_sed(script):
            usage.hazard(f"the sed script `{script}`", script)
            usage.code = True


def plain_sed(script: str) -> bool:
    position = 0
    while position < len(script):
        found = _SED_SUBSTITUTE.match(script, position) or _SED_SIMPLE.match(script, position)
        if found is None or found.end() == position or _older_sed_writes(found):
            return False
        position = found.end()
    return True


def _older_sed_writes(found: re.Match[str]) -> bool:
    """To GNU sed before 4.9 a delimiter delimits inside brackets too, and a `w` flag makes its file at once."""
    if found.re is not _SED_SUBSTITUTE:
        return False
    delimiters = [
        at.end()
        for at in re.finditer(r"\\[\s\S]|" + re.escape(found[1]), found.string[found.end(1) :])
        if at.group() == found[1]
    ]
    return bool(re.match(r"[gpiIeMm0-9]*w", found.string[found.end(1) + delimiters[1] :]))


_PRINTF = re.compile(r"(?:[^%]|%%|%[-+ #0']*\d*(?:\.\d+)?[sdiouxXcbqfeEgG])*")


def check_printf(words: Sequence[Word], usage: Usage, _used: set[str]) -> None:
    """`-v` and `%n` store into variables, and a subscript there is executed."""
    usage.hazards.clear()
    usage.spelled.clear()
    if not words or words[0].wild or words[0].text.startswith("-") or not _PRINTF.fullmatch(words[0].text):
        usage.hazard("a printf format that is not plain", words[0].text if words else "printf")


_TEST_FILES = frozenset(f"-{letter}" for letter in "efdsrwxLhbcpSOGugk")
_TEST_TEXT = frozenset({"-n", "-z"})
_TEST_NUMBERS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})


def check_test(words: Sequence[Word], usage: Usage, _used: set[str]) -> None:
    """File tests and comparisons; `-v` and arithmetic evaluate their operands."""
    usage.hazards.clear()
    usage.spelled.clear()
    args = list(words)
    while args and args[0].text == "!":
        args.pop(0)
    texts = [word.text for word in args]
    if any(word.wild and not word.text.isdigit() for word in args):
        usage.hazard("a wildcard in a test", "*")
    match texts:
        case [] | [_] if texts[:1] not in (["-v"], ["-R"]):
            return
        case [operator, _] if operator in _TEST_FILES:
            usage.reads.append(args[1])
        case [operator, _] if operator in _TEST_TEXT:
            return
        case [_, "=" | "==" | "!=", _]:
            return
        case [_, "-nt" | "-ot" | "-ef", _]:
            usage.reads.extend((args[0], args[2]))
        case [left, operator, right] if operator in _TEST_NUMBERS and left.isdigit() and right.isdigit():
            return
        case _:
            usage.hazard(f"the test `{' '.join(texts)}`", texts[0])


def check_bracket(words: Sequence[Word], usage: Usage, used: set[str]) -> None:
    if not words or words[-1].text != "]":
        usage.hazard("`[` without `]`", "[")
        return
    check_test(words[:-1], usage, used)


def check_double_bracket(words: Sequence[Word], usage: Usage, used: set[str]) -> None:
    """Only tests of files and of emptiness: the rest matches patterns or evaluates arithmetic."""
    plain = [word for word in words if word.text != "!"]
    if len(plain) != 3 or plain[-1].text != "]]" or plain[0].text not in _TEST_FILES | _TEST_TEXT:
        usage.hazard("a test in double brackets", "[[")
        return
    check_test(plain[:-1], usage, used)


_JQ_REACHES_OUT = re.compile(r"\b(?:env|ENV|import|include|modulemeta|get_search_list)\b|\$__")


def check_jq(_words: Sequence[Word], usage: Usage, _used: set[str]) -> None:
    if not usage.operands:
        usage.hazard("jq without a filter", "jq")
        return
    usage.literal.append(usage.operands[0])
    if _JQ_REACHES_OUT.search(usage.operands[0].text):
        usage.hazard("a jq filter that reads more than its input", usage.operands[0].text)
    usage.reads[:] = [word for word in usage.operands[1:] if word.text != "-"]


def check_tac(_words: Sequence[Word], usage: Usage, _used: set[str]) -> None:
    """What it cannot read backwards, a pipe, it first puts into a file of its own."""
    if not usage.operands or any(word.text == "-" for word in usage.operands):
        usage.hazard("its input, which it keeps in a file", "tac")


def check_ls(_words: Sequence[Word], usage: Usage, used: set[str]) -> None:
    if used & {"-R", "--recursive"} and used & {"-L", "--dereference"}:
        usage.hazard("links followed out of the tree", "-L")


def check_sleep(words: Sequence[Word], usage: Usage, _used: set[str]) -> None:
    if len(words) != 1 or not re.fullmatch(r"\d{1,2}(?:\.\d+)?s?", words[0].text):
        usage.hazard("a long sleep", words[0].text if words else "sleep")


def check_strings(_words: Sequence[Word], usage: Usage, _used: set[str]) -> None:
    """`@file` is read for more arguments."""
    for word in usage.operands:
        if word.text.startswith("@") or word.wild_start:
            usage.hazard(f"`{word.text}` may name a file of arguments", word.text)


def check_cd(words: Sequence[Word], usage: Usage, _used: set[str]) -> None:
    """Only to a named directory: home and `-` are wherever the shell says."""
    if len(usage.operands) != 1 or usage.operands[0].text in ("-", ""):
        usage.hazard("a directory that is not named", words[0].text if words else "cd")


def check_ps(words: Sequence[Word], usage: Usage, _used: set[str]) -> None:
    """Never with `e`, which shows environments."""
    usage.hazards.clear()
    usage.spelled.clear()
    for word in words:
        if word.text not in ("aux", "ax", "-e", "-ef", "-A", "-f", "-l", "-a", "-x", "-u"):
            usage.hazard(f"ps's `{word.text}`", word.text)


def check_command(words: Sequence[Word], usage: Usage, used: set[str]) -> None:
    """Only `command -v name`; running one is the wrapper's business."""
    if not used & {"-v", "-V"}:
        usage.hazard("`command` runs a program", words[0].text if words else "command")
