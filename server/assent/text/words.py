"""Words for people on one line, counted nouns, and tables written as words."""

from collections.abc import Mapping
from typing import Any


def one_line(text: str, *, most: int | None = None) -> str:
    """Without line ends and without characters that are not seen or turn the reading order around; cut to `most`."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if most is None or len(line) <= most else line[: most - 1].rstrip() + "…"


def counted(number: int, noun: str) -> str:
    """`1 line`, `2 lines`, `1 match`, `3 matches`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun}es" if noun.endswith("ch") else f"{number} {noun}s"


def nearly_full(event: Mapping[str, Any]) -> str:
    """A `compactSoon` event in a sentence: how full the conversation is, and what goes when it is summarised."""
    return f"The conversation has {event['tokens']:,} tokens. At {event['threshold']:,}, {event['wouldGo']}."


def names(table: str) -> frozenset[str]:
    """The words of a table written as text, which reads better than hundreds of quotes."""
    return frozenset(table.split())
