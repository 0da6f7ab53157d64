"""Which turn the running code serves, so that calls beside a conversation stand one below it in log and trace.

A turn says so once, in its own task; what it starts (tools, hooks, questions of servers) inherits it. Nothing else
depends on it: a call that names its own chain never looks here.
"""

from contextvars import ContextVar
from dataclasses import replace

from assent.types.ids import new_id
from assent.types.ports import Chain

served: ContextVar[Chain | None] = ContextVar("served", default=None)


def chain_beside(session_id: str) -> Chain:
    """For a call that serves the turn of this code; outside of one it begins a chain of its own."""
    turn = served.get()
    if turn is None or turn.session_id != session_id:
        return Chain(id=new_id(), session_id=session_id, depth=1)
    return replace(turn, depth=turn.depth + 1)
