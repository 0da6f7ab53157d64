"""Answers to forms: one that does not fit is no answer; whoever gave it is asked again and told why (P11, S7)."""

from pathlib import Path
from typing import Any

import pytest

from assent.sessions.asking.asks import MOST_REFUSED
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.permissions import Action
from assent.types.ports import Elicitation
from sessions.harness import Note, NoteInput, TestFront, running, say, use

FORM: Json = {
    "type": "object",
    "properties": {"when": {"type": "string", "format": "date"}, "note": {"type": "string", "minLength": 3}},
    "required": ["when"],
}
OPTIONAL: Json = {"type": "object", "properties": {"note": {"type": "string"}}}
WRONG: Json = {"action": "accept", "content": {"when": "soon", "note": "no"}}
RIGHT: Json = {"action": "accept", "content": {"when": "2026-01-31", "note": ""}}


class Form(Note):
    """Has a form filled in instead of taking notes."""

    name = "Form"

    def __init__(self, form: Json = FORM) -> None:
        super().__init__()
        self.form = form

    def action(self, input: NoteInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input={"text": input.text}, harmless=True)

    async def call(self, input: NoteInput, ctx: Any) -> Any:
        answer = await ctx.elicit(Elicitation(message="when?", schema=self.form, server="plain", words="when?"))
        self.notes.append(f"{answer.action} {dict(answer.content)}")
        return await super().call(input, ctx)


async def test_an_answer_that_does_not_fit_is_asked_for_again_with_the_reason_of_each_field(tmp_path: Path) -> None:
    front, other, tool = TestFront(), TestFront(), Form()
    async with running(tmp_path, [use("Form", text="x")], say("done"), tools=[tool]) as app:
        session = await app.new(front)
        await app.request("session/attach", other, sessionId=session)
        front.answer(WRONG)
        await app.send(session, "go", front)
        await front.until(lambda: len(front.elicited) == 2)
        first, second = front.elicited
        assert "problems" not in first and first["elicitId"] == second["elicitId"]
        assert second["problems"] == {
            "when": "a date like 2026-01-31 is expected",
            "note": "at least 3 characters are expected",
        }
        assert second["given"] == WRONG["content"] and second["requestId"] != first["requestId"]
        assert len(other.elicited) == 1 and other.withdrawn == [] and tool.notes == []
        front.answer(RIGHT)
        await front.seen("turnFinished")
        assert tool.notes[0] == "accept {'when': '2026-01-31'}"
        assert len(other.withdrawn) == 1
        kinds = [kind for kind in front.types if kind.startswith("elicitation")]
        assert kinds == ["elicitationPending", "elicitationResolved"], "for everyone else it is one question"


async def test_an_answer_by_another_way_is_refused_in_words_and_the_form_stays_open(tmp_path: Path) -> None:
    front, tool = TestFront(), Form()
    async with running(tmp_path, [use("Form", text="x")], say("done"), tools=[tool]) as app:
        session = await app.new(front)
        await app.send(session, "go", front)
        await front.until(lambda: front.elicited)
        asks = app.hub.live[session].asks
        with pytest.raises(ProtocolError, match="when: it is required") as refused:
            asks.answer(front.elicited[0]["elicitId"], {"action": "accept"}, by="codeAction")
        assert refused.value.data == {"problems": {"when": "it is required"}}
        assert len(asks.elicitations()) == 1
        assert asks.answer(front.elicited[0]["elicitId"], RIGHT, by="codeAction")
        await front.seen("turnFinished")
        assert tool.notes[0] == "accept {'when': '2026-01-31'}"


async def test_a_client_that_never_answers_rightly_is_not_asked_for_ever(tmp_path: Path) -> None:
    front, tool = TestFront(), Form()
    for _ in range(MOST_REFUSED + 5):
        front.answer(WRONG)
    async with running(tmp_path, [use("Form", text="x")], say("done"), tools=[tool]) as app:
        session = await app.new(front)
        await app.send(session, "go", front, wait=True)
        assert tool.notes[0] == "cancel {}" and len(front.elicited) == MOST_REFUSED


async def test_a_form_of_optional_fields_may_be_accepted_empty(tmp_path: Path) -> None:
    front, tool = TestFront(), Form(OPTIONAL)
    front.answer({"action": "accept", "content": {}})
    async with running(tmp_path, [use("Form", text="x")], say("done"), tools=[tool]) as app:
        session = await app.new(front)
        await app.send(session, "go", front, wait=True)
        assert tool.notes[0] == "accept {}"
