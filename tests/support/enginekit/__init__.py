"""The real engine on the real model client and a strict fake API over loopback, for tests of the whole turn.

    async with Stage(tools=[Echo()]) as stage:
        stage.api.reply(tool("Echo", text="hi"))
        stage.api.reply(text("done"))
        turn = await stage.turn("hello")
        assert turn.transitions == ["next_turn"]

`stage.turn` checks what must hold after every turn whatever happened: see `invariants`. Nothing waits for the clock:
retries sleep on a clock that only counts, and every wait is bounded.
"""

from enginekit.invariants import assert_conversation_valid, assert_turn_valid
from enginekit.parts import make_engine
from enginekit.stage import Recorder, Stage, TurnLog
from enginekit.tools import Change, Crash, Echo, Fail, Gate, Long, Reader, Shell

__all__ = [
    "Change",
    "Crash",
    "Echo",
    "Fail",
    "Gate",
    "Long",
    "Reader",
    "Recorder",
    "Shell",
    "Stage",
    "TurnLog",
    "assert_conversation_valid",
    "assert_turn_valid",
    "make_engine",
]
