"""The whole way of one call: our client, the real SDK, real HTTP, the strict fake."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from anyio import fail_after

from assent.model.client import ModelClient, ModelSettings, make_call_model
from assent.model.http_transport import Endpoint
from assent.types.errors import (
    FallbackTriggered,
    MediaTooLarge,
    ModelError,
    NoCredentials,
    PromptTooLong,
    StreamInterrupted,
)
from assent.types.messages import ApiRetry, AssistantFinal, AssistantMessage, ConversationMessage, StreamEvent
from assent.types.ports import ModelEvent, ModelRequest
from fakeapi import FakeApi, InstantClock, Reply, hold, ping, redacted_thinking, text, thinking, tool
from fakeapi.talk import result, said, user

MODEL = "claude-opus-5-5"
TOOLS = ({"name": "Read", "input_schema": {"type": "object"}},)


@pytest.fixture
async def api() -> AsyncIterator[FakeApi]:
    async with FakeApi() as running:
        yield running


@pytest.fixture
async def call(api: FakeApi) -> AsyncIterator[ModelClient]:
    client = make_call_model(ModelSettings(endpoint=Endpoint(env=api.env)), clock=InstantClock())
    yield client
    await client.aclose()


async def gather(stream: AsyncGenerator[ModelEvent, None]) -> tuple[list[ModelEvent], ModelError | None]:
    events: list[ModelEvent] = []
    with fail_after(60):
        async with aclosing(stream):
            try:
                async for event in stream:
                    events.append(event)
            except ModelError as error:
                return events, error
    return events, None


def ask(*messages: ConversationMessage, **fields: Any) -> ModelRequest:
    return ModelRequest(model=fields.pop("model", MODEL), messages=messages or (user("hi"),), **fields)


def kinds(events: list[ModelEvent]) -> list[str]:
    return [type(event).__name__ for event in events]


def final(events: list[ModelEvent]) -> AssistantFinal:
    assert isinstance(events[-1], AssistantFinal)
    return events[-1]


async def test_an_answer_goes_back_word_for_word_in_the_next_request(api: FakeApi, call: ModelClient) -> None:  # M2 M7
    api.reply(
        thinking("hm"),
        redacted_thinking(),
        text("Let me see."),
        tool("Read", file_path="a"),
        tool("Read", file_path="b"),
    )
    api.reply(text("Done."))
    first, error = await gather(call(ask(tools=TOOLS, system=("You help.",))))
    assert error is None
    blocks = [event for event in first if isinstance(event, AssistantMessage)]
    results = user(result("toolu_0001", "A"), result("toolu_0002", "B"))
    second, error = await gather(call(ask(user("hi"), *blocks, results, tools=TOOLS, system=("You help.",))))
    assert error is None
    assert final(second).stop_reason == "end_turn"
    sent = api.calls[1].messages[1]["content"]
    assert [block["type"] for block in sent] == ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"]
    assert sent == [event.content[0] for event in blocks]


async def test_what_the_endpoint_read_from_cache_is_in_the_final(api: FakeApi, call: ModelClient) -> None:
    api.reply(text("a")).reply(text("b"))
    history = [user("hi " * 400)]
    await gather(call(ask(*history)))
    events, _ = await gather(call(ask(*history, said("a"), user("more"))))
    usage = final(events).usage
    assert usage.cache_read_input_tokens == api.calls[0].cache.total if api.calls[0].cache else False
    assert final(events).context_tokens == usage.context_tokens
    assert final(events).cost_usd > 0


async def test_the_key_goes_out_and_the_sdk_does_not_retry_on_its_own(api: FakeApi, call: ModelClient) -> None:  # M1
    api.error(400, "no such luck")
    _, error = await gather(call(ask()))
    assert str(error) == "no such luck"
    assert len(api.requests) == 1
    assert api.requests[0].headers["authorization"] == "Bearer test"
    assert api.requests[0].headers["anthropic-version"] == "2026-10-21"


async def test_a_call_is_one_request_and_nothing_is_counted_beforehand(api: FakeApi, call: ModelClient) -> None:  # M8
    api.reply(text("a"))
    await gather(call(ask()))
    assert [request.path for request in api.requests] == ["/v1/messages"]


async def test_calls_one_after_the_other_use_one_connection(api: FakeApi, call: ModelClient) -> None:
    for _ in range(3):
        api.reply(text("a"))
        await gather(call(ask()))
    assert api.connections == 1


async def test_pings_and_whole_replies_in_one_chunk_or_byte_by_byte_are_all_the_same(
    api: FakeApi, call: ModelClient
) -> None:
    for chunking in ("whole", "byte", "event"):
        api.reply(ping(), text("hällo ✓"), ping(), chunking=chunking)
        events, error = await gather(call(ask()))
        assert error is None
        assert [event.content[0] for event in events if isinstance(event, AssistantMessage)] == [
            {"type": "text", "text": "hällo ✓"}
        ]


class TestFailures:
    @pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
    async def test_that_pass_are_retried_and_shown(self, api: FakeApi, call: ModelClient, status: int) -> None:
        api.error(status).reply(text("ok"))
        events, error = await gather(call(ask()))
        assert error is None
        assert isinstance(events[0], ApiRetry)
        assert (events[0].status, events[0].attempt) == (status, 1)

    @pytest.mark.parametrize(
        ("status", "message", "kind"),
        [
            (400, "prompt is too long: 250000 tokens > 200000 maximum", PromptTooLong),
            (413, "Request exceeds the maximum size", PromptTooLong),
            (
                400,
                "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 9 bytes > 5 bytes",
                MediaTooLarge,
            ),
            (403, "no access", ModelError),
            (404, "model: x", ModelError),
        ],
    )
    async def test_that_do_not_pass_are_errors_by_name(
        self, api: FakeApi, call: ModelClient, status: int, message: str, kind: type[ModelError]
    ) -> None:
        api.error(status, message)
        _, error = await gather(call(ask()))
        assert (type(error), error and error.status) == (kind, status)
        assert len(api.requests) == 1

    async def test_a_page_of_html_is_an_error_one_can_read(self, api: FakeApi, call: ModelClient) -> None:
        api.error(403, body=b"<html><body>Blocked by the proxy</body></html>")
        _, error = await gather(call(ask()))
        assert str(error) == "Blocked by the proxy"

    async def test_three_overloads_trigger_the_fallback(self, api: FakeApi, call: ModelClient) -> None:
        api.error(529).error(529).error(529)
        events, error = await gather(call(ask(fallback_model="claude-sonnet-5-5")))
        assert isinstance(error, FallbackTriggered)
        assert kinds(events) == ["ApiRetry", "ApiRetry"]

    async def test_401_is_tried_once_more_with_fresh_credentials(self, api: FakeApi, call: ModelClient) -> None:
        api.error(401).reply(text("ok"))
        events, error = await gather(call(ask()))
        assert error is None
        assert final(events).stop_reason == "end_turn"
        api.error(401, "expired").error(401, "expired")
        _, error = await gather(call(ask()))
        assert isinstance(error, NoCredentials)

    async def test_an_overflow_goes_out_again_with_less_to_write(self, api: FakeApi, call: ModelClient) -> None:
        api.error(
            400, "input length and `max_tokens` exceed context limit: 190000 + 8000 > 195000, decrease input length"
        )
        api.reply(text("ok"))
        _, error = await gather(call(ask()))
        assert error is None
        assert [request.body["max_tokens"] for request in api.calls] == [8000, 4000]

    @pytest.mark.parametrize("how", ["reset", "close"])
    async def test_a_connection_lost_before_any_answer_is_made_anew(
        self, api: FakeApi, call: ModelClient, how: Any
    ) -> None:
        api.reply(text("warm"))
        await gather(call(ask()))
        api.drop(how).reply(text("ok"))
        events, error = await gather(call(ask()))
        assert error is None
        assert kinds(events)[0] == "ApiRetry"
        assert api.connections == 2

    async def test_nobody_listening_is_retried_and_then_told(self) -> None:
        with socket.socket() as taken:  # nobody else can listen there meanwhile
            taken.bind(("127.0.0.1", 0))
            env = {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{taken.getsockname()[1]}", "ANTHROPIC_API_KEY": "test"}
            client = make_call_model(ModelSettings(endpoint=Endpoint(env=env)), clock=InstantClock())
            events, error = await gather(client(ask()))
        assert kinds(events) == ["ApiRetry"] * 10
        assert error is not None
        assert error.kind == "connection_error"
        await client.aclose()

    async def test_without_credentials_the_error_says_so(self, api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HOME", "/nonexistent")
        client = make_call_model(ModelSettings(endpoint=Endpoint(env={})), clock=InstantClock())
        _, error = await gather(client(ask()))
        assert isinstance(error, NoCredentials)


class TestBrokenStreams:
    @pytest.mark.parametrize("how", ["close", "reset", "clean"])
    async def test_after_words_were_shown_are_interruptions_with_what_was_said(
        self, api: FakeApi, call: ModelClient, how: Any
    ) -> None:  # M5 L10
        api.cut(text("one ", "two ", "three"), at_event=4, how=how)
        events, error = await gather(call(ask()))
        assert isinstance(error, StreamInterrupted)
        assert error.partial == "one two "
        assert final(events).stop_reason is None
        assert final(events).usage.context_tokens > 0
        assert not any(isinstance(event, AssistantMessage) for event in events)

    @pytest.mark.parametrize("how", ["close", "reset", "clean"])
    async def test_before_any_block_are_tried_again_and_still_counted(
        self, api: FakeApi, call: ModelClient, how: Any
    ) -> None:  # M5 Q9
        api.cut(text("lost"), at_event=1, how=how)
        api.reply(text("found"))
        events, error = await gather(call(ask()))
        assert error is None
        finals = [event for event in events if isinstance(event, AssistantFinal)]
        assert [each.stop_reason for each in finals] == [None, "end_turn"]
        assert len({each.message_id for each in finals}) == 2

    @pytest.mark.parametrize("events", range(1, 12))
    @pytest.mark.parametrize("extra", [-1, 0, 1])
    async def test_at_every_event_boundary_never_look_whole(
        self, api: FakeApi, call: ModelClient, events: int, extra: int
    ) -> None:
        api.cut(text("ab", "cd"), tool("Read", {"file_path": "x"}, pieces=1), at_event=events, extra_bytes=extra)
        api.otherwise(Reply(parts=(text("again"),)))
        seen, error = await gather(call(ask()))
        answers = [event for event in seen if isinstance(event, AssistantFinal)]
        if error is None:
            said_again = [event.content[0] for event in seen if isinstance(event, AssistantMessage)][-1:]
            whole = events == 11 and extra >= 0
            assert whole or said_again == [{"type": "text", "text": "again"}]
        else:
            assert isinstance(error, StreamInterrupted)
            assert answers[-1].stop_reason is None

    async def test_a_tool_call_that_was_cut_is_never_given_out(self, api: FakeApi, call: ModelClient) -> None:
        api.cut(tool("Bash", {"command": "rm -rf x"}, pieces=2), at_event=5)
        events, error = await gather(call(ask()))
        assert isinstance(error, StreamInterrupted)
        assert not any(isinstance(event, AssistantMessage) for event in events)

    @pytest.mark.parametrize("kind", ["overloaded_error", "api_error"])
    async def test_an_error_event_after_words_is_an_interruption_of_that_kind(
        self, api: FakeApi, call: ModelClient, kind: str
    ) -> None:
        api.reply(text("some words"), error={"type": kind, "message": "sorry"})
        _, error = await gather(call(ask()))
        assert isinstance(error, StreamInterrupted)
        assert (error.kind, str(error)) == (kind, "sorry")

    async def test_an_error_event_before_any_words_is_retried(self, api: FakeApi, call: ModelClient) -> None:
        api.reply(error={"type": "overloaded_error", "message": "busy"}).reply(text("ok"))
        events, error = await gather(call(ask()))
        assert error is None
        assert [event.status for event in events if isinstance(event, ApiRetry)] == [529]


class TestAbort:
    async def test_closing_the_generator_closes_the_connection(self, api: FakeApi, call: ModelClient) -> None:  # L14
        api.reply(text("one ", hold("open"), "two"))
        with fail_after(60):
            stream = call(ask())
            async with aclosing(stream):
                async for event in stream:
                    if isinstance(event, StreamEvent) and event.event["type"] == "content_block_delta":
                        break
            api.release("open")
            await api.closed(1)
        assert api.requests[0].finished is False

    async def test_cancelling_the_task_leaves_nothing_behind(self, api: FakeApi, call: ModelClient) -> None:
        api.reply(text("one ", hold("never"), "two"))

        async def consume() -> None:
            async with aclosing(call(ask())) as stream:
                async for _ in stream:
                    pass

        with fail_after(60):
            task = asyncio.create_task(consume())
            await api.reached("never")
            before = asyncio.all_tasks()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            api.release("never")
            await api.closed(1)
        assert not {left for left in asyncio.all_tasks() - before if "Watched" in repr(left)}

    async def test_the_next_call_just_works(self, api: FakeApi, call: ModelClient) -> None:
        api.reply(text("one ", hold("gone"), "two")).reply(text("fresh"))
        with fail_after(60):
            stream = call(ask())
            async with aclosing(stream):
                await anext(stream)
            api.release("gone")
            events, error = await gather(call(ask()))
        assert error is None
        assert final(events).stop_reason == "end_turn"


async def test_two_calls_stream_side_by_side(api: FakeApi, call: ModelClient) -> None:
    api.when("left", Reply(parts=(text("L", hold("both"), "L"),)))
    api.when("right", Reply(parts=(text("R", hold("both"), "R"),)))
    with fail_after(60):
        left = asyncio.create_task(gather(call(ask(user("left")))))
        right = asyncio.create_task(gather(call(ask(user("right")))))
        await api.called(2)
        api.release("both")
        answers = [await left, await right]
    texts = [
        [event.content[0]["text"] for event in events if isinstance(event, AssistantMessage)] for events, _ in answers
    ]
    assert texts == [["LL"], ["RR"]]


async def test_a_request_that_the_endpoint_refuses_fails_the_test(api: FakeApi) -> None:
    """The fake itself: what it refuses shows when it closes."""
    strict = FakeApi()
    await strict.start()
    client = make_call_model(ModelSettings(endpoint=Endpoint(env=strict.env)), clock=InstantClock())
    await gather(client(ask(model="no-such-model")))
    await client.aclose()
    await strict.stop()
    with pytest.raises(AssertionError, match="no-such-model"):
        strict.check()


async def test_a_cut_tool_call_in_history_is_sent_as_one_that_did_not_run(
    api: FakeApi, call: ModelClient
) -> None:  # L6
    api.reply(tool("Read", raw_json='{"file_pa'), stop_reason="max_tokens")
    api.reply(text("ok"))
    events, _ = await gather(call(ask(tools=TOOLS)))
    (block,) = [event for event in events if isinstance(event, AssistantMessage)]
    assert not isinstance(block.content[0]["input"], dict)
    _, error = await gather(call(ask(user("hi"), block, user(result("toolu_0001", "cut", error=True)), tools=TOOLS)))
    assert error is None


def test_importing_the_client_does_not_import_the_sdk() -> None:
    code = "import sys, assent.model.client, assent.model.credentials, assent.model.offline; print('anthropic' in sys.modules, 'httpx2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["False", "False"]


async def test_thinking_whose_conversation_was_reduced_does_not_end_the_session(
    api: FakeApi, call: ModelClient
) -> None:  # C3
    """What microcompact does: an old result becomes a stub, and the thinking after it is bound to what it was."""
    api.reply(tool("Read", file_path="a"))
    api.reply(thinking("hm"), tool("Read", file_path="b"))
    history: list[ConversationMessage] = [user("hi")]
    for id in ("toolu_0001", "toolu_0002"):
        events, _ = await gather(call(ask(*history, tools=TOOLS)))
        history += [event for event in events if isinstance(event, AssistantMessage)]
        history.append(user(result(id, "a long text")))
    history[2] = user(result("toolu_0001", "[old result left out]"))
    api.expect_refusal().reply(text("fine"))
    events, error = await gather(call(ask(*history, tools=TOOLS)))
    assert error is None
    assert final(events).stop_reason == "end_turn"
    api.reply(text("and again, at once"))
    _, error = await gather(call(ask(*history, tools=TOOLS)))
    assert error is None
    assert len(api.refusals) == 1
