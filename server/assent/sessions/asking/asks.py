"""Questions to people: permission asks and elicitations (P11, S7).

Every attached front is asked, the first answer wins, the other fronts are notified. A question lives until it is
answered or its turn ends; a front that goes away, fails or cannot ask leaves it pending, so an absent client never
allows anything. An answer that does not fit its form is none: whoever gave it is asked again, and told why.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import anyio
import msgspec
from msgspec.structs import asdict

from assent.extensions.mcp.form_answers import checked, in_words
from assent.sessions.asking.ask_answers import read_answer
from assent.sessions.asking.ask_display import displayed_ask, displayed_elicit
from assent.sessions.stream.event_log import EventLog
from assent.sessions.stream.front import CannotAnswer, Front
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ids import new_id
from assent.types.ports import Elicitation, ElicitationAnswer
from assent.wire.asks import Elicit, PendingAsk, PendingElicit, PermissionAsk
from assent.wire.events import ElicitationPending, ElicitationResolved, PermissionPending, PermissionResolved
from assent.wire.shapes import Question

log = logging.getLogger(__name__)
Refused = tuple[dict[str, str], Json]  # what is wrong with an answer, by field, and the answer itself
MOST_REFUSED = 10  # answers to one form: a program might give the same one for ever


@dataclass(slots=True, kw_only=True)
class OpenQuestion:
    id: str
    asked: PendingAsk | PendingElicit  # as sent, without the requestId, which is each front's own
    answer: Json | None = None
    by: str = ""
    who: str = ""  # the client that answered, by its name
    refused: int = 0  # how many answers did not fit
    settled: anyio.Event = field(default_factory=anyio.Event)
    requests: dict[str, Front] = field(default_factory=dict[str, Front])  # those out, by requestId; any may be answered
    tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])


class Asks:
    """The open questions of one session."""

    def __init__(self, events: EventLog, *, on_change: Callable[[], None] = lambda: None) -> None:
        self._events = events
        self._open: dict[str, OpenQuestion] = {}
        self._on_change = on_change

    def permissions(self) -> list[PendingAsk]:
        return [each.asked for each in self._open.values() if isinstance(each.asked, PendingAsk)]

    def elicitations(self) -> list[PendingElicit]:
        return [each.asked for each in self._open.values() if isinstance(each.asked, PendingElicit)]

    def __bool__(self) -> bool:
        return bool(self._open)

    def of_someone_at_work(self) -> bool:
        """Not only questions of a turn that was cut off: nobody works on while those are open."""
        return bool(self.elicitations()) or any(not ask.orphan for ask in self.permissions())

    def open(self, asked: PendingAsk | PendingElicit) -> OpenQuestion:
        """Publish the question and put it to everyone attached. The event goes out before any front is asked."""
        if isinstance(asked, PendingAsk):
            question = OpenQuestion(id=asked.ask_id, asked=displayed_ask(asked))
        else:
            question = OpenQuestion(id=asked.elicit_id, asked=displayed_elicit(asked))
        self._open[question.id] = question
        self._events.publish(_pending(question.asked))  # the ask itself carries the rest
        for subscription in list(self._events.subscriptions.values()):
            self._put(question, subscription.front)
        self._on_change()
        return question

    async def wait(self, question: OpenQuestion, *, timeout: float | None = None) -> Json | None:
        """The winning answer, or None when the question became moot or nobody answered in time."""
        try:
            with anyio.move_on_after(timeout):
                await question.settled.wait()
        finally:
            if question.id in self._open:
                self._settle(question, None, by="timeout" if timeout else "interrupted")
        return question.answer

    def answer(self, question_id: str, answer: Json, *, by: str, who: str = "") -> bool:
        """An answer that came some other way (a code action, `edit/resolve`); False when it was too late.

        Raises ProtocolError for one that does not fit its form; the question stays open.
        """
        question = self._open.get(question_id)
        if question is None:
            return False
        if problems := _problems(question, answer):
            words = f"That answer does not fit the form: {in_words(problems)}"
            raise ProtocolError("invalidParams", words, data={"problems": problems})
        self._settle(question, answer, by=by, who=who)
        return True

    def require(self, question_id: str) -> OpenQuestion:
        question = self._open.get(question_id)
        if question is None:
            raise ProtocolError(
                "unknownAsk", "That question is no longer open", hint="It was answered elsewhere or its turn ended."
            )
        return question

    def withdraw(self, question_id: str, *, by: str) -> None:
        """The answer is no longer needed."""
        question = self._open.get(question_id)
        if question is not None:
            self._settle(question, None, by=by)

    def attach(self, front: Front) -> None:
        """A front came (back): it is asked everything that is still open."""
        for question in list(self._open.values()):
            self._put(question, front)

    def detach(self, front: Front) -> None:
        for question in self._open.values():
            for request_id in [each for each, asked in question.requests.items() if asked is front]:
                del question.requests[request_id]

    def _put(self, question: OpenQuestion, front: Front, refused: Refused | None = None) -> None:
        """Put it once more also to a front that has it already: whichever of its requests is answered counts."""
        subscription = self._events.subscribe(front)
        request_id = new_id("r")

        def start() -> None:
            if question.settled.is_set():
                return
            question.requests[request_id] = front
            task = asyncio.get_running_loop().create_task(self._ask(question, front, request_id, refused))
            question.tasks.add(task)
            task.add_done_callback(question.tasks.discard)

        subscription.when_released(start)

    async def _ask(self, question: OpenQuestion, front: Front, request_id: str, refused: Refused | None) -> None:
        fields: Json = asdict(question.asked)
        try:
            if isinstance(question.asked, PendingAsk):
                answer = await front.ask(PermissionAsk(request_id=request_id, **fields))
            else:
                elicit = Elicit(request_id=request_id, **fields)
                if refused is not None:
                    elicit.problems, elicit.given = refused
                answer = await front.elicit(elicit)
        except CannotAnswer:
            return
        except Exception:
            log.warning("a client failed to answer %s; the question stays open", question.id, exc_info=True)
            return
        if question.requests.pop(request_id, None) is None or question.id not in self._open:
            return
        if problems := _problems(question, answer):
            question.refused += 1
            if question.refused < MOST_REFUSED:
                self._put(question, front, (problems, _content(answer)))
                return
            answer = {"action": "cancel"}
        self._settle(question, answer, by="client", who=front.flags.name)

    def _settle(self, question: OpenQuestion, answer: Json | None, *, by: str, who: str = "") -> None:
        if self._open.pop(question.id, None) is None:
            return
        question.answer = answer
        question.by, question.who = by, who
        for request_id, front in question.requests.items():
            front.withdraw(request_id)
        question.requests.clear()
        # Tasks still awaiting a front are left to end on their own: their late answers find the question closed.
        asked, client = question.asked, who or None
        if isinstance(asked, PendingAsk):
            decision = None if answer is None else "allow" if read_answer(answer).allowed else "deny"
            self._events.publish(
                PermissionResolved(
                    question.id, decision=decision, by=by, tool=asked.tool, title=asked.title, client=client
                )
            )
        else:
            self._events.publish(ElicitationResolved(question.id, by=by, client=client))
        question.settled.set()
        self._on_change()


async def elicited(asks: Asks, session_id: str, elicitation: Elicitation) -> ElicitationAnswer:
    """Put a question of the agent to the user. An answer that makes no sense, or none at all, is a cancel."""
    asked = PendingElicit(session_id, elicit_id=new_id("e"), message=elicitation.message)
    if elicitation.questions:
        asked.questions = msgspec.convert(elicitation.questions, list[Question])
    elif elicitation.schema is not None:
        asked.schema = elicitation.schema
    else:
        asked.url = elicitation.url
    answer = await asks.wait(asks.open(asked)) or {}
    action, given = answer.get("action"), _content(answer)
    if elicitation.schema is not None:
        given, _ = checked(elicitation.schema, given)
    if action not in ("accept", "decline", "cancel") or (action == "accept" and not _answers(elicitation, given)):
        return ElicitationAnswer(action="cancel")
    return ElicitationAnswer(action=action, content=given)


def _pending(asked: PendingAsk | PendingElicit) -> PermissionPending | ElicitationPending:
    if isinstance(asked, PendingElicit):
        return ElicitationPending(asked.elicit_id, message=asked.message)
    return PermissionPending(
        asked.ask_id,
        tool_use_id=asked.tool_use_id,
        tool=asked.tool,
        title=asked.title,
        reason=asked.reason,
        step=asked.step,
        orphan=asked.orphan,
    )


def _content(answer: Json) -> Json:
    content: object = answer.get("content")
    return cast("Json", content) if isinstance(content, dict) else {}


def _problems(question: OpenQuestion, answer: Json) -> dict[str, str]:
    """What is wrong with an accepted form, by field."""
    schema = question.asked.schema if isinstance(question.asked, PendingElicit) else None
    return checked(schema, _content(answer))[1] if schema and answer.get("action") == "accept" else {}


def _answers(elicitation: Elicitation, content: Json) -> bool:
    """Whether an accepted question got any answer; a page that was visited and a form that fits are answers."""
    if not elicitation.questions:
        return True
    asked = {str(question["id"]) for question in elicitation.questions}
    given = [content.get("answers"), content.get("other")]
    return any(cast("Json", each).get(id) for each in given if isinstance(each, dict) for id in asked)
