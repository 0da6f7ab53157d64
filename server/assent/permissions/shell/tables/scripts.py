"""Where an awk program writes and what it runs: by a name that stands in it, or by one that it makes up.

Names in quotes are looked at like any other argument; this tells whether there is one that nobody here can see. Knows
nothing of what is harmless: `shell_awk.py` does.
"""

import re
from collections.abc import Sequence

MAX_PROGRAM = 4000  # characters; a decision stays below 50 ms
_REACHES_OUT = re.compile(r"[>|]|system")  # without one of them it neither writes nor runs anything
AWKS = frozenset({"awk", "gawk", "mawk", "nawk", "original-awk", "bwk", "goawk"})
_TOKEN = re.compile(
    r"(?P<blank>[ \t\r]+|\#[^\n]*|\\\n)"
    r"|(?P<string>\"(?:[^\"\\\n]|\\.)*\")"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9.]+)"
    r"|(?P<operator>>>|\|\||&&|\|&|[><=!]=|[^\w\s])"
    r"|(?P<newline>\n)",
    re.DOTALL,
)
_REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[[^\]\n]*\])*/")
_BEFORE_REGEX = frozenset({"", "\n", "{", "}", "(", ",", "!", "~", ";", "&&", "||", "=", "print", "return"})
_BEGINS = frozenset({"", ";", "{", "}", "\n", "(", ")", "while", "if", "&&", "||", "!"})
_ENDS = frozenset({"", ";", "}", "\n", ")"})


def unseen_output(program: str, code: Sequence[str]) -> str:
    """Why nobody can tell what an awk program writes or runs; empty when everything it names stands in it."""
    if program not in AWKS:
        return ""
    for text in code:
        if why := _unseen(text):
            return f"`{program}` {why}"
    return ""


def _unseen(program: str) -> str:
    if not _REACHES_OUT.search(program):
        return ""
    if len(program) > MAX_PROGRAM:
        return "has a program too long to see where it writes"
    tokens = _tokens(program)
    depth = 0
    printing = False
    for position, token in enumerate(tokens):
        before = tokens[position - 1] if position else ""
        after, then = (*tokens[position + 1 : position + 3], "", "")[:2]
        if token in "([":
            depth += 1
        elif token in ")]":
            depth -= 1
        elif token in ("print", "printf"):
            printing, depth = True, 0
        elif token in (";", "{", "}", "\n"):
            printing = False
        elif token in (">", ">>") and printing and depth <= 0:
            if not (after.startswith('"') and then in _ENDS):
                return "writes to a file whose name it makes up"
        elif token in ("|", "|&"):
            alone = tokens[position - 2] if position > 1 else ""
            piped_in = after == "getline" and before.startswith('"') and alone in _BEGINS
            if not piped_in and not (after.startswith('"') and then in _ENDS):
                return "runs a command that it makes up"
        elif token == "system" and not (after == "(" and then.startswith('"') and _closed(tokens, position)):
            return "runs a command that it makes up"
    return ""


def _closed(tokens: list[str], position: int) -> bool:
    return tokens[position + 3 : position + 4] == [")"]


def _tokens(text: str) -> list[str]:
    """Strings stay whole and blanks go; a regular expression counts as nothing."""
    out: list[str] = []
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if text[position] == "/" and (out[-1] if out else "") in _BEFORE_REGEX:
            pattern = _REGEX.match(text, position)
            if pattern is not None:
                position = pattern.end()
                out.append("//")
                continue
        if found is None:
            position += 1
            continue
        position = found.end()
        if found.lastgroup != "blank":
            out.append(found.group())
    return out
