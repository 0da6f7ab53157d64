"""Path patterns of rules, read the way .gitignore reads them, as regular expressions over absolute paths.

`~/x` is in the home directory, `/x` absolute; `a/b` starts at a workspace root; a name without a slash matches at any
depth. A pattern that matches a directory covers everything below it.
"""

import re
from collections.abc import Iterable
from functools import lru_cache


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


@lru_cache(maxsize=2048)
def compiled(pattern: str, *, folded: bool) -> re.Pattern[str]:
    """`folded` patterns are matched against folded paths."""
    text = pattern.casefold() if folded else pattern
    text = text.rstrip("/")
    if text.endswith("/**"):
        text = text[:-3]  # the directory itself counts: listing or removing it reaches what is below
    out: list[str] = []
    i = 0
    while i < len(text):
        if text.startswith("**/", i):
            out.append("(?:[^/]+/)*")
            i += 3
        elif text.startswith("**", i):
            out.append(".*")
            i += 2
        elif text[i] == "*":
            out.append("[^/]*")
            i += 1
        elif text[i] == "?":
            out.append("[^/]")
            i += 1
        elif text[i] == "[" and (end := text.find("]", i + 2)) > 0:
            body = text[i + 1 : end].replace("\\", r"\\").replace("[", r"\[")
            out.append("[^" + body[1:] + "]" if body[0] in "!^" else f"[{body}]")
            i = end + 1
        else:
            out.append(re.escape(text[i]))
            i += 1
    try:
        return re.compile("".join(out) + r"(?:/.*)?", re.DOTALL)
    except re.error:
        return re.compile(re.escape(text) + r"(?:/.*)?", re.DOTALL)
