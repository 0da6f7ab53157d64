"""An answer in Markdown on a terminal, block by block while it streams. Built on rich.

A block is printed when it is whole: a paragraph at its blank line, a fence where it closes. Text of the model passes
`readable` first, so nothing in it moves the cursor; addresses of links are written out, since a terminal hides them.
"""

import io
import re
from collections.abc import Callable

from rich.console import Console
from rich.markdown import Markdown

from assent.text.visible import readable

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_MOST = 20_000  # characters of one block; a longer one is printed as it is


class MarkdownStream:
    def __init__(self, width: Callable[[], int]) -> None:
        self._width = width  # asked at each block: a window may become narrower meanwhile
        self._open = ""  # what is not printed yet

    def add(self, text: str) -> str:
        """What can be printed now that this came too."""
        self._open += readable(text)
        whole, self._open = _whole_blocks(self._open)
        return self._rendered(whole)

    def finish(self) -> str:
        rest, self._open = self._open, ""
        return self._rendered(rest)

    def _rendered(self, text: str) -> str:
        if not text.strip():
            return ""
        if len(text) > _MOST:
            return text
        out = io.StringIO()
        console = Console(
            file=out, width=max(20, self._width()), force_terminal=True, color_system="standard", highlight=False
        )
        console.print(Markdown(text, hyperlinks=False, code_theme="ansi_dark"))
        return out.getvalue()


def _whole_blocks(text: str) -> tuple[str, str]:
    """The text up to the last end of a block outside of a fence, and the rest."""
    cut, at, fence = 0, 0, ""
    for line in text.splitlines(keepends=True):
        if not line.endswith("\n"):
            break
        at += len(line)
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not line[found.end() :].strip():
                fence, cut = "", at
        elif found:
            fence = found[1]
        elif not line.strip():
            cut = at
    return text[:cut], text[cut:]
