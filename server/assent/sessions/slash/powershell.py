"""Commands in texts that say `shell: powershell`: the line that runs one, and whether `allowed-tools` grants it.

The permission chain reads bash, so PowerShell's own text stands in it as one quoted word: no rule but one that spells
the whole line covers it. `PowerShell(…)` in `allowed-tools` becomes such a rule for just this command, and with a
pattern only where the command is a single one: what `;`, `|` or `$(…)` would add is not looked at here.
"""

import re
import shlex
from collections.abc import Sequence

from assent.types.errors import ToolError
from assent.types.programs import find_program

_SINGLE = re.compile(r"[\w\s./\\:,='\"*?-]*", re.ASCII)


def line(command: str, refused: str) -> str:
    """What bash runs; raises ToolError, which begins with `refused`, where there is no PowerShell."""
    if find_program("pwsh") is None:
        raise ToolError(
            f"{refused} Its header says `shell: powershell`, and PowerShell (`pwsh`) is not installed. "
            "Install it, or write the commands for bash."
        )
    return f"pwsh -NoProfile -NonInteractive -Command {shlex.quote(command)}"


def granted(allowed: Sequence[str], command: str) -> bool:
    for rule in allowed:
        tool, bracket, rest = rule.partition("(")
        if tool != "PowerShell":
            continue
        pattern = rest.removesuffix(")")
        if not bracket or pattern in ("*", command):
            return True
        if "\n" not in command and _SINGLE.fullmatch(command) and _matches(pattern, command):
            return True
    return False


def _matches(pattern: str, command: str) -> bool:
    """As in rules for Bash: `X *` and `X:*` want a word boundary, `*` stands for any text."""
    if pattern.endswith((":*", " *")):
        start = pattern[:-2]
        return command == start or command.startswith(f"{start} ")
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), command) is not None
