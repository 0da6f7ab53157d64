"""The session's event stream: numbered, remembered, delivered (S6, S7).

Rules:
1. Numbers start at 1 and have no gaps, per session and epoch (one process). Every front sees the same numbers.
2. Deltas of one block are merged BEFORE they are numbered: the first goes out at once, then at most the fastest
   front's rate. Any other event first flushes what waits, so nothing is reordered. No deltas if nobody wants them.
3. The last `RING` events can be replayed. Older ones are in the transcript, as messages.
4. A subscription can be held: events wait until the wire has written the answer that names their id.
5. A front that counts no numbers (a chat document) gets deltas that nobody else wants beside the stream: a client
   without partials must not see their numbers missing.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import anyio

from assent.sessions.stream.event_store import RingStore
from assent.sessions.stream.front import Call, Front
from assent.sessions.stream.published import Published, from_line, published
from assent.sessions.stream.translate import Delta
from assent.wire.events import (
    AnyEvent,
    EditMoved,
    MessageEvent,
    SessionEvent,
    TextDelta,
    ThinkingDelta,
    Tombstone,
    ToolInputDelta,
    ToolPreparing,
)

RING = 12_000
RING_BYTES = 32 * 1024 * 1024  # in memory; long events are not

HOLD_SECONDS = 30.0  # a front that died before its answer was written must not hold its events for ever

_Block = tuple[type, str]  # the kind of a delta, and the id of its block


@dataclass(slots=True, kw_only=True)
class Subscription:
    front: Front
    holds: int = 0
    waiting: list[Published] = field(default_factory=list[Published])
    on_release: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def deliver(self, event: Published) -> None:
        if not self.front.flags.partials and event.is_delta:
            return
        if self.holds:
            self.waiting.append(event)
        else:
            self.front.event(event)

    def hold(self) -> None:
        self.holds += 1

    def release(self) -> None:
        self.holds -= 1
        if self.holds == 0:
            waiting, self.waiting = self.waiting, []
            for event in waiting:
                self.front.event(event)
            calls, self.on_release = self.on_release, []
            for call in calls:
                call()

    def when_released(self, call: Callable[[], None]) -> None:
        """Now, or as soon as everything held has gone out: an ask must not overtake its permissionPending."""
        if self.holds:
            self.on_release.append(call)
        else:
            call()


class EventLog:
    def __init__(self, session_id: str, epoch: str) -> None:
        self.session_id = session_id
        self.epoch = epoch
        self.last_seq = 0
        self._before = 0  # the last number of an earlier opening in this process
        self.turn_id: str | None = None
        self.step_id: str | None = None
        self.subscriptions: dict[int, Subscription] = {}
        self.on_event: Callable[[AnyEvent, str | None], None] = lambda _event, _parent: None
        self._ring = RingStore(most=RING, most_bytes=RING_BYTES)
        self._pending: dict[_Block, tuple[Delta, list[str]]] = {}
        self._sent: dict[_Block, float] = {}
        self._growing: dict[str, int] = {}  # blocks and calls still being written, with the number of their first event
        self._timer: asyncio.TimerHandle | None = None

    def go_on_from(self, last_seq: int) -> None:
        """The session was open here before: its numbers go on; events of the time in between are unknown."""
        self.last_seq = self._before = last_seq

    @property
    def first_seq(self) -> int:
        """The oldest event that can still be replayed."""
        return self.last_seq - len(self._ring) + 1

    def publish(
        self,
        event: AnyEvent,
        *,
        parent: str | None = None,
        outside_turn: bool = False,
        brief: EditMoved | None = None,
    ) -> int:
        """`brief` is a shorter form for clients that claim it; both forms have the same number."""
        if self._pending:
            self.flush()
        self.on_event(event, parent)
        return self._publish(event, parent, outside_turn=outside_turn, brief=brief)

    def delta(self, delta: Delta) -> None:
        rate = self._rate()
        if rate is None or not delta.text:
            return
        key = (delta.kind, delta.id)
        if key in self._pending:
            self._pending[key][1].append(delta.text)
            return
        loop = asyncio.get_running_loop()
        now = loop.time()
        due = self._sent.get(key, 0.0) + 1 / rate if rate else now
        if due <= now:
            if any(other[1] == delta.id for other in self._pending):
                self.flush()
            self._emit(delta, delta.text, now)
            return
        self._pending[key] = (delta, [delta.text])
        if self._timer is None:
            self._timer = loop.call_at(due, self.flush)

    def flush(self) -> None:
        """Send the deltas that are held back to be merged."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._pending:
            pending, self._pending = self._pending, {}
            now = asyncio.get_running_loop().time()
            for delta, texts in pending.values():
                self._emit(delta, "".join(texts), now)

    def replay(self, after_seq: int) -> list[Published] | None:
        """Events after this one, or None when they are no longer (or not yet) known."""
        if after_seq > self.last_seq or after_seq + 1 < self.first_seq or 0 < after_seq <= self._before:
            return None
        skip = after_seq + 1 - self.first_seq
        return [from_line(line) for line in self._ring.since(skip)]

    def replay_growing(self) -> list[Published]:
        """Everything since the oldest block that is still being written, for a front that comes in the middle of it."""
        begun = min(self._growing.values(), default=0)
        return (self.replay(begun - 1) or []) if begun >= self.first_seq else []

    def subscribe(self, front: Front) -> Subscription:
        found = self.subscriptions.get(id(front))
        if found is None:
            found = self.subscriptions[id(front)] = Subscription(front=front)
        return found

    def join(self, call: Call, spawn: Callable[[Callable[[], Coroutine[Any, Any, None]]], None]) -> None:
        """Subscribe the caller's front; its events are held until the answer to the call is written."""
        if call.front is None:
            return
        subscription = self.subscribe(call.front)
        if call.answered is None:
            return
        answered = call.answered
        subscription.hold()

        async def release() -> None:
            try:
                with anyio.move_on_after(HOLD_SECONDS):
                    await answered.wait()
            finally:
                subscription.release()

        spawn(release)

    def unsubscribe(self, front: Front) -> None:
        self.subscriptions.pop(id(front), None)

    def turn_ended(self) -> None:
        """What follows belongs to no turn, and the blocks of the last one get no more deltas."""
        self.turn_id = self.step_id = None
        self._sent.clear()
        self._growing.clear()

    def _emit(self, delta: Delta, text: str, now: float) -> None:
        self._sent[(delta.kind, delta.id)] = now
        event = delta.kind(delta.id, text)
        wanting = [found for found in self.subscriptions.values() if found.front.flags.partials]
        if any(found.front.flags.numbered for found in wanting):
            # No turnId and no stepId: there are thousands of these, and their block names the step's message.
            self._publish(event, delta.parent, outside_turn=True)
            return
        beside = published(SessionEvent(self.session_id, self.last_seq, event, parent_tool_use_id=delta.parent))
        for subscription in wanting:
            subscription.deliver(beside)

    def _publish(
        self, event: AnyEvent, parent: str | None, *, outside_turn: bool = False, brief: EditMoved | None = None
    ) -> int:
        self.last_seq += 1
        self._grown(event)
        inside = self.turn_id is not None and not outside_turn
        sent = published(
            SessionEvent(
                self.session_id,
                self.last_seq,
                event,
                turn_id=self.turn_id if inside else None,
                step_id=self.step_id if inside else None,
                parent_tool_use_id=parent,
            )
        )
        self._ring.append(sent.line)  # as bytes: a tenth of the memory of the objects
        short = sent if brief is None else published(SessionEvent(self.session_id, self.last_seq, brief))
        for subscription in list(self.subscriptions.values()):
            subscription.deliver(short if subscription.front.flags.edit_moved else sent)
        return self.last_seq

    def _grown(self, event: AnyEvent) -> None:
        """Note which blocks are still being written, and from which event on."""
        match event:
            case TextDelta() | ThinkingDelta():
                self._growing.setdefault(event.block_id, self.last_seq)
            case ToolPreparing() | ToolInputDelta():
                self._growing.setdefault(event.tool_use_id, self.last_seq)
            case MessageEvent():
                self._growing.pop(event.id, None)
                for part in event.content:
                    self._growing.pop(str(part.get("id")), None)
            case Tombstone():
                self._growing.clear()
            case _:
                pass

    def _rate(self) -> int | None:
        """The rate of the fastest front; 0 = do not merge, None = no front takes partials."""
        rates = [s.front.flags.max_event_rate for s in self.subscriptions.values() if s.front.flags.partials]
        if not rates:
            return None
        return 0 if min(rates) <= 0 else max(rates)
