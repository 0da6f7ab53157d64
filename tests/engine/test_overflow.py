"""A conversation that outgrows the window: the reductions in their order, the limit, and the way out (L4, L7, C4–C6)."""

from __future__ import annotations

from pathlib import Path

from assent.context.collapse import Collapse
from assent.engine.agents.runs import AgentRun
from assent.extensions.commands import BUILT_IN
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.read import Read
from assent.tools.tool import SessionState, ToolServices
from assent.types.blocks import Json, text_block, text_of, tool_result_block
from assent.types.messages import (
    AssistantMessage,
    Collapsed,
    CompactBoundary,
    ConversationMessage,
    Message,
    Notice,
    RequestStart,
    Tombstone,
    UserMessage,
)
from enginekit import Echo, Reader, Stage
from enginekit.stage import MODEL
from fakeapi import Limits, Reply, failure, text, tool

SMALL = Limits(window=60_000, max_output=8_000)
SUMMARY = Reply(parts=(text("<summary>All there is to know.</summary>"),))
TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"


def past(steps: int, *, size: int, tool: str = "Read") -> list[ConversationMessage]:
    """A conversation of so many calls, each with a result of `size` characters."""
    messages: list[ConversationMessage] = [UserMessage(uuid="p", content=(text_block("go"),))]
    for number in range(steps):
        call: Json = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": {"text": str(number)}}
        result = tool_result_block(f"t{number}", f"{number} " + "x" * size)
        messages += [
            AssistantMessage(uuid=f"c{number}", message_id=f"m{number}", content=(call,), model=MODEL),
            UserMessage(uuid=f"r{number}", content=(result,)),
        ]
    return messages


async def test_every_reduction_takes_its_turn_lightest_first_before_one_call() -> None:  # L4
    """Everything is due at once, before the first call of a resumed session; the notices tell in which order."""
    history = past(40, size=7_500)
    huge = tool_result_block("t0", "0 " + "line of output\n" * 20_000)
    history[2] = UserMessage(uuid="r0", content=(huge,))
    for at, message in enumerate(history):  # the newest half is of a kind that is not cleared, so it stays too full
        if isinstance(message, AssistantMessage) and at > 40:
            history[at] = AssistantMessage(
                uuid=message.uuid,
                message_id=message.message_id,
                content=({**message.content[0], "name": "Echo"},),
                model=MODEL,
            )
    async with Stage(tools=[Reader(), Echo()], limits=SMALL, verbose=True) as stage:
        engine = stage.new_engine(messages=history)
        engine.snip({"c1"})
        span = tuple(f"{kind}{number}" for number in range(20, 24) for kind in "cr")
        engine._conversation.window.staged = [Collapse(uuids=span, summary="Echoed a few things.")]
        stage.api.when("about to be replaced", SUMMARY)
        stage.api.reply(text("done"))
        turn = await stage.turn("and now?", engine=engine)
        before_the_call = turn.messages[: turn.kinds.index("request_start")]
        told = [m.text.partition(" freed")[0] for m in before_the_call if isinstance(m, Notice)]
        assert told == ["tool-result budget", "snip", "microcompact", "collapse"]
        (boundary,) = [m for m in before_the_call if isinstance(m, CompactBoundary)]
        assert boundary.trigger == "auto"
        assert turn.transitions == []  # all of it belongs to the same iteration
        assert turn.result.terminal == "completed"


async def test_an_overflow_drains_then_compacts_then_says_so_each_once() -> None:  # L7, C6
    async with Stage(tools=[Reader()], limits=SMALL) as stage:
        engine = stage.new_engine(messages=past(12, size=2_000))
        spans = [tuple(f"{kind}{number}" for number in range(at, at + 3) for kind in "cr") for at in (0, 3)]
        engine._conversation.window.staged = [Collapse(uuids=span, summary="Read three files.") for span in spans]
        for _ in range(3):
            stage.api.error(400, TOO_LONG)
        stage.api.when("about to be replaced", SUMMARY)
        turn = await stage.turn("and now?", engine=engine)
        looped = [(m.transition, m.committed) for m in turn.of(RequestStart)]
        assert looped == [(None, 0), ("collapse_drain_retry", 2), ("reactive_compact_retry", 0)]
        assert turn.result.terminal == "prompt_too_long"
        assert len(turn.errors) == 1 and "/compact" in turn.errors[0]


