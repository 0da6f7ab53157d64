"""When to try a call again, after how long, and what to say meanwhile (M3, M4).

1. The first call and ten retries. Before retry k: 0.5 s × 2^(k−1), at most 32 s, plus up to a quarter of it; or what
   the endpoint asks for in retry-after, if that is longer.
2. 408, 409, 429, 5xx and lost connections are tried again; a reset or broken pipe on a fresh connection.
3. 401: credentials are renewed, once, and the call goes out again at once.
4. 400 with "input length and max_tokens exceed context limit": max_tokens is recomputed from the numbers in it.
5. 529: background calls fail at once. Three in a row, and there is a fallback model: `FallbackTriggered`.
6. A call refused for being fast goes on at standard speed, and fast mode rests for a while.
7. A thinking block of an earlier answer that is no longer taken (its conversation was reduced, its account changed) is
   sent with leave to drop it, and if that is refused too, not at all; remembered for that model.
8. A refusal that names a feature the endpoint does not know (caching, thinking, effort, betas): the call goes out again
   without it at once, which is said, and remembered for that model (`lacking`).
9. Persistent mode: no end of retries, waits of up to 30 minutes, a heartbeat every 30 seconds.

Every wait is announced before it begins. The same rules hold for an answer that breaks after a content block has been
shown, but whether it is withdrawn is for the engine to say: `StreamInterrupted` carries the tries so far, the engine
hands them back with its next request, and the wait comes then. Where only a whole answer counts it is tried again here.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from assent.model.clock import Clock
from assent.model.failures import CallFailed, as_model_error, overflow, rejects_fast_mode, rejects_thinking
from assent.model.lacking import WORDS, Feature, Lacking
from assent.model.policy import RetryPolicy
from assent.model.requests import OldThinking
from assent.types.errors import FallbackTriggered, ModelError, StreamInterrupted
from assent.types.messages import ApiRetry, Heartbeat, Notice
from assent.types.ports import ModelEvent, ModelRequest
from assent.types.tries import Tries, Wait


@dataclass(slots=True, kw_only=True)
class FastMode:
    """Whether fast mode is wanted, and until when it rests; shared by all calls of a client."""

    wanted: bool = False
    resting_until: float = 0.0

    def on(self, now: float) -> bool:
        return self.wanted and now >= self.resting_until


@dataclass(slots=True)
class ThinkingCare:
    """How carefully the thinking of earlier answers is sent, by model; shared by all calls of a client."""

    by_model: dict[str, OldThinking] = field(default_factory=dict[str, OldThinking])

    def of(self, model: str) -> OldThinking:
        return self.by_model.get(model, "sent")

    def take_more(self, model: str) -> bool:
        """One step more careful; False when there is none left."""
        steps: dict[OldThinking, OldThinking] = {"sent": "droppable", "droppable": "left_out"}
        more = steps.get(self.of(model))
        if more is not None:
            self.by_model[model] = more
        return more is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """How one try differs from the request as it was made."""

    cap: int | None = None  # of max_tokens
    fast: bool = False
    old_thinking: OldThinking = "sent"
    lacking: frozenset[Feature] = frozenset()


Attempt = Callable[[Try], AsyncGenerator[ModelEvent, None]]
"""One try: yields the events of an answer, or raises `CallFailed`, which knows whether any block was shown."""


async def with_retry(
    attempt: Attempt,
    request: ModelRequest,
    *,
    clock: Clock,
    policy: RetryPolicy,
    renew: Callable[[], Awaitable[None]],
    fast: FastMode,
    care: ThinkingCare | None = None,
    lacking: Lacking | None = None,
) -> AsyncGenerator[ModelEvent, None]:
    tries = request.after or Tries()
    care = care or ThinkingCare()
    lacking = lacking or Lacking()
    while True:
        if tries.wait is not None:
            async for event in _waited(tries, tries.wait, request, clock, policy):
                yield event
        this = Try(
            cap=tries.cap,
            fast=fast.on(clock.now()),
            old_thinking=care.of(request.model),
            lacking=lacking.of(request.model),
        )
        try:
            async with aclosing(attempt(this)) as events:
                async for event in events:
                    yield event
            return
        except CallFailed as problem:
            failure = problem
        if this.fast and rejects_fast_mode(failure):
            fast.resting_until = clock.now() + max(policy.fast_mode_rest, failure.retry_after or 0.0)
            yield Notice(level="info", text=f"Fast mode is not to be had now ({failure}); going on at standard speed.")
            tries = replace(tries, wait=None)
        elif not rejects_thinking(failure) and (feature := lacking.learn(request.model, failure, this.lacking)):
            said = f"{request.model} takes no {WORDS[feature]} here; going on without it. ({failure})"
            yield Notice(level="info", text=said[:500])
            tries = replace(tries, wait=None)
        else:
            tries = await _next(tries, failure, this, request, clock, policy, renew, care)
        if failure.shown and not request.whole:
            raise StreamInterrupted(
                str(failure), kind=failure.kind, status=failure.status, partial=failure.partial, tries=tries
            )


async def _next(
    tries: Tries,
    failure: CallFailed,
    this: Try,
    request: ModelRequest,
    clock: Clock,
    policy: RetryPolicy,
    renew: Callable[[], Awaitable[None]],
    care: ThinkingCare,
) -> Tries:
    """How to go on after a failed try. Raises what it was when there is no going on."""
    if failure.status == 401 and not tries.renewed:
        await renew()
        return replace(tries, renewed=True, wait=None)
    if (lower := _recomputed_cap(failure, tries.cap, policy)) is not None:
        return replace(tries, cap=lower, wait=None)
    if rejects_thinking(failure) and (care.of(request.model) != this.old_thinking or care.take_more(request.model)):
        return replace(tries, wait=None)
    overloads = tries.overloads + 1 if failure.overloaded else 0
    if failure.overloaded:
        if not request.foreground:
            raise as_model_error(failure)
        fallback = request.fallback_model
        if overloads >= policy.overloads_before_fallback and fallback and fallback != request.model:
            raise FallbackTriggered(original=request.model, fallback=fallback)
    if not failure.retryable or (tries.retries >= policy.max_retries and not request.persistent):
        raise _told(failure, tries.retries)
    if failure.stale_connection:
        await renew()
    retries = tries.retries + 1
    delay = policy.delay(retries, retry_after=failure.retry_after, chance=clock.jitter(), persistent=request.persistent)
    wait = Wait(seconds=delay, status=failure.status, error=failure.message)
    return replace(tries, retries=retries, overloads=overloads, wait=wait)


async def _waited(
    tries: Tries, wait: Wait, request: ModelRequest, clock: Clock, policy: RetryPolicy
) -> AsyncGenerator[ModelEvent, None]:
    yield ApiRetry(
        attempt=tries.retries,
        max_attempts=0 if request.persistent else policy.max_retries,
        delay_ms=round(wait.seconds * 1000),
        status=wait.status,
        error=wait.error,
    )
    delay = wait.seconds
    if request.persistent:
        while delay > policy.heartbeat:
            await clock.sleep(policy.heartbeat)
            delay -= policy.heartbeat
            yield Heartbeat()
    await clock.sleep(delay)


def _recomputed_cap(failure: CallFailed, cap: int | None, policy: RetryPolicy) -> int | None:
    """Room for the answer, when the endpoint said how much the prompt takes and that is some."""
    numbers = overflow(failure)
    if numbers is None:
        return None
    room = numbers.limit - numbers.input_tokens - policy.overflow_margin
    return room if policy.least_output <= room < (cap or numbers.max_tokens) else None


def _told(failure: CallFailed, retries: int) -> ModelError:
    error = as_model_error(failure)
    if retries and error.args:
        error.args = (f"{error.args[0]} (after {retries} {'retry' if retries == 1 else 'retries'})",)
    return error
