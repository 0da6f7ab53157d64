"""Calls beside the conversation: the classifier of auto mode, web search, and reading a page for one question."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from assent.engine.side_calls import SideCalls
from assent.model.client import ModelSettings, make_call_model
from assent.model.transport import Endpoint
from assent.types.permissions import Action, Ask
from assent.types.ports import ToolCall
from fakeapi import FakeApi, text

CALL = ToolCall(tool_use_id="t", action=Action(tool="Bash", input={"command": "make"}, command="make"), title="make")
ASK = Ask(step="tool", reason="`make` is not known to be read-only.")


@pytest.fixture
async def api() -> AsyncIterator[FakeApi]:
    async with FakeApi() as api:
        yield api


def side_calls(api: FakeApi, booked: list[Any]) -> SideCalls:
    endpoint = Endpoint(base_url=api.url, api_key="test")
    return SideCalls(
        make_call_model(ModelSettings(endpoint=endpoint)),
        model=lambda: "claude-haiku-5-5",
        book=lambda session, model, usage, cost: booked.append((session, model, usage.output_tokens > 0, cost > 0)),
    )


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("allow", "allow"),
        ("Deny.", "deny"),
        ("ask", "ask"),
        ("allow because it is safe", "ask"),
        ("I cannot say", "ask"),
    ],
)
async def test_the_classifier_answers_in_one_word_and_anything_else_is_an_ask(
    api: FakeApi, said: str, answer: str
) -> None:
    api.reply(text(said))
    booked: list[Any] = []
    assert await side_calls(api, booked).classify("s1", CALL, ASK) == answer  # P13
    assert booked == [("s1", "claude-haiku-5-5", True, True)]  # Q9


async def test_a_failing_classifier_is_an_ask_and_is_not_tried_again(api: FakeApi) -> None:
    api.error(529)
    assert await side_calls(api, []).classify("s1", CALL, ASK) == "ask"  # P13, M3: background calls fail at once
    assert len(api.requests) == 1


async def test_a_page_that_cannot_be_read_by_the_small_model_is_given_as_it_is(api: FakeApi) -> None:
    api.error(529)
    assert await side_calls(api, []).read_page("s1", "the page", "what is it?") == "the page"
