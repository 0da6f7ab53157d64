"""Path patterns of rules, read the way .gitignore reads them, over absolute paths.

`~/x` is in the home directory, `/x` absolute; `a/b` starts at a workspace root; a name without a slash matches at any
depth. A pattern that matches a directory covers everything below it. Rules come with projects that nobody trusts yet,
so matching takes time in proportion to the path, whatever the pattern: all ways to match are followed at once.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Protocol


class BadPattern(ValueError):
    """A pattern no path could be matched against; the message says why."""


def check_pattern(pattern: str) -> None:
    if not pattern.strip("/ "):
        raise BadPattern("the pattern is empty")
    if ".." in pattern.split("/"):
        raise BadPattern("`..` in a pattern matches nothing")
    if pattern.startswith("~") and not (pattern == "~" or pattern.startswith("~/")):
        raise BadPattern("only `~/` stands for a home directory")


def absolute_patterns(pattern: str, *, roots: Iterable[str], home: str, wide: bool) -> list[str]:
    """Where a rule's pattern is anchored. `wide` is for deny and ask rules: every reading of it counts."""
    if pattern == "~" or pattern.startswith("~/"):
        return [home.rstrip("/") + pattern[1:]]
    anchors = [root.rstrip("/") for root in roots]
    if pattern.startswith("//"):
        return [pattern[1:]]
    if pattern.startswith("/"):
        return [pattern, *(anchor + pattern for anchor in anchors if wide)]
    plain = pattern.removeprefix("./")
    if "/" in plain.rstrip("/") or plain != pattern:
        return [f"{anchor}/{plain}" for anchor in anchors]
    return [f"/**/{plain}"] if wide else [f"{anchor}/**/{plain}" for anchor in anchors]


def literal_prefix(pattern: str) -> str:
    """The directory part before any wildcard."""
    head = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    return head if head == pattern else head.rpartition("/")[0]


class PathPattern(Protocol):
    def fullmatch(self, string: str, /) -> object: ...


@lru_cache(maxsize=2048)
def compiled(pattern: str, *, folded: bool) -> PathPattern:
    """`folded` patterns are matched against folded paths."""
    text = (pattern.casefold() if folded else pattern).rstrip("/")
    if text.endswith("/**"):
        text = text[:-3]  # the directory itself counts: listing or removing it reaches what is below
    tokens = _tokens(text)
    kinds = [kind for kind, _ in tokens]
    crowded = any(name.count("*") > 1 for name in text.replace("**/", "").split("/"))
    if crowded or kinds.count("deep") > 1:
        return _Places(tokens)
    return re.compile("".join(_SPELLED.get(kind, value) for kind, value in tokens) + r"(?:/.*)?", re.DOTALL)


Token = tuple[str, str]
"""`one` with a regular expression for one character, or a wildcard: `star`, `across` directories, or `**/`, which takes
two places, `deep` between directories and `within` the name of one."""

_SPELLED = {"star": "[^/]*", "deep": "(?:[^/]++/)*", "within": ""}


def _tokens(text: str) -> list[Token]:
    out: list[Token] = []
    i = 0
    while i < len(text):
        if text.startswith("**/", i):
            out += [("deep", ""), ("within", "")]
            i += 3
        elif text.startswith("**", i):
            out.append(("across", ""))
            i += 2
        elif text[i] == "*":
            out.append(("star", ""))
            i += 1
        elif text[i] == "[" and (one := _set(text, i)):
            out.append(("one", one))
            i = text.find("]", i + 2) + 1
        else:
            out.append(("one", "[^/]" if text[i] == "?" else re.escape(text[i])))
            i += 1
    return out


def _set(text: str, start: int) -> str:
    """`[…]` as a regular expression; empty when it is not one."""
    body = text[start + 1 : max(text.find("]", start + 2), 0)].replace("\\", r"\\").replace("[", r"\[")
    one = f"[^/{body[1:]}]" if body[:1] in ("!", "^") else f"[{body}]"
    try:
        re.compile(one)
    except re.error:
        return ""
    return one


class _Places:
    """A pattern as the set of places in it that a path may have reached, one bit each."""

    def __init__(self, tokens: list[Token]) -> None:
        def places(kind: str) -> int:
            return sum(1 << place for place, token in enumerate(tokens) if token[0] == kind)

        self._star, self._across, self._deep, self._within = map(places, ("star", "across", "deep", "within"))
        self._ones = [(1 << place, re.compile(value)) for place, (kind, value) in enumerate(tokens) if kind == "one"]
        self._masks: dict[str, int] = {}
        self._end = 1 << len(tokens)
        self._start = self._free(1)

    def fullmatch(self, string: str, /) -> bool:
        places = self._start
        for character in string:
            if character == "/":
                if places & self._end:
                    return True  # it covers what is below
                moved = (places & self._mask("/")) << 1 | places & self._across | (places & self._within) >> 1
            else:
                moved = (places & (self._mask(character) | self._deep)) << 1
                moved |= places & (self._star | self._across | self._within)
            places = self._free(moved)
        return bool(places & self._end)

    def _free(self, places: int) -> int:
        """With the places that are reached without a further character."""
        while True:
            more = places | (places & (self._star | self._across)) << 1 | (places & self._deep) << 2
            if more == places:
                return places
            places = more

    def _mask(self, character: str) -> int:
        if character not in self._masks:
            self._masks[character] = sum(place for place, one in self._ones if one.fullmatch(character))
        return self._masks[character]


def matches_pieces(pieces: Sequence[str], text: str) -> bool:
    """Do the pieces stand in the text in this order, the first at its start, the last at its end?"""
    first, *middle = pieces
    if not middle:
        return text == first
    last = middle.pop()
    position = len(first)
    if not text.startswith(first) or len(text) < position + len(last):
        return False
    for piece in middle:
        position = text.find(piece, position)
        if position < 0:
            return False
        position += len(piece)
    return text.endswith(last) and position <= len(text) - len(last)
