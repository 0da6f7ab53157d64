"""Bends known inputs into new ones: the shared cases, the corpora and lines of the grammar, cut, spliced and wrapped.

The same seed gives the same inputs.
"""

import json
import re
from functools import lru_cache
from pathlib import Path
from random import Random

from permissions.shell_corpus import ALWAYS_FINE, NEVER_UNASKED
from permissions.shell_grammar import FLAGS, GIT, line

CASES = Path(__file__).parents[1] / "cases"
_PIECES = (
    "-", "--", "-*", "*", "?", "[-]x", "$x", "$HOME", "~", "~/.ssh/id_rsa", "{a,b}", "..", "/", "'", '"', "\\", "\n", ";", "|", "&", "&&",
    ">", ">>", "<", "<<E", "#", "$(", ")", "`", "=", ":", "-o", "--output=PWNED", "-exec", "{}", "+", "\\;", "xargs", "--files0-from=x",
    "--pre=./ev.sh", "-i", "w PWNED", "-delete", "PWNED", "./ev.sh", "git", "-c", "core.fsmonitor=./ev.sh", "sub/odd", "\u200b", "\t", " ",
    "é", "\x00", "\r", "${x}", "$((1+1))", "<(ls)", "!", "[", "]", "do", "done", "fi", "then", "for f in", "-print0", "-0", "-type f",
)  # fmt: skip
_WRAPS = (
    "for f in *.md; do %s; done", "if %s; then ls; fi", "if true; then %s; fi", "%s | xargs wc -l", "timeout 5 %s", "( %s )", "{ %s; }",
    "! %s", "%s && ls", "ls; %s", "%s 2>/dev/null", "%s > /dev/null", "find . -exec %s {} +", "echo x | %s", "env %s", "%s # x", "for f in a; do %s $f; done",
    "sh -c '%s'", "$(%s)", "%s <<'E'\nx\nE", "cd sub && %s", "nice %s", "git -C . %s", "xargs %s", "command %s",
)  # fmt: skip
_WORD = re.compile(r"\S+|\s+")


@lru_cache(maxsize=1)
def known() -> tuple[str, ...]:
    """Every command that the tests know."""
    found: list[str] = [*ALWAYS_FINE, *(text for group in NEVER_UNASKED.values() for text in group)]
    for name in ("permission-cases", "permission-controls", "permission-variants"):
        for case in json.loads((CASES / f"{name}.json").read_text()):
            if case.get("tool", "Bash") == "Bash":
                found += case["inputs"]
    for case in json.loads((CASES / "redteam-variants.json").read_text())["cases"]:
        if case["tool"] == "Bash":
            found += case["inputs"]
    return tuple(dict.fromkeys(text for text in found if len(text) < 2000))


def mutated(random: Random) -> str:
    text = line(random) if random.random() < 0.3 else random.choice(known())
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        text = _bent(text, random)
    return text


def _bent(text: str, random: Random) -> str:
    words = _WORD.findall(text) or [""]
    place = random.randrange(len(words))
    match random.randrange(9):
        case 0:
            words.insert(place, random.choice(_PIECES) + random.choice(("", " ")))
        case 1:
            del words[place]
        case 2:
            words.insert(place, f"{words[place]} ")
        case 3:
            words[place] = random.choice(_PIECES)
        case 4:
            other = _WORD.findall(random.choice(known()))
            words[place:] = other[random.randrange(len(other) + 1) :]
        case 5:
            return random.choice(_WRAPS).replace("%s", text)
        case 6:
            position = random.randrange(len(text) + 1)
            return text[:position] + random.choice(_PIECES) + text[position:]
        case 7:
            flags = random.choice((*FLAGS.values(), *GIT.values())).split(" ")
            words.insert(place, f" {random.choice(flags)} ")
        case _:
            words[place] = words[place] * random.choice((2, 3, 50)) if len(words[place]) < 40 else words[place][::-1]
    return "".join(words)[:10_000]
