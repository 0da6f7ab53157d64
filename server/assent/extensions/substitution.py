"""Arguments and commands inside the text of a command or skill.

    $ARGUMENTS        all of them, as typed        $ARGUMENTS[N], $N   one of them; the first is 0, or 1 for opencode
    $name             one of those that `arguments:` names             ${CLAUDE_SKILL_DIR} and the like: variables
    !`cmd`, ```! …    replaced by what the command prints              \\$1, \\$name        a dollar sign that stays

All is replaced in one pass: text that an argument or a command brought in is never looked at again. Runs nothing: it
only says which commands a text holds.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_DOLLAR = re.compile(
    r"(?P<escaped>(?<!\\)\\\$(?:(?P<literal>ARGUMENTS\b|\d)|(?P<word>[A-Za-z_][\w-]*)))"
    r"|\$ARGUMENTS\[(?P<index>\d+)\]"
    r"|\$(?P<all>ARGUMENTS)\b"
    r"|\$\{(?P<variable>[A-Za-z_][\w.]*)\}"
    r"|\$(?P<number>\d{1,3})\b"
    r"|\$(?P<name>[A-Za-z_][\w-]*)"
)
_VARIABLE = re.compile(r"\$\{([A-Za-z_][\w.]*)\}")
_SHELL = re.compile(
    r"^(?P<fence>```+)!\s*\n(?P<block>.*?)^(?P=fence)[ \t]*$|(?:^|(?<=\s))!`(?P<inline>[^`\n]+)`",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellPart:
    """A command inside a text, and the span of the text that its output replaces."""

    command: str
    start: int
    end: int
    line: int  # 1-based, inside the text


def words(arguments: str) -> list[str]:
    """Arguments divided as a shell divides them; a quotation mark that is never closed is a plain character."""
    try:
        return shlex.split(arguments)
    except ValueError:
        return arguments.split()


@dataclass(slots=True, kw_only=True)
class Arguments:
    """What the user or the model gave. `first` is the number of the first one; unknown names stay as they are, and so
    do numbers of arguments that were not given, but for opencode, which counts from 1."""

    text: str
    variables: Mapping[str, str]
    names: Sequence[str] = ()
    first: int = 0
    used: bool = False

    def put_into(self, text: str) -> str:
        given = words(self.text)
        named = {name: given[at] if at < len(given) else "" for at, name in enumerate(self.names)}

        def one(match: re.Match[str]) -> str:
            if match["escaped"]:
                return match[0][1:] if match["literal"] or match["word"] in named else match[0]
            if match["variable"]:
                return self.variables.get(match["variable"], match[0])
            if match["name"] and match["name"] not in named:
                return match[0]
            at = int(match["index"] or match["number"] or 0) - (self.first if match["number"] else 0)
            there = 0 <= at < len(given)
            if not (match["all"] or match["name"] or there or self.first):
                return match[0]  # no such argument was given: it is a price, or a variable of a script
            self.used = True
            if match["all"]:
                return self.text
            if match["name"]:
                return named[match["name"]]
            return given[at] if there else ""

        return _DOLLAR.sub(one, text)

    def variables_in(self, text: str) -> str:
        """The text with its variables, and nothing else, filled in."""
        return _VARIABLE.sub(lambda match: self.variables.get(match[1], match[0]), text)

    def left_over(self) -> str:
        """What to put at the end of a text that has no place for the arguments."""
        return f"\n\nARGUMENTS: {self.text.strip()}" if self.text.strip() and not self.used else ""


def shell_parts(text: str) -> list[ShellPart]:
    """The commands of a text, in order."""
    if "!`" not in text and "```!" not in text:
        return []
    found: list[ShellPart] = []
    for match in _SHELL.finditer(text):
        command = (match["block"] if match["block"] is not None else match["inline"]).strip()
        if command:
            line = text.count("\n", 0, match.start()) + 1
            found.append(ShellPart(command=command, start=match.start(), end=match.end(), line=line))
    return found


def filled(text: str, arguments: Arguments, parts: Sequence[ShellPart], outputs: Sequence[str]) -> str:
    """The text with its arguments, and each command replaced by its output, which is not looked at again."""
    pieces: list[str] = []
    at = 0
    for part, output in zip(parts, outputs, strict=True):
        pieces += [arguments.put_into(text[at : part.start]), output.rstrip("\n")]
        at = part.end
    pieces.append(arguments.put_into(text[at:]))
    return "".join(pieces).rstrip() + arguments.left_over()
