"""Calls beside the conversation: the classifier of auto mode, web search, and reading a page for one question."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from assent.engine.side_calls.single_calls import SideCalls
from assent.model.client import ModelSettings, make_call_model
from assent.model.http_transport import Endpoint
from assent.model.requests import THINKING_ROOM
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.permissions import Action, Ask
from assent.types.ports import ToolCall
from assent.types.usage import Usage
from enginekit.stage import WAIT
from fakeapi import FakeApi, hold, server_tool, text

CALL = ToolCall(tool_use_id="t", action=Action(tool="Bash", input={"command": "make"}, command="make"), title="make")
ASK = Ask(step="tool", reason="`make` is not known to be read-only.")


@pytest.fixture
async def api() -> AsyncIterator[FakeApi]:
    async with FakeApi() as api:
        yield api


def assert_counted_once(booked: list[Any]) -> None:
    """Open when it was sent, its prompt as soon as the answer began, the rest with its end; for one session and model."""
    assert {told[:2] for told in booked} == {("s1", "claude-haiku-5-5")}
    opened, began, rest = booked
    assert (opened[2], opened[4], began[4], rest[4]) == (Usage(), 1, -1, 0)
    assert began[2].context_tokens > 1 and began[3] > 0
    assert rest[2].context_tokens == rest[2].output_tokens > 0 and rest[3] > 0


def side_calls(api: FakeApi, booked: list[Any], *, model: str = "claude-haiku-5-5") -> SideCalls:
    endpoint = Endpoint(base_url=api.url, api_key="test")
    return SideCalls(
        make_call_model(ModelSettings(endpoint=endpoint)),
        model=lambda: model,
        book=lambda session, model, usage, cost, opened: booked.append((session, model, usage, cost, opened)),
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
    assert_counted_once(booked)  # Q9


@pytest.mark.parametrize(
    ("model", "thinking", "room"),
    [
        ("claude-haiku-4-5", {"type": "disabled"}, 16),
        ("claude-haiku-5-5", {"type": "disabled"}, 16),
        ("claude-opus-5-5", {"type": "adaptive"}, 16 + THINKING_ROOM),
        ("claude-sonnet-5-5", {"type": "between_tools"}, 16 + THINKING_ROOM),
    ],
)
async def test_the_classifiers_few_tokens_are_not_spent_on_thinking(
    api: FakeApi, model: str, thinking: Json, room: int
) -> None:  # P13
    """Thinking is off where the model can do without; one that cannot gets room for it."""
    api.reply(text("allow"))
    assert await side_calls(api, [], model=model).classify("s1", CALL, ASK) == "allow"
    body = api.calls[0].body
    assert (body["thinking"], body["max_tokens"]) == (thinking, room)


async def test_a_failing_classifier_is_an_ask_and_is_not_tried_again(api: FakeApi) -> None:
    api.error(529)
    assert await side_calls(api, []).classify("s1", CALL, ASK) == "ask"  # P13, M3: background calls fail at once
    assert len(api.requests) == 1


@pytest.mark.parametrize("kind", ["classifier", "page", "search"])
async def test_a_small_call_that_is_cancelled_counts_what_it_has_reported(api: FakeApi, kind: str) -> None:  # Q9
    api.reply(text("al"), hold("rest"), text("low"))
    began = anyio.Event()
    booked: list[Any] = []

    class Told(list[Any]):
        def append(self, told: Any) -> None:
            booked.append(told)
            if told[4] < 0:
                began.set()

    calls = side_calls(api, Told())
    with anyio.fail_after(WAIT):
        async with anyio.create_task_group() as group:
            match kind:
                case "classifier":
                    group.start_soon(calls.classify, "s1", CALL, ASK)
                case "page":
                    group.start_soon(calls.read_page, "s1", "the page", "what is it?")
                case _:
                    group.start_soon(calls.search, "s1", "tea", ["tea.example"], list[str]())
            await began.wait()
            group.cancel_scope.cancel()
    (asked,) = api.calls
    assert asked.cache is not None
    reported = asked.cache.fresh + asked.cache.read + asked.cache.written
    opened, counted = booked  # sent, and its prompt as soon as the answer began; it is not open any more
    assert (opened[4], counted[4]) == (1, -1)
    assert counted[2].context_tokens == reported + 1 and counted[3] > 0


async def test_a_page_that_cannot_be_read_by_the_small_model_is_given_as_it_is(api: FakeApi) -> None:
    api.error(529)
    assert await side_calls(api, []).read_page("s1", "the page", "what is it?") == "the page"


async def test_a_web_search_is_the_endpoints_own_and_comes_with_its_sources(api: FakeApi) -> None:  # T6
    hits = [
        {"type": "web_search_result", "title": "Tea", "url": "https://tea.example/a", "encrypted_content": "x"},
        {"type": "web_search_result", "title": "Cups", "url": "https://cups.example/", "encrypted_content": "y"},
    ]
    found = server_tool("web_search", {"query": "tea"}, {"type": "web_search_tool_result", "content": hits})
    api.reply(*found, text("It is a drink."))
    booked: list[Any] = []
    answer = await side_calls(api, booked).search("s1", "tea", ["tea.example"], [])
    assert answer == ("It is a drink.\n\nSources:\n- Tea: https://tea.example/a\n- Cups: https://cups.example/")
    (sent,) = api.calls[0].body["tools"]
    assert (sent["name"], sent["allowed_domains"], "blocked_domains" in sent) == ("web_search", ["tea.example"], False)
    assert sent["type"].startswith("web_search_")
    assert_counted_once(booked)  # Q9


async def test_a_web_search_that_fails_says_so(api: FakeApi) -> None:  # T6
    refused = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    api.reply(*server_tool("web_search", {"query": "tea"}, {"type": "web_search_tool_result", "content": refused}))
    with pytest.raises(ToolError, match="The search failed: max_uses_exceeded"):
        await side_calls(api, []).search("s1", "tea", [], ["spam.example"])
    assert api.calls[0].body["tools"][0]["blocked_domains"] == ["spam.example"]
    api.error(529)
    with pytest.raises(ToolError, match="The search failed"):
        await side_calls(api, []).search("s1", "tea", [], [])
