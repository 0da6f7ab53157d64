"""Compaction: the conversation so far becomes a summary, and the view starts again there (C5, C6).

The summarising call is a fork of the conversation on the same cached prefix. The words for it, and what is kept beside
the summary, are pure functions in `context/compact.py`; here is the I/O: hooks, the call, the boundary.
"""

from typing import Literal

from assent.engine.state import State
from assent.engine.turn import Turn


async def compact(
    turn: Turn, state: State, *, trigger: Literal["auto", "manual", "reactive"], instructions: str = ""
) -> bool:
    """Summarise the view and start it anew. False when that failed; nothing has changed then."""
    return False
