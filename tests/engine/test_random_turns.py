"""Random turns against a model in memory, with failures and interruptions anywhere: the invariants always hold."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assent.context.compact import NOTE
from assent.extensions.commands import BUILT_IN
from assent.types.blocks import Json, text_block
from assent.types.errors import MediaTooLarge, ModelError, PromptTooLong, StreamInterrupted
from assent.types.messages import AssistantFinal, AssistantMessage, Message, StreamEvent
from assent.types.ports import ModelEvent, ModelInfo, ModelRequest
from assent.types.usage import Usage
from enginekit import Change, Crash, Echo, Fail, Recorder, assert_conversation_valid, assert_turn_valid, make_engine
from enginekit.invariants import reloaded

TOOLS = ["Echo", "Change", "Fail", "Crash", "Nothing"]
FAILURES: list[Any] = [
    None,
    None,
    None,
    lambda: StreamInterrupted("cut"),
    lambda: PromptTooLong("too long"),
    lambda: MediaTooLarge("too large"),
    lambda: ModelError("broken"),
    lambda: RuntimeError("a bug in the model layer"),
]
REASONS = ["end_turn", "tool_use", "max_tokens", "pause_turn", "refusal", "model_context_window_exceeded"]


def thought(words: str) -> Json:
    return {"type": "thinking", "thinking": words, "signature": "s"}


def call(name: str, input: object) -> Json:
    return {"type": "tool_use", "name": name, "input": input}


INPUTS: list[object] = [{"text": "x"}, {"wrong": 1}, '{"cut']
block = st.one_of(
    st.text(min_size=1, max_size=20).map(text_block),
    st.text(max_size=5).map(thought),
    st.builds(call, st.sampled_from(TOOLS), st.sampled_from(INPUTS)),
)
answer = st.tuples(st.lists(block, max_size=4), st.sampled_from(FAILURES), st.sampled_from(REASONS))


class Model:
    """Plays the answers, then says it is done. Checks every request it gets as the endpoint would."""

    def __init__(self, answers: list[Any]) -> None:
        self._answers = list(answers)
        self._number = 0

    async def __call__(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        assert_conversation_valid([m for m in request.messages if m.uuid != NOTE])
        blocks, failure, reason = self._answers.pop(0) if self._answers else ([text_block("done")], None, "end_turn")
        if request.source == "compact":
            blocks = [b for b in blocks if b["type"] == "text"]
        self._number += 1
        message_id = f"m{self._number}"
        usage = Usage(input_tokens=10, output_tokens=5)
        yield StreamEvent(event={"type": "message_start", "message": {"usage": {"input_tokens": 10}}})
        for at, each in enumerate(blocks):
            await asyncio.sleep(0)
            uuid = f"{message_id}-{at}"
            whole: Json = {**each, "id": f"t-{uuid}"} if each["type"] == "tool_use" else each
            yield StreamEvent(
                event={"type": "content_block_start", "content_block": {"type": each["type"]}},
                message_id=message_id,
                block_uuid=uuid,
            )
            if each["type"] == "text":
                delta = {"type": "text_delta", "text": each["text"]}
                yield StreamEvent(
                    event={"type": "content_block_delta", "delta": delta}, message_id=message_id, block_uuid=uuid
                )
            if failure is not None and at == len(blocks) - 1:
                raise failure()
            yield AssistantMessage(uuid=uuid, message_id=message_id, content=(whole,), model=request.model)
        if failure is not None:
            raise failure()
        yield AssistantFinal(message_id=message_id, model=request.model, usage=usage, stop_reason=reason)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def _info(model: str) -> ModelInfo:
    return ModelInfo(id=model, default_max_tokens=8_000)


@given(answers=st.lists(answer, max_size=6), stop_at=st.one_of(st.none(), st.integers(0, 40)), close=st.booleans())
def test_whatever_the_model_says_and_whenever_it_is_interrupted(
    answers: list[Any], stop_at: int | None, close: bool
) -> None:
    async def main() -> None:
        transcript = Recorder()
        engine = make_engine(
            call_model=Model(answers),
            model_info=_info,
            cwd="/project",
            model="m",
            tools=[Echo(), Change(), Fail(), Crash()],
            commands=BUILT_IN,
            transcript=transcript,
            max_turns=8,
            ahead=1,
        )
        seen: list[Message] = []
        async with aclosing(engine.submit("go")) as messages:
            async for message in messages:
                seen.append(message)
                if len(seen) - 1 == stop_at:
                    if close:
                        break
                    engine.abort()
        if not (close and stop_at is not None and len(seen) == stop_at + 1):
            assert_turn_valid(seen)
        assert_conversation_valid(engine.messages)
        assert reloaded(transcript.written) == engine.messages
        assert not engine.running
        again = [message async for message in engine.submit("and now?")]
        assert_turn_valid(again)
        assert_conversation_valid(engine.messages)
        await engine.aclose()
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert left == []

    asyncio.run(main())
