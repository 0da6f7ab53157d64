"""Before each model call: the view is made small enough, by the lightest means that do it (L4)."""

from assent.engine.state import State, Terminal
from assent.engine.turn import Turn


async def prepare(turn: Turn, state: State) -> State | Terminal:
    return state


def drain_collapses(turn: Turn) -> int:
    return 0


def strip_media(turn: Turn) -> bool:
    return False
