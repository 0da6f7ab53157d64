"""Glob patterns over relative paths, the way ripgrep and gitignore read them.

`*` and `?` stay inside a component, `**` spans any number of them, `{a,b}` and `[…]` are alternatives. A pattern
without a slash matches a name at any depth; one with a slash matches the whole path. Pure functions.
"""

import re
from functools import lru_cache

from assent.types.errors import ToolError

_MAGIC = frozenset("*?[{")
_STAR, _DEEP, _REST = "[^/]*", "(?:[^/]+/)*", ".+"


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """A regular expression that fullmatches the relative paths the pattern means."""
    pattern = pattern.removeprefix("./")
    anchored = "/" in pattern.rstrip("/")
    body = translate(pattern.lstrip("/"))
    try:
        return re.compile(body if anchored else f"(?:.*/)?{body}", re.DOTALL)
    except re.error:
        raise ToolError(f"{pattern} is not a valid glob pattern") from None


def static_prefix(pattern: str) -> str:
    """The leading folders of a pattern that hold no wildcard: where a search can begin."""
    parts = pattern.split("/")
    kept: list[str] = []
    for part in parts[:-1]:
        if _MAGIC & set(part) or "\\" in part:
            break
        kept.append(part)
    return "/".join(kept)


def name_pattern(pattern: str) -> str | None:
    """The part of a pattern that a file's own name must match, or None when it says nothing about it."""
    last = pattern.rsplit("/", 1)[-1]
    if last in ("", "*", "**") or "**" in last or pattern.count("{") != last.count("{"):
        return None
    return last


def translate(pattern: str) -> str:
    """The body of the regular expression; alternatives may nest."""
    out: list[str] = []
    depth = 0
    i = 0
    while i < len(pattern):
        c = pattern[i]
        i += 1
        if c == "*":
            i, piece = _stars(pattern, i)
            out.append(piece)
        elif c == "?":
            out.append("[^/]")
        elif c == "[":
            i, piece = _char_class(pattern, i)
            out.append(piece)
        elif c == "{":
            depth += 1
            out.append("(?:")
        elif c == "}" and depth:
            depth -= 1
            out.append(")")
        elif c == "," and depth:
            out.append("|")
        elif c == "\\" and i < len(pattern):
            out.append(re.escape(pattern[i]))
            i += 1
        else:
            out.append(re.escape(c))
    if depth:
        raise ToolError(f"{pattern} is not a valid glob pattern: a {{ is not closed")
    return "".join(_never_back(out))


def _stars(pattern: str, i: int) -> tuple[int, str]:
    """After one star. `**` counts only as a whole component."""
    if i < len(pattern) and pattern[i] == "*":
        starts = i == 1 or pattern[i - 2] in "/{,"
        end = i + 1
        if starts and end < len(pattern) and pattern[end] == "/":
            return end + 1, _DEEP
        if starts and (end == len(pattern) or pattern[end] in ",}"):
            return end, _REST
        while i < len(pattern) and pattern[i] == "*":
            i += 1
    return i, _STAR


def _never_back(tokens: list[str]) -> list[str]:
    """The same without ways that are tried again and again: what stands between two stars is taken where it first fits.

    Whatever follows it, the second star makes up for. So the names of files, which a project chooses as it does its
    patterns, do not decide how long a search takes. Alternatives are left alone.
    """
    if any(token in ("(?:", "|", ")") for token in tokens):
        return tokens
    return _taken_once(_DEEP, "(?:[^/]+/)*?", _taken_once(_STAR, "[^/]*?", tokens))


def _taken_once(star: str, lazy: str, tokens: list[str]) -> list[str]:
    out: list[str] = []
    run: list[str] | None = None  # what was met since the last star
    for token in tokens:
        if token == star:
            if run is not None:
                out.append(f"(?>{lazy}{''.join(run)})")
            run = []
        elif run is not None and star == _STAR and token in ("/", _DEEP, _REST):
            out += [star, *run, token]
            run = None
        else:
            (out if run is None else run).append(token)
    return out if run is None else [*out, star, *run]


def _char_class(pattern: str, i: int) -> tuple[int, str]:
    negated = i < len(pattern) and pattern[i] in "!^"
    start = i + 1 if negated else i
    end = pattern.find("]", start + 1)
    if end < 0:
        raise ToolError(f"{pattern} is not a valid glob pattern: a [ is not closed")
    body = re.sub(r"([\\\[\]^&~|])", r"\\\1", pattern[start:end])
    return end + 1, f"(?!/)[{'^' if negated else ''}{body}]"
