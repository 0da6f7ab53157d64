"""The engine's messages of one session on their way to clients: through MessageDisplay hooks, as events, numbered.

`unshown` are the messages that the engine has written to the transcript and clients have not received as events yet.
"""

from __future__ import annotations

from collections.abc import Callable

from assent.sessions.live.inbox import QueuedTurn
from assent.sessions.live.owning_session import OwningSession
from assent.sessions.stream.message_display import Display
from assent.sessions.stream.shown import DISPLAY
from assent.sessions.stream.translate import Delta, EventTranslator, parent_of
from assent.types.blocks import Json
from assent.types.hooks import HookCall
from assent.types.messages import Message, Spent, StreamEvent


class EngineOutput:
    def __init__(self, session: OwningSession, turn: Callable[[], QueuedTurn | None]) -> None:
        self.unshown: set[str] = set()
        self._session = session
        self._turn = turn
        self._translator = EventTranslator()
        self._display = Display(session.hooks, self._hook_call, self._keep_displayed)

    @property
    def total_cost(self) -> float:
        return self._translator.total_cost

    def begin_turn(self) -> None:
        self._session.events.step_id = self._translator.step_id = None

    def engine_built(self) -> None:
        """A new engine counts costs from the session's total on."""
        self._translator = EventTranslator(total_cost=self._session.cost_usd)

    def engine_ready(self) -> None:
        """The model may have changed, and its context window with it."""
        session = self._session
        self._translator.context_window = session.deps.model_info(session.options.model).context_window

    async def take(self, message: Message) -> None:
        """Show a message of the running turn, as MessageDisplay hooks want it shown."""
        displayed = await self._display.of(message)
        if displayed is not None:
            self.show(displayed)

    def show(self, message: Message) -> None:
        """Publish one engine message as events."""
        events = self._session.events
        if isinstance(message, StreamEvent):
            piece = self._translator.delta(message)
            if isinstance(piece, Delta):
                events.delta(piece)
            elif piece is not None:
                events.publish(piece, parent=parent_of(message))
            return
        self.unshown.discard(getattr(message, "uuid", ""))
        parent = parent_of(message)
        for event in self._translator.events(message):
            events.step_id = self._translator.step_id
            events.publish(event, parent=parent)

    def written(self, message: Message) -> None:
        """The transcript has this message."""
        if isinstance(message, Spent):
            self._session.spent = message
            self._session.cost_usd = message.total_cost_usd
        uuid, turn = getattr(message, "uuid", None), self._turn()
        if uuid is not None and turn is not None and uuid != turn.uuid:
            self.unshown.add(uuid)

    def _hook_call(self, data: Json, agent: str | None) -> HookCall:
        session, turn = self._session, self._turn()
        return HookCall(
            event="MessageDisplay",
            session_id=session.id,
            cwd=session.state.cwd,
            data={"turn_id": turn.id if turn is not None else "", **data},
            agent_id=agent,
            detached=True,
        )

    def _keep_displayed(self, uuid: str, text: str) -> None:
        self._session.record.note("shown", event={"type": DISPLAY, "id": uuid, "text": text})
