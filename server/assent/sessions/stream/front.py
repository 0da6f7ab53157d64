"""A front is one connected client, as sessions see it: something that takes events and can be asked.

Sessions never know whether a front is an editor, a terminal or a test. Every implementation follows three rules:

1. `event` never blocks and never raises; back-pressure is the front's own affair.
2. A front that cannot answer (its client lacks the method, or has gone) raises `CannotAnswer`, or simply never
   returns: the question then stays pending. Only a real answer decides, so a vanished client never allows.
3. Deltas arrive already merged to at most `max_event_rate` frames a second per block and are numbered after the
   merge, so what a client sees stays gap-free. A writer may merge only deltas still queued behind a client that does
   not read.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from assent.sessions.stream.published import Published
from assent.types.blocks import Json
from assent.wire.asks import Elicit, PermissionAsk

DEFAULT_EVENT_RATE = 60


class CannotAnswer(Exception):
    """This front has no way to put the question to anyone; that is not a denial."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontFlags:
    """What the client claimed in `initializationOptions.assent`; what it did not claim falls back to plain LSP."""

    permissions: bool = False
    elicitation: bool = False
    review: bool = False
    editor_queries: bool = False
    save: bool = False
    partials: bool = False
    edit_moved: bool = False
    max_event_rate: int = DEFAULT_EVENT_RATE  # frames per second and block; 0 = no merging
    name: str = ""  # what the client calls itself; others are told who answered
    numbered: bool = True  # False: it counts no numbers, so deltas only for it stay out of the stream


class Front(Protocol):
    @property
    def flags(self) -> FrontFlags: ...

    def event(self, published: Published) -> None:
        """One `assent/session/event`, shared by all fronts: do not change it."""
        ...

    async def ask(self, ask: PermissionAsk) -> Json:
        """`assent/permission/ask`, with the request id that `withdraw` names. The answer comes as it was given."""
        ...

    async def elicit(self, elicit: Elicit) -> Json:
        """`assent/elicit`."""
        ...

    def withdraw(self, request_id: str) -> None:
        """Someone else answered, or the question no longer matters: `assent/withdrawn`. A late answer is dropped."""
        ...


@dataclass(slots=True, kw_only=True)
class Call:
    """One incoming request: who sent it, and what the wire reports about it while it is served.

    The wire sets `answered` right after it has written the response: events of the session for that front are held
    back until then, so no event overtakes the answer that names its id. It sets `cancelled` on `$/cancelRequest` and
    goes on awaiting: a waiting send answers its normal result, a tool run fails with `cancelled`.
    """

    front: Front | None = None
    answered: anyio.Event | None = None  # None: nobody waits for a response on a wire
    cancelled: anyio.Event = field(default_factory=anyio.Event)
    progress: Callable[[str], None] = lambda _text: None
