"""Text as a person can judge it: what is invisible or turns the reading order around is spelled out.

For prompts only; what is run is never changed.
"""

import unicodedata

MAX_SHOWN = 4000  # a longer thing is shown cut, and then nothing can be allowed for good

_ALLOWED_CONTROLS = "\n\t"
_INVISIBLE = frozenset({"Cf", "Cc", "Co", "Cn", "Cs", "Zl", "Zp"})
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")  # letters that draw nothing


def visible(text: str) -> str:
    """Every invisible, bidirectional or odd blank character as ⟨U+XXXX⟩."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"⟨U+{ord(c):04X}⟩" if _hidden(c) else c for c in text)


def shown(text: str, limit: int = MAX_SHOWN) -> str:
    rendered = visible(text)
    return rendered if len(rendered) <= limit else f"{rendered[:limit]}… ({len(text) - limit} more characters)"


def has_hidden(text: str) -> bool:
    return any(_hidden(c) for c in text)


def too_big(text: str) -> bool:
    return len(text) > MAX_SHOWN or text.count("\n") > 100


def _hidden(c: str) -> bool:
    if c in _ALLOWED_CONTROLS or " " <= c <= "~":
        return False
    category = unicodedata.category(c)
    return category in _INVISIBLE or category == "Zs" or c in _BLANK_LETTERS or 0xFE00 <= ord(c) <= 0xFE0F
