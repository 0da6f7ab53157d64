"""Text as a person can judge it: what is invisible or turns the reading order around is spelled out.

The one policy for every front, applied once, in the server: `visible` where a person decides (commands, titles of
calls, rules), `readable` where whole texts are read (proposed text, titles of conversations), which leaves emoji
and the joiners of Persian or Hindi alone. For display only; what is run is never changed.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import accumulate

MAX_SHOWN = 4000  # a longer thing is shown cut, and then nothing can be allowed for good

_PLAIN = re.compile(r"[\n\t -~]*")
_ALLOWED_CONTROLS = "\n\t"
_INVISIBLE = frozenset({"Cf", "Cc", "Co", "Cn", "Cs", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")  # letters that draw nothing


def visible(text: str) -> str:
    """Every invisible, bidirectional or odd blank character as ⟨U+XXXX⟩."""
    if _PLAIN.fullmatch(text):
        return text
    return "".join(map(_spelled, text))


def readable(text: str) -> str:
    """Like `visible`, but what belongs to emoji and to other scripts stays as it is."""
    if _PLAIN.fullmatch(text):
        return text
    return "".join(
        f"⟨U+{ord(c):04X}⟩" if _hidden(c) and not _belongs(c, text[index - 1] if index else "") else c
        for index, c in enumerate(text)
    )


def display(text: str) -> str | None:
    """What to show of a command, a rule or a label instead; None where the text itself can be shown."""
    rendered = visible(text)
    return None if rendered == text else rendered


def display_lines(text: str) -> str | None:
    """What to show of a file's text instead, with plain line ends; None where the text itself can be shown."""
    plain = text.replace("\r\n", "\n")
    rendered = readable(plain)
    return None if rendered == plain else rendered


def shown(text: str, limit: int = MAX_SHOWN) -> str:
    """The beginning of it, of at most `limit` characters once it is spelled out, and how much is left out."""
    rendered = visible(text[:limit])
    if len(rendered) <= limit:
        kept = limit
    else:  # whole characters only
        kept = sum(1 for length in accumulate(len(_spelled(c)) for c in text[:limit]) if length <= limit)
        rendered = visible(text[:kept])
    return rendered if kept >= len(text) else f"{rendered}… ({len(text) - kept} more characters)"


def has_hidden(text: str) -> bool:
    return any(_hidden(c) for c in text)


def too_big(text: str) -> bool:
    return len(text) > MAX_SHOWN or text.count("\n") > 100


@lru_cache(maxsize=1024)
def _spelled(c: str) -> str:
    return f"⟨U+{ord(c):04X}⟩" if _hidden(c) else c


def _belongs(c: str, before: str) -> bool:
    """Blanks of any width, and joiners and variation selectors behind a character they can belong to."""
    if unicodedata.category(c) == "Zs":
        return True
    return c in _JOINERS and before > "~" and (before in _JOINERS or not _hidden(before))


def _hidden(c: str) -> bool:
    if c in _ALLOWED_CONTROLS or " " <= c <= "~":
        return False
    category = unicodedata.category(c)
    return category in _INVISIBLE or category == "Zs" or c in _BLANK_LETTERS or 0xFE00 <= ord(c) <= 0xFE0F
