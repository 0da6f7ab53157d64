"""Which of a hook's terminal sequences may reach a terminal: titles, notifications and the bell. Pure.

Anything else (moving the cursor, clearing, links, the clipboard) is left out: what a hook prints must not be able to
draw over a question or to answer one.
"""

import re

LONGEST = 4_096
_SEQUENCE = re.compile(
    r"(?P<osc>\x1b\](?:0|1|2|9|99|777);[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\))"  # title, icon, notification
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # any other one: its end must not pass for a bell
    r"|(?P<bell>\x07)"
)


def allowed(text: object) -> str:
    """The sequences that may pass, one after the other; nothing for anything that is no text."""
    if not isinstance(text, str):
        return ""
    return "".join(match["osc"] or match["bell"] or "" for match in _SEQUENCE.finditer(text[:LONGEST]))
