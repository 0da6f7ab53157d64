"""When a call is tried again: one table per rule, in virtual time."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from assent.model.failures import CallFailed
from assent.model.lacking import Lacking
from assent.model.retry import FastMode, RetryPolicy, ThinkingCare, Try, with_retry
from assent.types.errors import FallbackTriggered, ModelError, NoCredentials, PromptTooLong, StreamInterrupted
from assent.types.messages import ApiRetry, AssistantFinal, Heartbeat, Notice
from assent.types.ports import ModelEvent, ModelRequest
from assent.types.tries import Tries, Wait
from assent.types.usage import Usage
from fakeapi import InstantClock

DONE = AssistantFinal(message_id="m", model="x", usage=Usage(), stop_reason="end_turn")


def fails(status: int | None = 500, kind: str = "api_error", message: str = "no", **rest: object) -> CallFailed:
    return CallFailed(message=message, kind=kind, status=status, **rest)  # pyright: ignore[reportArgumentType] -- fields of the dataclass by name


OVERLOADED = fails(529, "overloaded_error")


@dataclass
class Endpoint:
    """Fails as told, then answers; remembers how it was asked."""

    failures: list[Exception]
    tries: list[Try] = field(default_factory=list[Try])
    renewed: int = 0

    async def attempt(self, this: Try) -> AsyncGenerator[ModelEvent, None]:
        self.tries.append(this)
        if self.failures:
            raise self.failures.pop(0)
        yield DONE

    async def renew(self) -> None:
        self.renewed += 1


async def run(
    endpoint: Endpoint,
    *,
    clock: InstantClock | None = None,
    policy: RetryPolicy | None = None,
    fast: FastMode | None = None,
    care: ThinkingCare | None = None,
    lacking: Lacking | None = None,
    foreground: bool = True,
    persistent: bool = False,
    fallback: str | None = None,
    whole: bool = False,
    after: Tries | None = None,
    stop_after: int = 1000,
) -> list[ModelEvent]:
    request = ModelRequest(
        model="x",
        messages=(),
        foreground=foreground,
        persistent=persistent,
        fallback_model=fallback,
        whole=whole,
        after=after,
    )
    events: list[ModelEvent] = []
    retrying = with_retry(
        endpoint.attempt,
        request,
        clock=clock or InstantClock(),
        policy=policy or RetryPolicy(),
        renew=endpoint.renew,
        fast=fast or FastMode(),
        care=care,
        lacking=lacking,
    )
    async with aclosing(retrying) as stream:
        async for event in stream:
            events.append(event)
            if len(events) >= stop_after:
                break
    return events


def retries(events: list[ModelEvent]) -> list[ApiRetry]:
    return [event for event in events if isinstance(event, ApiRetry)]


class TestDelays:
    @pytest.mark.parametrize(
        ("retry", "seconds"),
        [(1, 0.5), (2, 1), (3, 2), (4, 4), (5, 8), (6, 16), (7, 32), (8, 32), (10, 32)],
    )
    def test_double_from_half_a_second_to_thirty_two(self, retry: int, seconds: float) -> None:  # M3
        policy = RetryPolicy()
        assert policy.delay(retry, retry_after=None, chance=0.0) == seconds
        assert policy.delay(retry, retry_after=None, chance=1.0) == seconds * 1.25

    @pytest.mark.parametrize(
        ("asked", "seconds"), [(None, 2.0), (0.0, 2.0), (1.0, 2.0), (2.5, 2.5), (60.0, 60.0), (3600.0, 3600.0)]
    )
    def test_are_what_the_endpoint_asks_for_when_that_is_longer(self, asked: float | None, seconds: float) -> None:
        assert RetryPolicy().delay(3, retry_after=asked, chance=0.0) == seconds

    @pytest.mark.parametrize(("retry", "seconds"), [(1, 0.5), (8, 64), (12, 1024), (13, 1800), (500, 1800)])
    def test_grow_to_half_an_hour_in_persistent_mode(self, retry: int, seconds: float) -> None:  # M4
        assert RetryPolicy().delay(retry, retry_after=None, chance=0.0, persistent=True) == seconds


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529, 599, None])
async def test_these_are_tried_again(status: int | None) -> None:
    endpoint = Endpoint([fails(status)])
    events = await run(endpoint)
    assert retries(events) == [ApiRetry(attempt=1, max_attempts=10, delay_ms=500, status=status, error="no")]
    assert events[-1] == DONE


@pytest.mark.parametrize("status", [400, 402, 403, 404, 405, 412, 413, 422, 431])
async def test_these_are_not(status: int) -> None:
    endpoint = Endpoint([fails(status)])
    with pytest.raises(ModelError) as caught:
        await run(endpoint)
    assert caught.value.status == status
    assert len(endpoint.tries) == 1


@pytest.mark.parametrize(("status", "says", "tries"), [(500, False, 1), (400, True, 2)])
async def test_what_the_endpoint_itself_says_of_trying_again_counts(status: int, says: bool, tries: int) -> None:
    endpoint = Endpoint([fails(status, should_retry=says)])
    try:
        await run(endpoint)
    except ModelError:
        pass
    assert len(endpoint.tries) == tries


async def test_the_first_call_and_ten_retries_then_the_error_itself() -> None:  # M3
    clock = InstantClock()
    endpoint = Endpoint([fails(503, message="down")] * 20)
    seen: list[ModelEvent] = []
    with pytest.raises(ModelError, match=r"down \(after 10 retries\)") as caught:
        async for event in with_retry(
            endpoint.attempt,
            ModelRequest(model="x", messages=()),
            clock=clock,
            policy=RetryPolicy(),
            renew=endpoint.renew,
            fast=FastMode(),
        ):
            seen.append(event)
    assert caught.value.status == 503
    assert len(endpoint.tries) == 11
    assert [event.attempt for event in retries(seen)] == list(range(1, 11))
    assert clock.sleeps == [0.5, 1, 2, 4, 8, 16, 32, 32, 32, 32]


async def test_every_wait_is_announced_before_it_begins() -> None:
    clock = InstantClock()
    events = with_retry(
        Endpoint([fails(500)]).attempt,
        ModelRequest(model="x", messages=()),
        clock=clock,
        policy=RetryPolicy(),
        renew=Endpoint([]).renew,
        fast=FastMode(),
    )
    async with aclosing(events) as stream:
        assert isinstance(await anext(stream), ApiRetry)
        assert clock.sleeps == []
        assert await anext(stream) == DONE
        assert clock.sleeps == [0.5]


async def test_a_retry_after_and_the_backoff_floor_both_count() -> None:
    clock = InstantClock()
    await run(Endpoint([fails(429, retry_after=0.01), fails(429, retry_after=7.0)]), clock=clock)
    assert clock.sleeps == [0.5, 7.0]


class TestCredentials:
    async def test_are_renewed_once_after_401_and_the_call_goes_out_at_once(self) -> None:
        clock = InstantClock()
        endpoint = Endpoint([fails(401, "authentication_error")])
        assert await run(endpoint, clock=clock) == [DONE]
        assert (endpoint.renewed, len(endpoint.tries), clock.sleeps) == (1, 2, [])

    async def test_that_fail_twice_are_told_to_the_user(self) -> None:
        endpoint = Endpoint([fails(401, "authentication_error")] * 2)
        with pytest.raises(NoCredentials):
            await run(endpoint)
        assert endpoint.renewed == 1


class TestConnections:
    async def test_that_were_reset_are_made_anew_before_the_retry(self) -> None:
        endpoint = Endpoint([fails(None, "connection_error", stale_connection=True)])
        events = await run(endpoint)
        assert endpoint.renewed == 1
        assert len(retries(events)) == 1

    async def test_that_answer_with_an_error_are_kept(self) -> None:
        endpoint = Endpoint([fails(500)])
        await run(endpoint)
        assert endpoint.renewed == 0


class TestOverflow:
    MESSAGE = "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length"

    async def test_recomputes_max_tokens_from_the_numbers(self) -> None:
        clock = InstantClock()
        endpoint = Endpoint([fails(400, "invalid_request_error", self.MESSAGE)])
        assert await run(endpoint, clock=clock) == [DONE]
        assert [this.cap for this in endpoint.tries] == [None, 200_000 - 188_240 - 1_000]
        assert clock.sleeps == []

    async def test_is_a_prompt_too_long_when_there_is_no_room_left(self) -> None:
        message = self.MESSAGE.replace("188240", "199,000")
        with pytest.raises(PromptTooLong) as caught:
            await run(Endpoint([fails(400, "invalid_request_error", message)]))
        assert (caught.value.actual, caught.value.limit) == (199_000 + 21_333, 200_000)

    async def test_that_does_not_go_away_is_not_tried_for_ever(self) -> None:
        endpoint = Endpoint([fails(400, "invalid_request_error", self.MESSAGE)] * 5)
        with pytest.raises(PromptTooLong):
            await run(endpoint)
        assert len(endpoint.tries) == 2


class TestOverload:
    async def test_fails_a_background_call_at_once(self) -> None:  # M3
        endpoint = Endpoint([OVERLOADED])
        with pytest.raises(ModelError) as caught:
            await run(endpoint, foreground=False)
        assert (caught.value.kind, caught.value.status, len(endpoint.tries)) == ("overloaded_error", 529, 1)

    async def test_is_what_a_background_call_gives_up_for_and_nothing_else(self) -> None:  # M3
        endpoint = Endpoint([fails(500), fails(429)])
        assert (await run(endpoint, foreground=False))[-1] == DONE
        assert len(endpoint.tries) == 3

    async def test_three_times_in_a_row_switches_to_the_fallback(self) -> None:
        clock = InstantClock()
        endpoint = Endpoint([OVERLOADED] * 3)
        with pytest.raises(FallbackTriggered) as caught:
            await run(endpoint, fallback="y", clock=clock)
        assert (caught.value.original, caught.value.fallback) == ("x", "y")
        assert (len(endpoint.tries), clock.sleeps) == (3, [0.5, 1.0])

    async def test_is_counted_in_a_row_only(self) -> None:
        endpoint = Endpoint([OVERLOADED, OVERLOADED, fails(500), OVERLOADED, OVERLOADED])
        assert (await run(endpoint, fallback="y"))[-1] == DONE

    @pytest.mark.parametrize("fallback", [None, "x"])
    async def test_without_another_model_goes_on_retrying(self, fallback: str | None) -> None:
        endpoint = Endpoint([OVERLOADED] * 6)
        assert (await run(endpoint, fallback=fallback))[-1] == DONE

    async def test_as_an_event_of_a_stream_that_had_just_begun_counts_too(self) -> None:
        endpoint = Endpoint([fails(None, "overloaded_error")] * 3)
        with pytest.raises(FallbackTriggered):
            await run(endpoint, fallback="y")


class TestPersistentMode:
    async def test_has_no_end_and_beats_every_thirty_seconds(self) -> None:  # M4
        clock = InstantClock()
        endpoint = Endpoint([fails(503)] * 15)
        events = await run(endpoint, persistent=True, clock=clock)
        assert len(endpoint.tries) == 16
        assert events[-1] == DONE
        assert {event.max_attempts for event in retries(events)} == {0}
        assert max(clock.sleeps) == 30
        assert [event.delay_ms for event in retries(events)][-4:] == [1_024_000, 1_800_000, 1_800_000, 1_800_000]
        assert sum(isinstance(event, Heartbeat) for event in events) == sum(
            (event.delay_ms - 1) // 30_000 for event in retries(events)
        )

    async def test_a_wait_of_64_seconds_has_two_beats(self) -> None:
        events = await run(Endpoint([fails(429, retry_after=64.0)]), persistent=True)
        assert [type(event) for event in events] == [ApiRetry, Heartbeat, Heartbeat, AssistantFinal]


class TestFastMode:
    @pytest.mark.parametrize(
        "refusal",
        [
            fails(429, "rate_limit_error"),
            OVERLOADED,
            fails(400, "invalid_request_error", "speed: fast mode is not enabled"),
        ],
    )
    async def test_that_is_refused_goes_on_at_standard_speed_and_rests(self, refusal: CallFailed) -> None:
        clock = InstantClock()
        fast = FastMode(wanted=True)
        endpoint = Endpoint([refusal])
        events = await run(endpoint, clock=clock, fast=fast)
        assert [this.fast for this in endpoint.tries] == [True, False]
        assert isinstance(events[0], Notice)
        assert clock.sleeps == []
        assert not fast.on(clock.now() + 599)
        assert fast.on(clock.now() + 601)

    async def test_stays_on_through_other_failures(self) -> None:
        endpoint = Endpoint([fails(500)])
        await run(endpoint, fast=FastMode(wanted=True))
        assert [this.fast for this in endpoint.tries] == [True, True]


async def test_an_interruption_after_words_were_shown_is_not_tried_again_here() -> None:  # L10
    endpoint = Endpoint([StreamInterrupted("cut")])
    with pytest.raises(StreamInterrupted):
        await run(endpoint)
    assert len(endpoint.tries) == 1


class TestOldThinking:
    REFUSAL: ClassVar[CallFailed] = fails(
        400,
        "invalid_request_error",
        "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
    )

    async def test_that_is_refused_is_sent_more_carefully_and_that_is_remembered(self) -> None:
        endpoint, care = Endpoint([self.REFUSAL, self.REFUSAL]), ThinkingCare()
        clock = InstantClock()
        await run(endpoint, care=care, clock=clock)
        assert [this.old_thinking for this in endpoint.tries] == ["sent", "droppable", "left_out"]
        assert clock.sleeps == []
        await run(endpoint, care=care)
        assert endpoint.tries[-1].old_thinking == "left_out"

    async def test_that_is_refused_even_when_there_is_none_is_an_error(self) -> None:
        endpoint = Endpoint([self.REFUSAL] * 5)
        with pytest.raises(ModelError):
            await run(endpoint)
        assert len(endpoint.tries) == 3

    async def test_of_one_model_says_nothing_of_another(self) -> None:
        care = ThinkingCare({"y": "left_out"})
        endpoint = Endpoint([])
        await run(endpoint, care=care)
        assert endpoint.tries[0].old_thinking == "sent"

    async def test_that_another_call_has_learnt_to_send_carefully_meanwhile_is_tried_so_at_once(self) -> None:
        care = ThinkingCare()

        class Meanwhile(Endpoint):
            async def attempt(self, this: Try) -> AsyncGenerator[ModelEvent, None]:
                care.by_model["x"] = "left_out"
                async for event in super().attempt(this):
                    yield event

        endpoint = Meanwhile([self.REFUSAL])
        await run(endpoint, care=care)
        assert [this.old_thinking for this in endpoint.tries] == ["sent", "left_out"]


OVERFLOW = fails(400, "invalid_request_error", TestOverflow.MESSAGE)
UNKNOWN_CACHE = fails(400, "invalid_request_error", "cache_control: Extra inputs are not permitted " + "x" * 600)


class TestFeatures:
    async def test_that_are_refused_are_left_out_at_once_said_and_remembered(self) -> None:  # M3
        endpoint, lacking, clock = Endpoint([UNKNOWN_CACHE]), Lacking(), InstantClock()
        events = await run(endpoint, lacking=lacking, clock=clock)
        assert [this.lacking for this in endpoint.tries] == [frozenset(), frozenset({"cache"})]
        (notice,) = (event for event in events if isinstance(event, Notice))
        assert notice.text.startswith("x takes no prompt caching here; going on without it. (cache_control: Extra")
        assert len(notice.text) == 500 and notice.level == "info"
        assert clock.sleeps == []
        await run(endpoint, lacking=lacking)
        assert endpoint.tries[-1].lacking == frozenset({"cache"})

    async def test_are_not_what_a_refused_thinking_block_is_about(self) -> None:
        refusal = fails(400, "invalid_request_error", f"{TestOldThinking.REFUSAL.message} It is not supported.")
        endpoint, lacking = Endpoint([refusal]), Lacking()
        await run(endpoint, lacking=lacking)
        assert lacking.by_model == {} and endpoint.tries[1].old_thinking == "droppable"


@pytest.mark.parametrize(
    "at_once",
    [
        fails(401, "authentication_error"),
        OVERFLOW,
        TestOldThinking.REFUSAL,
        UNKNOWN_CACHE,
        fails(400, "invalid_request_error", "speed: fast mode is not enabled"),
    ],
    ids=["credentials", "overflow", "thinking", "feature", "fast"],
)
async def test_what_is_tried_again_at_once_does_not_wait_as_the_try_before_it_did(at_once: CallFailed) -> None:  # M3
    clock = InstantClock()
    events = await run(Endpoint([fails(500), at_once]), clock=clock, fast=FastMode(wanted=True))
    assert clock.sleeps == [0.5] and len(retries(events)) == 1


def test_fast_mode_is_back_the_moment_its_rest_is_over() -> None:
    fast = FastMode(wanted=True, resting_until=10.0)
    assert (fast.on(9.99), fast.on(10.0)) == (False, True)
    assert not FastMode(resting_until=0.0).on(10.0)


async def test_fast_mode_rests_as_long_as_the_endpoint_asks_if_that_is_longer() -> None:
    for asked, rest in ((None, 600.0), (30.0, 600.0), (900.0, 900.0)):
        clock, fast = InstantClock(), FastMode(wanted=True)
        began = clock.now()
        events = await run(Endpoint([fails(429, "rate_limit_error", retry_after=asked)]), clock=clock, fast=fast)
        assert fast.resting_until == began + rest
        assert events[0] == Notice(
            level="info", text="Fast mode is not to be had now (no); going on at standard speed."
        )


def test_a_try_is_the_request_as_it_was_made_unless_said_otherwise() -> None:
    assert Try() == Try(cap=None, fast=False, old_thinking="sent", lacking=frozenset())


class TestShownAnswers:
    """A call that broke after blocks of its answer were shown is handed to the engine, with the tries so far."""

    async def test_say_how_they_broke_and_how_to_go_on(self) -> None:  # L10
        clock = InstantClock()
        broken = fails(529, "overloaded_error", "cut", shown=True, partial="Half a")
        with pytest.raises(StreamInterrupted, match=r"^cut$") as caught:
            await run(Endpoint([fails(500), broken]), clock=clock)
        assert (caught.value.kind, caught.value.status, caught.value.partial) == ("overloaded_error", 529, "Half a")
        wait = Wait(seconds=1.0, status=529, error="cut")
        assert caught.value.tries == Tries(retries=2, overloads=1, wait=wait)
        assert clock.sleeps == [0.5]

    async def test_go_on_with_the_wait_and_the_count_that_came_back(self) -> None:
        clock = InstantClock()
        after = Tries(retries=2, overloads=2, wait=Wait(seconds=1.0, status=529, error="cut"))
        events = await run(Endpoint([]), after=after, clock=clock)
        assert events == [ApiRetry(attempt=2, max_attempts=10, delay_ms=1000, status=529, error="cut"), DONE]
        assert clock.sleeps == [1.0]
        with pytest.raises(FallbackTriggered):
            await run(Endpoint([OVERLOADED]), after=after, fallback="y")

    async def test_are_tried_again_here_where_only_a_whole_answer_counts(self) -> None:
        broken = fails(500, message="cut", shown=True)
        events = await run(Endpoint([broken]), whole=True)
        assert [type(event) for event in events] == [ApiRetry, AssistantFinal]


@pytest.mark.parametrize(("most", "said"), [(0, "no"), (1, "no (after 1 retry)"), (2, "no (after 2 retries)")])
async def test_the_error_says_how_often_it_was_tried(most: int, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        await run(Endpoint([fails(503)] * 5), policy=RetryPolicy(max_retries=most))
    assert str(caught.value) == said


@pytest.mark.parametrize(("room", "cap"), [(3_000, 3_000), (2_999, None)])
async def test_the_least_answer_worth_asking_for_is_asked_for(room: int, cap: int | None) -> None:
    used = 200_000 - 1_000 - room
    message = f"input length and `max_tokens` exceed context limit: {used} + 21333 > 200000"
    endpoint = Endpoint([fails(400, "invalid_request_error", message)])
    try:
        await run(endpoint)
    except PromptTooLong:
        pass
    assert [this.cap for this in endpoint.tries] == [None, cap][: len(endpoint.tries)]
    assert len(endpoint.tries) == (1 if cap is None else 2)


async def test_a_lower_limit_follows_a_lower_one_and_never_the_same_again() -> None:
    second = TestOverflow.MESSAGE.replace("188240", "190240")
    endpoint = Endpoint([OVERFLOW, fails(400, "invalid_request_error", second)])
    await run(endpoint)
    assert [this.cap for this in endpoint.tries] == [None, 10_760, 8_760]


async def test_a_wait_as_long_as_a_heartbeat_has_none() -> None:  # M4
    for seconds, beats in ((30.0, 0), (30.5, 1), (60.0, 1), (61.0, 2)):
        clock = InstantClock()
        events = await run(Endpoint([fails(429, retry_after=seconds)]), persistent=True, clock=clock)
        assert sum(isinstance(event, Heartbeat) for event in events) == beats
        assert sum(clock.sleeps) == seconds


async def test_a_wait_of_an_attended_session_is_one_sleep_without_heartbeats() -> None:
    clock = InstantClock()
    events = await run(Endpoint([fails(429, retry_after=64.0)]), clock=clock)
    assert [type(event) for event in events] == [ApiRetry, AssistantFinal]
    assert clock.sleeps == [64.0]


async def test_a_renewed_credential_is_not_renewed_for_a_second_refusal_in_the_same_call() -> None:
    endpoint = Endpoint([fails(401, "authentication_error"), fails(500), fails(401, "authentication_error")])
    with pytest.raises(NoCredentials):
        await run(endpoint)
    assert endpoint.renewed == 1
