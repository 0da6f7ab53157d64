"""Questions to people: permission asks and elicitations (P11, S7).

Every attached front is asked, one answer wins, the others are told. A question lives until it is answered or its turn
ends; a front that goes away, fails or cannot ask leaves it pending, so nobody's absence ever allows anything.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, cast

import anyio
import msgspec

from assent.sessions.asking.answers import read_answer
from assent.sessions.asking.display import displayed_ask, displayed_elicit
from assent.sessions.stream.event_log import EventLog
from assent.sessions.stream.front import CannotAnswer, Front
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ids import new_id
from assent.types.ports import Elicitation, ElicitationAnswer
from assent.wire.events import ElicitationPending, ElicitationResolved, PermissionPending, PermissionResolved

log = logging.getLogger(__name__)
Kind = Literal["permission", "elicitation"]


@dataclass(slots=True, kw_only=True)
class Question:
    kind: Kind
    id: str
    params: Json  # as sent, without the requestId, which is each front's own
    answer: Json | None = None
    by: str = ""
    settled: anyio.Event = field(default_factory=anyio.Event)
    requests: dict[str, Front] = field(default_factory=dict[str, Front])  # those out, by requestId; any may be answered
    tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])


class Asks:
    """The open questions of one session."""

    def __init__(self, events: EventLog, *, on_change: Callable[[], None] = lambda: None) -> None:
        self._events = events
        self._open: dict[str, Question] = {}
        self._on_change = on_change

    def pending(self, kind: Kind) -> list[Json]:
        return [question.params for question in self._open.values() if question.kind == kind]

    def __bool__(self) -> bool:
        return bool(self._open)

    def open(self, kind: Kind, question_id: str, params: Json) -> Question:
        """Publish the question and put it to everyone attached. The event goes out before any front is asked."""
        params = displayed_ask(params) if kind == "permission" else displayed_elicit(params)
        question = Question(kind=kind, id=question_id, params=params)
        self._open[question_id] = question
        pending = PermissionPending if kind == "permission" else ElicitationPending
        self._events.publish(msgspec.convert(params, pending))  # the ask itself carries the rest
        for subscription in list(self._events.subscriptions.values()):
            self._put(question, subscription.front)
        self._on_change()
        return question

    async def wait(self, question: Question, *, timeout: float | None = None) -> Json | None:
        """The winning answer, or None when the question became moot or nobody answered in time."""
        try:
            with anyio.move_on_after(timeout):
                await question.settled.wait()
        finally:
            if question.id in self._open:
                self._settle(question, None, by="timeout" if timeout else "interrupted")
        return question.answer

    def answer(self, question_id: str, answer: Json, *, by: str) -> bool:
        """An answer that came some other way (a code action, `edit/resolve`); False when it was too late."""
        question = self._open.get(question_id)
        if question is None:
            return False
        self._settle(question, answer, by=by)
        return True

    def require(self, question_id: str) -> Question:
        question = self._open.get(question_id)
        if question is None:
            raise ProtocolError(
                "unknownAsk", "That question is no longer open", hint="It was answered elsewhere or its turn ended."
            )
        return question

    def withdraw(self, question_id: str, *, by: str) -> None:
        """Nobody needs the answer any more."""
        question = self._open.get(question_id)
        if question is not None:
            self._settle(question, None, by=by)

    def withdraw_all(self, *, by: str) -> None:
        for question_id in list(self._open):
            self.withdraw(question_id, by=by)

    def attach(self, front: Front) -> None:
        """A front came (back): it is asked everything that is still open."""
        for question in list(self._open.values()):
            self._put(question, front)

    def detach(self, front: Front) -> None:
        for question in self._open.values():
            for request_id in [each for each, asked in question.requests.items() if asked is front]:
                del question.requests[request_id]

    def _put(self, question: Question, front: Front) -> None:
        """Put it once more also to a front that has it already: whichever of its requests is answered counts."""
        subscription = self._events.subscribe(front)
        request_id = new_id("r")

        def start() -> None:
            if question.settled.is_set():
                return
            question.requests[request_id] = front
            task = asyncio.get_running_loop().create_task(self._ask(question, front, request_id))
            question.tasks.add(task)
            task.add_done_callback(question.tasks.discard)

        subscription.when_released(start)

    async def _ask(self, question: Question, front: Front, request_id: str) -> None:
        params = {"requestId": request_id, **question.params}
        try:
            if question.kind == "permission":
                answer = await front.ask(params)
            else:
                answer = await front.elicit(params)
        except CannotAnswer:
            return
        except Exception:
            log.warning("a client failed to answer %s; the question stays open", question.id, exc_info=True)
            return
        if question.requests.pop(request_id, None) is not None and question.id in self._open:
            self._settle(question, answer, by="client")

    def _settle(self, question: Question, answer: Json | None, *, by: str) -> None:
        if self._open.pop(question.id, None) is None:
            return
        question.answer = answer
        question.by = by
        for request_id, front in question.requests.items():
            front.withdraw(request_id)
        question.requests.clear()
        # Tasks still awaiting a front are left to end on their own: their late answers find the question closed.
        if question.kind == "elicitation":
            self._events.publish(ElicitationResolved(question.id, by=by))
        else:
            decision = None if answer is None else "allow" if read_answer(answer).allowed else "deny"
            tool, title = question.params.get("tool"), question.params.get("title")
            self._events.publish(PermissionResolved(question.id, decision=decision, by=by, tool=tool, title=title))
        question.settled.set()
        self._on_change()


async def elicited(asks: Asks, session_id: str, elicitation: Elicitation) -> ElicitationAnswer:
    """Put a question of the agent to the user. An answer that makes no sense, or none at all, is a cancel."""
    elicit_id = new_id("e")
    params: Json = {"sessionId": session_id, "elicitId": elicit_id, "message": elicitation.message}
    if elicitation.questions:
        params["questions"] = list(elicitation.questions)
    elif elicitation.schema is not None:
        params["schema"] = elicitation.schema
    else:
        params["url"] = elicitation.url
    answer = await asks.wait(asks.open("elicitation", elicit_id, params)) or {}
    action, content = answer.get("action"), answer.get("content")
    given = cast("Json", content) if isinstance(content, dict) else {}
    if action not in ("accept", "decline", "cancel") or (action == "accept" and not _answers(elicitation, given)):
        return ElicitationAnswer(action="cancel")
    return ElicitationAnswer(action=action, content=given)


def _answers(elicitation: Elicitation, content: Json) -> bool:
    """Whether an accepted question got any answer; visiting an address is one in itself."""
    if not elicitation.questions:
        return bool(content) or elicitation.schema is None
    asked = {str(question["id"]) for question in elicitation.questions}
    given = [content.get("answers"), content.get("other")]
    return any(cast("Json", each).get(id) for each in given if isinstance(each, dict) for id in asked)
