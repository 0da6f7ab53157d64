"""One model call: what it is sent with, what is told while it runs, and what is left of it when it ends early."""

from __future__ import annotations

from typing import Any

from assent.engine.config import TaskBudget
from assent.types.blocks import text_of
from assent.types.messages import AssistantMessage, RequestStart, StreamEvent
from enginekit import Echo, Stage
from enginekit.stage import MODEL, OTHER_MODEL
from fakeapi import Reply, hold, text, tool


async def test_a_step_says_why_it_is_taken_and_which_try_it_is() -> None:  # L1, Q5
    async with Stage(tools=[Echo()]) as stage:
        stage.api.reply(tool("Echo", text="x"))
        for _ in range(2):
            stage.api.cut(text("half of ", "an answer"), at_event=3)
        stage.api.reply(text("done"))
        turn = await stage.turn()
        told = [(start.transition, start.attempt, start.committed, start.model) for start in turn.of(RequestStart)]
        assert told == [
            (None, 0, 0, MODEL),
            ("next_turn", 0, 0, MODEL),
            ("stream_retry", 1, 0, MODEL),
            ("stream_retry", 2, 0, MODEL),
        ]
        steps = [start.step_id for start in turn.of(RequestStart)]
        assert len(set(steps)) == 4 and [request.chain.step_id for request in stage.requests] == steps
        assert [request.chain.transition for request in stage.requests] == [row[0] for row in told]


async def test_a_request_carries_what_the_configuration_says() -> None:  # Q2, M4, M7
    options: dict[str, Any] = {
        "thinking": {"type": "enabled", "budget_tokens": 2_048},
        "effort": "low",
        "max_tokens": 9_000,
    }
    budget = TaskBudget(total=50_000)
    async with Stage(persistent=True, task_budget=budget, fallback_model=OTHER_MODEL, **options) as stage:
        stage.api.reply(text("done"))
        await stage.turn()
        (request,) = stage.requests
        assert (request.persistent, request.source, request.foreground) == (True, "main", True)
        assert (request.thinking, request.effort, request.max_tokens) == tuple(options.values())
        assert (request.temperature, request.fallback_model) == (1.0, OTHER_MODEL)
        assert (request.task_budget_total, request.task_budget_remaining) == (50_000, 50_000)
        assert "<context>" in request.user_context and request.system
    async with Stage(model=OTHER_MODEL, fallback_model=OTHER_MODEL) as stage:
        stage.api.reply(text("done"))
        await stage.turn()
        assert (stage.requests[0].persistent, stage.requests[0].fallback_model) == (False, None)


async def test_the_pieces_of_an_answer_are_told_while_it_is_written() -> None:  # Q5
    async with Stage(include_partial_messages=True) as stage:
        stage.api.reply(text("one ", hold("rest"), "two"))
        seen: list[str] = []

        def look(_at: int, message: object) -> None:
            if isinstance(message, StreamEvent) and message.event.get("delta", {}).get("text"):
                seen.append(message.event["delta"]["text"])
                stage.api.release("rest")

        turn = await stage.turn(on_message=look)
        assert seen == ["one ", "two"] and turn.result.result == "one two"


async def test_the_words_of_an_answer_that_was_stopped_stay_in_the_conversation() -> None:  # L14
    async with Stage(include_partial_messages=True) as stage:
        stage.api.reply(text("half of it, ", hold("never"), "and the rest"))

        def stop(_at: int, message: object) -> None:
            if isinstance(message, StreamEvent) and "half" in str(message.event):
                stage.engine.abort()

        turn = await stage.turn(on_message=stop)
        assert turn.result.terminal == "aborted_streaming"
        said = [m for m in stage.engine.messages if isinstance(m, AssistantMessage)]
        assert [text_of(m.content) for m in said] == ["half of it, "]
        stage.api.forget()
        stage.api.add(Reply(parts=(text("ok"),)))
        await stage.turn("go on")
        assert "half of it, " in str(stage.api.calls[-1].messages)


async def test_a_call_starts_while_the_rest_of_its_answer_is_already_there() -> None:  # T2
    """All of the answer arrives in one piece: the tool still starts before the next block is taken."""
    async with Stage(tools=[Echo()]) as stage:
        stage.api.reply(tool("Echo", id="toolu_1", text="x"), text("and words"), chunking=1_000_000)
        stage.api.reply(text("done"))
        turn = await stage.turn()
        kinds = [message.type for message in turn.messages]
        assert kinds.index("tool_started") < [at for at, kind in enumerate(kinds) if kind == "assistant"][1]
