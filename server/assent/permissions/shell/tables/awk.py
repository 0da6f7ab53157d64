"""awk programs that only look at their input: tests, counts, sums and prints of fields.

The program is cut into tokens. Names, numbers, strings and patterns are fine; what opens files, runs programs, loads
code or names other inputs (`|`, the `>` of a print, `getline`, `system`, `@`, ARGV) is a hazard, and so are loops that
need not end.
"""

import re
from collections.abc import Iterator, Sequence

from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.options import CommandUsage
from assent.permissions.shell.tables.scripts import MAX_PROGRAM
from assent.text.words import names

MAX_OPEN = 50  # parentheses inside one another
_VARIABLES = names("NR NF FNR FS OFS RS ORS FILENAME RSTART RLENGTH SUBSEP BEGIN END")
_FORBIDDEN = names("""
    system getline close fflush function func while do nextfile include load namespace eval switch default
    extension strftime systime srand mktime fork exec
""")
_TOKEN = re.compile(
    r"(?P<blank>[ \t]+|\#[^\n]*)"
    r"|(?P<newline>\n)"
    r"|(?P<string>\"(?:[^\"\\\n]|\\.)*\")"
    r"|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<operator>&&|\|\||\+\+|--|[=!<>+*/%^-]=|[-+*/%^!<>~?:,;$=(){}\[\]])"
)
_REGEX = re.compile(r"/(?:[^/\\\n\[]|\\[^\n]|\[\^?\]?(?:\[:[a-z]+:\]|[^\]\[\\\n/])*\])*/")
_KEYWORDS = names("print printf if else for in exit return delete next length BEGIN END")
_BEFORE_REGEX = frozenset({"", "\n", "{", "}", "(", ",", "!", "~", ";", "&&", "||", "=", "print"})


def read_awk(words: Sequence[Word], usage: CommandUsage) -> None:
    """awk reads flags only before its program; after it, every word is a file or an assignment."""
    for word in words:
        if not word.known or word.may_be_flag:
            usage.hazard(f"`{word.text}`, whose value is not known", word.text)
    position = _flags(words, usage)
    if position >= len(words):
        usage.hazard("awk without a program", "awk")
        return
    program, files = words[position], words[position + 1 :]
    usage.operands.extend(words[position:])
    if program.wild or not program.text.strip() or not plain_awk(program.text):
        usage.hazard("an awk program that does more than print fields", program.text)
        usage.code = True
    usage.reads.extend(word for word in files if word.text != "-")
    for word in files:
        if "=" in word.text or word.text.startswith("-"):
            usage.hazard(f"`{word.text}` may be an assignment", word.text)


def _flags(words: Sequence[Word], usage: CommandUsage) -> int:
    """Only the field separator; gives the position of the program."""
    position = 0
    while position < len(words) and words[position].text.startswith("-") and words[position].text != "-":
        text = words[position].text
        position += 1
        if text == "--":
            break
        value = text.removeprefix("--field-separator=") if text.startswith("--") else text[2:]
        if text in ("-F", "--field-separator") and position < len(words):
            value = words[position].text
            position += 1
        if not text.startswith(("-F", "--field-separator")) or not value or value.startswith("-"):
            usage.hazard(f"awk's `{text}`", text)
    return position


def plain_awk(program: str) -> bool:
    if len(program) > MAX_PROGRAM:
        return False
    braces = 0
    openers: list[str] = []  # what stands before each open parenthesis
    before = ""
    for kind, token in _tokens(program):
        if kind == "unknown" or len(openers) > MAX_OPEN:
            return False
        if token in _FORBIDDEN or (token.isupper() and kind == "name" and token not in _VARIABLES):
            return False
        match token:
            case "(":
                openers.append(before)
            case ")" if openers:
                openers.pop()
            case "{" | "}":
                braces += 1 if token == "{" else -1
            case ">" if braces and "if" not in openers:
                return False  # of a print: it writes a file
            case ";" if "for" in openers:
                return False  # only `for (x in y)` surely ends
            case ")":
                return False
            case _:
                pass
        if braces < 0:
            return False
        before = token
    return not braces and not openers


def _tokens(program: str) -> Iterator[tuple[str, str]]:
    """Ends with one that is not known, where something is not.

    A `/` is a division only where every awk takes it for one, and a pattern only where every awk does.
    """
    position, before, kind = 0, "", ""
    while position < len(program):
        found = _TOKEN.match(program, position)
        if program[position] == "/":
            divides = kind == "number" or before == "]" or (kind == "name" and before not in _KEYWORDS)
            if not divides:
                found = _REGEX.match(program, position) if before in _BEFORE_REGEX else None
        if found is None:
            before, kind, position = program[position], "unknown", len(program)
        else:
            position = found.end()
            if found.lastgroup == "blank":
                continue
            before, kind = found.group(), found.lastgroup or "regex"
        yield kind, before