async def test_what_is_staged_between_two_overflows_is_not_drained_too() -> None:  # L7: once
    async with Stage(tools=[Reader()], limits=SMALL) as stage:
        engine = stage.new_engine(messages=past(12, size=2_000))
        window = engine._conversation.window
        first, second = (tuple(f"{kind}{number}" for number in range(at, at + 3) for kind in "cr") for at in (0, 3))
        window.staged = [Collapse(uuids=first, summary="Read three files.")]

        def stage_another(_at: int, message: Message) -> None:
            if isinstance(message, RequestStart) and message.transition == "collapse_drain_retry":
                window.staged = [Collapse(uuids=second, summary="Read three more.")]

        for _ in range(2):
            stage.api.error(400, TOO_LONG)
        stage.api.when("about to be replaced", SUMMARY)
        stage.api.reply(text("done"))
        turn = await stage.turn("and now?", engine=engine, on_message=stage_another)
        assert turn.transitions == ["collapse_drain_retry", "reactive_compact_retry"]


async def test_a_retry_that_cannot_be_made_keeps_the_words_that_were_shown() -> None:  # L7, L10
    """The answer is taken back only once there is something to ask again with."""
    async with Stage() as stage:
        stage.api.reply(text("half an answer"), stop_reason="model_context_window_exceeded")
        stage.api.when("about to be replaced", failure(403, "no summaries for you"))
        turn = await stage.turn()
        assert turn.result.terminal == "prompt_too_long"
        assert turn.of(Tombstone) == []
        said = [text_of(m.content) for m in stage.engine.messages if isinstance(m, AssistantMessage) and not m.error]
        assert said == ["half an answer"]
        stage.assert_reloads()


async def test_an_answer_that_is_taken_back_is_not_part_of_the_summary() -> None:  # L7, C6
    async with Stage(tools=[Echo()]) as stage:
        cut = tool("Echo", raw_json='{"text": "ha')
        stage.api.reply(text("half an answer"), cut, stop_reason="model_context_window_exceeded")
        stage.api.when("about to be replaced", SUMMARY)
        stage.api.reply(text("whole"))
        turn = await stage.turn()
        assert turn.transitions == ["reactive_compact_retry"]
        assert "half an answer" not in str(stage.api.calls[1].messages)
        kinds = turn.kinds
        assert kinds.index("tombstone") < kinds.index("system/compact_boundary")
        assert turn.result.result == "whole"
        stage.assert_reloads()


async def test_the_limit_names_a_way_out_and_that_way_works() -> None:  # L4
    """Above the blocking limit no call goes out; `/compact` always runs, and the session goes on."""
    async with Stage(tools=[Echo()], limits=SMALL, commands=BUILT_IN) as stage:
        stage.api.when("about to be replaced", *[failure(403, "not now")] * 3, SUMMARY)
        engine = stage.new_engine(messages=past(30, size=6_000, tool="Echo"))
        stopped = await stage.turn("and now?", engine=engine)
        assert stopped.result.terminal == "blocking_limit"
        assert "Use /compact" in stopped.result.result
        assert [m.error for m in stopped.of(AssistantMessage)] == ["prompt_too_long"]  # synthetic: nothing was asked
        again = [await stage.turn("and now?", engine=engine) for _ in range(2)]
        assert {turn.result.terminal for turn in again} == {"blocking_limit"}
        compacted = await stage.turn("/compact", engine=engine)
        assert compacted.result.result.startswith("Compacted: about")
        stage.api.reply(text("on we go"))
        assert (await stage.turn("and now?", engine=engine)).result.result == "on we go"


