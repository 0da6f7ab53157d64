"""sed scripts that print, delete and substitute. `e` runs, `w` writes, `r` reads; what is not known here is a hazard.

A script is read once from left to right, so that its length alone decides how long that takes. Where versions of sed
read a script differently, it is not plain.
"""

import re
from collections.abc import Sequence

from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.options import CommandUsage

_BLANK = re.compile(r"[ \t]*")
_BETWEEN = re.compile(r"[ \t\n;]*")
_LINE = re.compile(r"[0-9]+(?:~[0-9]+)?|\$")
_SPAN = re.compile(r"[+~]?[0-9]+|\$")
_SIMPLE = re.compile(r"[pdPDgGhHxnN=]|[qQ][0-9]{0,3}")
_FLAGS = re.compile(r"[gpiI0-9]*")
_WRITING_FLAGS = re.compile(r"[gpiIeMm0-9]*w")
_CLASS = re.compile(r"\[[:.=][a-z]{0,20}[:.=]\]")
_DELIMITERS = "/|,#:@!%+"
_ORDINARY = {
    (delimiter, pattern): re.compile(rf"[^\\\n{re.escape(delimiter)}{special}]+")
    for delimiter in _DELIMITERS
    for pattern, special in ((True, r"\["), (False, ""))
}
"""By delimiter, and for a pattern or what takes its place: what means nothing there but itself."""


def check_sed(_words: Sequence[Word], usage: CommandUsage, used: set[str]) -> None:
    """`-i` edits and `-f` takes the script from a file: neither is in the row."""
    scripts = [value for flag, value in usage.values if flag in ("-e", "--expression")]
    files = usage.operands
    if not used & {"-e", "--expression"}:
        scripts, files = files[:1], files[1:]
        if not scripts:
            usage.hazard("no script", "sed")
    usage.reads.extend(word for word in files if word.text != "-")
    for script in scripts:
        if not script.plain or not plain_sed(script.text):
            usage.hazard(f"the sed script `{script.text}`", script.text)
            usage.code = True


def plain_sed(script: str) -> bool:
    position = blocks = 0
    while True:
        position = _past(_BETWEEN, script, position)
        if position >= len(script):
            return blocks == 0
        if script[position] == "}":
            blocks -= 1
            after: int | None = position + 1
        else:
            position = _addresses(script, position)
            if position is None or position >= len(script):
                return False
            if script[position] == "{":
                blocks += 1
                position += 1
                continue
            after = _command(script, position)
        if after is None or blocks < 0:
            return False
        position = _past(_BLANK, script, after)
        if position < len(script) and script[position] not in ";\n}":
            return False


def _addresses(script: str, position: int) -> int | None:
    """Past `1,$!` and its like."""
    first = _address(script, position, _LINE)
    if first is None:
        return None
    if first > position:
        comma = _past(_BLANK, script, first)
        if script.startswith(",", comma):
            second = _past(_BLANK, script, comma + 1)
            end = _address(script, second, _SPAN)
            if end is None or end == second:
                return None
            first = end
    position = _past(_BLANK, script, first)
    if script.startswith("!", position):
        position = _past(_BLANK, script, position + 1)
    return position


def _address(script: str, position: int, numbers: re.Pattern[str]) -> int | None:
    if script.startswith("/", position):
        end = _delimited(script, position + 1, "/", pattern=True)
        return end + 1 if end is not None and script.startswith("I", end) else end
    return _past(numbers, script, position)


def _command(script: str, position: int) -> int | None:
    if script[position] != "s":
        end = _past(_SIMPLE, script, position)
        return end if end > position else None
    delimiter = script[position + 1 : position + 2]
    if not delimiter or delimiter not in _DELIMITERS:
        return None
    middle = _delimited(script, position + 2, delimiter, pattern=True)
    end = None if middle is None else _delimited(script, middle, delimiter, pattern=False)
    if end is None or _older_sed_writes(script, position + 2, delimiter):
        return None
    return _past(_FLAGS, script, end)


def _older_sed_writes(script: str, position: int, delimiter: str) -> bool:
    """To GNU sed before 4.9 a delimiter delimits inside brackets too, and a `w` flag makes its file at once."""
    middle = _delimited(script, position, delimiter, pattern=False)
    end = None if middle is None else _delimited(script, middle, delimiter, pattern=False)
    return end is not None and _WRITING_FLAGS.match(script, end) is not None


def _delimited(script: str, position: int, delimiter: str, *, pattern: bool) -> int | None:
    """Past the next delimiter that is not quoted."""
    ordinary = _ORDINARY[delimiter, pattern]
    while (position := _past(ordinary, script, position)) < len(script):
        character = script[position]
        if character == delimiter:
            return position + 1
        if character == "\n" or script.startswith(("\\\n", "\\c"), position):
            return None  # after `\\c`, versions disagree whether a bracket opens
        if character == "[" and pattern:
            inside = _brackets(script, position + 1)
            if inside is None:
                return None
            position = inside
        else:
            position += 2 if character == "\\" else 1
    return None


def _brackets(script: str, position: int) -> int | None:
    """Past `[…]`, in which a delimiter does not count; what a backslash before anything but a letter does, varies."""
    if script.startswith("^", position):
        position += 1
    if script.startswith("]", position):
        position += 1
    while position < len(script):
        character = script[position]
        if character == "]":
            return position + 1
        if character == "\n":
            return None
        if character == "[":
            named = _CLASS.match(script, position)
            if named is None:
                return None
            position = named.end()
        elif character == "\\":
            if not script[position + 1 : position + 2].isalpha():
                return None
            position += 2
        else:
            position += 1
    return None


def _past(pattern: re.Pattern[str], script: str, position: int) -> int:
    found = pattern.match(script, position)
    return position if found is None else found.end()
