"""What an editor attaches to a prompt besides files: problems, a terminal's output, a diff. One form for all of it.

It is a block of its own in the user's message. People see it as something attached; nothing in it is taken for their
words, so a name with an @ in a terminal's output mentions nothing.
"""

import re
from collections.abc import Sequence

from assent.types.blocks import Block, text_of

MOST_CHARACTERS = 60_000

_SAID = "The user attached"
_FORM = re.compile(rf"{_SAID} [^\n]*:\n`{{3,}}\n")


def attached(label: str, text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]}\n… {len(text) - MOST_CHARACTERS} more characters"
    return f"{_SAID} {' '.join(label.split())}:\n{fenced(text)}"


def is_attached(text: str) -> bool:
    return _FORM.match(text) is not None


def own_words(blocks: Sequence[Block]) -> str:
    """What the person typed of a prompt."""
    return text_of([block for block in blocks if not is_attached(str(block.get("text", "")))])


def fenced(text: str) -> str:
    """Text in a Markdown fence that it cannot close."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text.rstrip()}\n{fence}"
