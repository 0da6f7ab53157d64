"""The variables that hooks export by appending to the file CLAUDE_ENV_FILE names; commands of the session get them.

The file holds assignments as a shell writes them: `export NAME=value`, `NAME=value`, and the `declare -x` lines of
`export -p`. Quoting counts as in bash, a value may go over several lines, and `$NAME` is what the variable holds by
then, so that `export PATH="$PATH:/more"` adds to it. Nothing is run: a command in a value stays text.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

LARGEST = 256 * 1024
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PART = re.compile(
    r"""(?P<single>'[^']*')
    |(?P<ansi>\$'(?:[^'\\]|\\.)*')
    |"(?P<double>(?:[^"\\]|\\.)*)"
    |(?P<command>\$\([^\n]{0,1000}\)|`[^`\n]*`)
    |(?P<variable>\$(?:\{[A-Za-z_]\w*\}|[A-Za-z_]\w*))
    |(?P<escaped>\\.)
    |(?P<space>[ \t]+)
    |(?P<end>[\n;])
    |(?P<plain>[^\s'"\\;`$]+|\$)""",
    re.VERBOSE | re.DOTALL,
)
_VARIABLE = re.compile(r"\\([$`\"\\])|\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_ANSI = re.compile(r"\\(?:([abefnrtv\\'\"?])|([0-7]{1,3})|x([0-9a-fA-F]{1,2}))")
_ANSI_LETTERS = dict(zip("abefnrtv", "\a\b\x1b\f\n\r\t\v", strict=True))


def exported(text: str, around: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of a file. `around` has those that its values may refer to."""
    found: dict[str, str] = {}
    known = around or {}

    def value_of(name: str) -> str:
        return found.get(name, known.get(name, ""))

    for words in _statements(text, value_of):
        for word in words[1:] if words[:1] == ["export"] else words:
            name, equals, value = word.partition("=")
            if equals and _NAME.fullmatch(name) and "\0" not in value:
                found[name] = value
    return found


def with_exported(base: Mapping[str, str], folder: Path, around: Mapping[str, str]) -> dict[str, str]:
    """The settings' variables, and over them those that hooks exported for the session with this folder. `around` is
    the environment that all of it is added to."""
    try:
        with env_file(folder).open("rb") as file:
            text = file.read(LARGEST).decode("utf-8", "replace")
    except OSError:
        return dict(base)
    return {**base, **exported(text, {**around, **base})}


def env_file(folder: Path) -> Path:
    return folder / "environment.sh"


def _statements(text: str, value_of: Callable[[str], str]) -> Iterator[list[str]]:
    """The words of each statement, quotes and variables resolved. A line with a quotation mark that nothing closes is
    left out. Each statement is given before the next one is read: that may refer to what this one set."""
    words: list[str] = []
    word: str | None = None
    at = 0
    while at < len(text):
        if text[at] == "#" and word is None:
            at = _line_end(text, at)
            continue
        part = _PART.match(text, at)
        if part is None:
            words, word, at = [], None, _line_end(text, at)
        elif part["space"] or part["end"]:
            words += [word] if word is not None else []
            word, at = None, part.end()
            if part["end"]:
                yield words
                words = []
        else:
            word, at = (word or "") + _resolved(part, value_of), part.end()
    yield [*words, word] if word is not None else words


def _resolved(part: re.Match[str], value_of: Callable[[str], str]) -> str:
    if part["single"]:
        return part["single"][1:-1]
    if part["ansi"]:
        return _ANSI.sub(_ansi_character, part["ansi"][2:-1])
    if part["double"] is not None:
        return _VARIABLE.sub(lambda found: found[1] or value_of(found[2] or found[3]), part["double"])
    if part["variable"]:
        return value_of(part["variable"].strip("${}"))
    if part["escaped"]:
        return part["escaped"][1].replace("\n", "")
    return part[0]


def _ansi_character(found: re.Match[str]) -> str:
    if found[1]:
        return _ANSI_LETTERS.get(found[1], found[1])
    return chr(int(found[2], 8) if found[2] else int(found[3], 16))


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