async def test_right_after_a_compaction_the_limit_does_not_count() -> None:  # L4
    """What a summary leaves may still look too long to our estimate; then the endpoint has the last word."""
    endless = Reply(parts=(text(f"<summary>{'word ' * 38_000}</summary>", piece=100_000),))
    async with Stage(tools=[Echo()], limits=SMALL) as stage:
        engine = stage.new_engine(messages=past(30, size=6_000, tool="Echo"))
        stage.api.when("about to be replaced", endless)
        stage.api.reply(text("it fits after all"))
        turn = await stage.turn("and now?", engine=engine)
        (boundary,) = turn.of(CompactBoundary)
        assert boundary.tokens_after > 49_000  # the blocking limit of this window
        assert turn.result.result == "it fits after all"


async def test_a_resumed_session_shows_the_model_what_it_saw_before() -> None:  # C2, C4
    """Summaries and snips outlive the process: the view is the same, while people still have every message."""
    async with Stage(tools=[Echo()], limits=SMALL) as stage:
        engine = stage.new_engine(messages=past(12, size=2_000, tool="Echo"))
        span = tuple(f"{kind}{number}" for number in range(3) for kind in "cr")
        engine._conversation.window.staged = [Collapse(uuids=span, summary="Read three files.")]
        engine.snip({"c5"})
        stage.api.error(400, TOO_LONG)
        stage.api.reply(text("it fits"))
        assert (await stage.turn("and now?", engine=engine)).transitions == ["collapse_drain_retry"]
        written = stage.transcript.written
        resumed = stage.new_engine(
            messages=engine.messages,
            collapsed=[m for m in written if isinstance(m, Collapsed)],
            snipped=frozenset(uuid for m in written if isinstance(m, Tombstone) for uuid in m.message_uuids),
        )
        for each in (engine, resumed):
            stage.api.reply(text("go on"))
            await stage.turn("next", engine=each)
        before, after = stage.api.calls[-2:]
        assert before.messages == after.messages
        assert "Read three files." in str(after.messages)
        assert "t5" not in after.tool_results and "t6" in after.tool_results
        assert {"c0", "r2", "c5", "r5"} <= {message.uuid for message in resumed.messages}


async def test_a_compaction_keeps_what_the_work_needs_and_a_file_read_before_is_read_whole_again(
    tmp_path: Path,
) -> None:  # C5, C7
    for number in range(7):
        (tmp_path / f"{number}.py").write_text(f"original {number}\n")
    state = SessionState(
        cwd=str(tmp_path), todos=[{"status": "pending", "content": "write the tests"}], plan="First A."
    )
    async with Stage(
        tools=[Read()],
        cwd=str(tmp_path),
        state=lambda: state,
        services=ToolServices(workspace=DiskWorkspace()),
        commands=BUILT_IN,
    ) as stage:
        for number in range(7):
            stage.api.reply(tool("Read", file_path=str(tmp_path / f"{number}.py")))
        stage.api.reply(text("all read"))
        await stage.turn("read them")
        (tmp_path / "6.py").write_text("changed meanwhile\n")
        stage.engine.agents.add(
            AgentRun(agent_id="a1", name="explore", title="looks around", parent_tool_use_id="t", background=True)
        )
        stage.api.when("about to be replaced", SUMMARY)
        await stage.turn("/compact")
        stage.api.reply(tool("Read", id="toolu_again", file_path=str(tmp_path / "5.py")))
        stage.api.reply(text("ok"))
        await stage.turn("go on")
        first, last = stage.api.calls[-2:]
        sent = str(first.messages)
        for kept in ("All there is to know.", "write the tests", "First A.", "agent a1", "changed meanwhile"):
            assert kept in sent
        assert [f"original {number}" in sent for number in range(7)] == [False, False, True, True, True, True, False]
        assert "original 5" in str(last.tool_results["toolu_again"]["content"])  # no stub for what is out of view
