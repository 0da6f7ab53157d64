"""Secrets in text that outlives its moment: the index, spilled results, logs and exports hold none.

Two kinds are known: the values this process itself holds (`hold`), and tokens that show by their shape what they are.
Everything else stays as it is, byte for byte; a shape that ordinary text also has would spoil more than it saves.
"""

import re
from collections.abc import Callable

REDACTED = "[redacted]"
SHORTEST = 8  # a shorter value would be found in ordinary words

_held: set[str] = set()
_MOST_PASSES = 8
_IS = r"[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"


def hold(*values: str | None) -> None:
    """Values that are secret for as long as this process runs."""
    _held.update(value for value in values if value and len(value) >= SHORTEST)


def redact(text: str) -> str:
    """The text with every held value and every token by its shape replaced."""
    for value in _held:
        if value in text:
            text = text.replace(value, REDACTED)
    for _ in range(_MOST_PASSES):  # what stood close behind a secret may show itself once that is gone
        before = text
        for markers, pattern, replaced in _SHAPES:
            if any(marker in text for marker in markers):
                text = pattern.sub(replaced, text)
        if text == before:
            break
    return text


def _whole(_found: re.Match[str]) -> str:
    return REDACTED


def _value(found: re.Match[str]) -> str:
    """Only the value of a header goes, and only if it looks like a token: words and names of variables stay."""
    value = found["value"]
    made_up = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    return f"{found['name']}{REDACTED}" if made_up else found[0]


def _token(body: str, *, size: int | None = None) -> re.Pattern[str]:
    """A token that begins where a word does; with `size`, one that ends after so many letters and digits."""
    return re.compile(r"(?<![A-Za-z0-9])" + body + (f"{{{size}}}(?![A-Za-z0-9])" if size else ""))


_SHAPES: tuple[tuple[tuple[str, ...], re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (("sk-",), _token(r"sk-(?:ant|proj|svcacct|or|live|test)-[A-Za-z0-9_-]{16,}"), _whole),
    (("sk-",), _token(r"sk-[A-Za-z0-9]{32,}"), _whole),
    (("gh",), _token(r"gh[pousr]_[A-Za-z0-9]{30,}"), _whole),
    (("github_pat_",), _token(r"github_pat_[A-Za-z0-9_]{30,}"), _whole),
    (("glpat-",), _token(r"glpat-[A-Za-z0-9_-]{20,}"), _whole),
    (("AKIA", "ASIA"), _token(r"A[KS]IA[A-Z0-9]", size=16), _whole),
    (("xox",), _token(r"xox[abeoprs]-[A-Za-z0-9-]{16,}"), _whole),
    (("AIza",), _token(r"AIza[A-Za-z0-9_-]", size=35), _whole),
    (("npm_",), _token(r"npm_[A-Za-z0-9]", size=36), _whole),
    (("pypi-",), _token(r"pypi-[A-Za-z0-9_-]{50,}"), _whole),
    (("hf_",), _token(r"hf_[A-Za-z0-9]{30,}"), _whole),
    (("eyJ",), _token(r"(?<![_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"), _whole),
    (
        ("PRIVATE KEY-----",),
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY-----.*?(?:-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY-----|\Z)",
            re.DOTALL,
        ),
        _whole,
    ),
    (
        ("uthorization", "UTHORIZATION", "pi-key", "pi-Key", "PI-KEY"),
        re.compile(
            rf"(?P<name>(?<![A-Za-z0-9_-])(?:(?:proxy-)?authorization{_IS}(?:bearer|basic|token)[ \t]{{1,4}}"
            rf"|x-api-key{_IS}))(?P<value>[A-Za-z0-9._~+/=-]{{16,}})",
            re.IGNORECASE,
        ),
        _value,
    ),
)
